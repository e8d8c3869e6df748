#!/usr/bin/env python3
"""Holds the rooms of the source to their rules: a room is a folder with C files.

    tests/tree/rooms.py [TREE]            checks TREE (default: the tree that this file is in)
    tests/tree/rooms.py --write           writes the line "Uses: ..." of each README.md
    tests/tree/rooms.py --table           prints each room with its stems

A room has at most 20 stems and a README.md: a title, what the room is for, a line "Begin with ..." that links to one of
its files, and a line "Uses: ..." with every room whose headers it includes. Rooms form no circle: if a room uses another
one, that one does not use it, neither itself nor through others.
"""
import re
import sys
import textwrap
from pathlib import Path

STEMS_MAX = 20
INCLUDE = re.compile(r'^#include "((?:common|store|stages|pipelines)/[^"]+)"', re.M)
USES = re.compile(r"^Uses: [^.]*\.\n", re.M)


def read_rooms(tree):
    """Returns each room with its stems and the rooms that it uses."""
    rooms = {}
    for top in ("common", "store", "stages", "pipelines"):
        for path in sorted((tree / top).rglob("*.[ch]")):
            stems, used = rooms.setdefault(str(path.parent.relative_to(tree)), (set(), set()))
            stems.add(path.stem)
            used.update(str(Path(name).parent) for name in INCLUDE.findall(path.read_text(encoding="utf-8")))
    for room, (_, used) in rooms.items():
        used.discard(room)
    return rooms


def find_circles(rooms):
    """Returns the rooms from which a chain of uses leads back to them."""
    reached = {room: set(used) for room, (_, used) in rooms.items()}
    changed = True
    while changed:
        changed = False
        for seen in reached.values():
            more = set().union(*(reached.get(room, set()) for room in seen)) - seen if seen else set()
            seen |= more
            changed = changed or bool(more)
    return sorted(room for room, seen in reached.items() if room in seen)


def uses_line(used):
    """Returns the line that a README has for these rooms."""
    text = "Uses: " + (", ".join(f"`{room}`" for room in sorted(used)) or "none") + "."
    return textwrap.fill(text, 100, break_on_hyphens=False) + "\n"


def check_readme(tree, room, used):
    """Yields what is wrong with the README of a room."""
    path = tree / room / "README.md"
    if not path.exists():
        yield f"{room}: expected a README.md that says what the room is for, where to begin, and what it uses"
        return
    text = path.read_text(encoding="utf-8")
    begin = re.search(r"^Begin with \[`([^`]+)`\]\(([^)]+)\)", text, re.M)
    if not begin or not (tree / room / begin[2]).exists():
        yield f"{room}/README.md: expected a line \"Begin with [`FILE`](FILE): ...\" with a file that is there"
    found = USES.search(text)
    if not found or found[0] != uses_line(used):
        yield f"{room}/README.md: expected the line below; tests/tree/rooms.py --write writes it\n{uses_line(used)}".rstrip()


def check(tree):
    """Yields what is wrong with the rooms of a tree."""
    rooms = read_rooms(tree)
    if len(rooms) < 40:
        yield f"found {len(rooms)} rooms in {tree}"
    for room, (stems, used) in rooms.items():
        if len(stems) > STEMS_MAX:
            yield f"{room}: expected at most {STEMS_MAX} stems, found {len(stems)}: cut the room by subject"
        yield from check_readme(tree, room, used)
    circle = find_circles(rooms)
    for room in circle:
        yield f"{room}: is in a circle of rooms; it uses {', '.join(sorted(set(rooms[room][1]) & set(circle)))}"


def write(tree):
    """Writes the line "Uses: ..." of each README."""
    for room, (_, used) in read_rooms(tree).items():
        path = tree / room / "README.md"
        text = path.read_text(encoding="utf-8")
        path.write_text(USES.sub(lambda _, line=uses_line(used): line, text, count=1), encoding="utf-8")


def main():
    tree = Path(__file__).resolve().parent.parent.parent
    if sys.argv[1:] == ["--write"]:
        write(tree)
    elif sys.argv[1:] == ["--table"]:
        for room, (stems, _) in read_rooms(tree).items():
            print(f"{room:40} {len(stems):3}  {' '.join(sorted(stems))}")
    else:
        wrong = list(check(Path(sys.argv[1]) if sys.argv[1:] else tree))
        print("\n".join(wrong))
        sys.exit(bool(wrong))


main()
