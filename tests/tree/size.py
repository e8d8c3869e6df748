#!/usr/bin/env python3
"""A ratchet: the source may become smaller, and larger only together with a line that says why.

    tests/tree/size.py            compares the source with tests/tree/size.txt, and names what is larger
    tests/tree/size.py --write    lowers each limit in size.txt to what is found

size.txt has a limit a line, `NAME NUMBER`, and below it the reasons for which it was raised, `  +NUMBER why`. A limit
is its number and those of its reasons together. What is counted (tests are not):

    lines ROOM          lines of C in a folder, without comments and blank lines
    longest_file        such lines of the longest file
    longest_function    such lines of the longest function, its braces left out
    settings            rows of stages/plan/settings/setting_table.c
    task_questions      lines that ask for a trait of the task, and do otherwise for some tasks
    type_questions      lines outside of stages/ingest that ask whether a graph has relations, which every graph has
"""
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
LIMITS = SOURCE / "tests/tree/size.txt"
# A string or a character is kept, so that /* in one begins no comment.
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.S)
# The calls of common/nn/tasks/task.h that answer for a task; pipeline_reads_targets() is one of them for readers.
TASK_QUESTION = re.compile(r"\b(task_has|task_has_classes|task_row_has|pipeline_reads_targets)\(")
# A graph without relations is one of one type and one relation; only the formats of records tell them apart.
TYPE_QUESTION = re.compile(r"\b(has_relations|is_typed|model_is_typed)\b")


def code_lines(text):
    """The lines of a C file that have code."""
    def without(match):
        return match.group() if match.group()[0] in "\"'" else re.sub(r"[^\n]", "", match.group())

    return [line for line in TOKEN.sub(without, text).split("\n") if line.strip()]


def longest_function(lines):
    """The most lines between braces that begin and end in the first column."""
    longest, begin = 0, None
    for number, line in enumerate(lines):
        if line == "{":
            begin = number
        elif line == "}" and begin is not None:
            longest, begin = max(longest, number - begin - 1), None
    return longest


def measure():
    """What is counted: name to number, and where the longest are."""
    found, where = {"longest_file": 0, "longest_function": 0, "task_questions": 0, "type_questions": 0}, {}
    for path in sorted(p for room in ("common", "store", "stages", "pipelines") for p in (SOURCE / room).rglob("*.[ch]")):
        lines = code_lines(path.read_text(encoding="utf-8"))
        room = f"lines {path.parent.relative_to(SOURCE)}"
        found[room] = found.get(room, 0) + len(lines)
        if SOURCE / "stages/ingest" not in path.parents:
            found["type_questions"] += sum(bool(TYPE_QUESTION.search(line)) for line in lines)
        if not path.match("common/nn/tasks/task.[ch]"):
            found["task_questions"] += sum(bool(TASK_QUESTION.search(line)) for line in lines)
        for name, size in (("longest_file", len(lines)), ("longest_function", longest_function(lines))):
            if size > found[name]:
                found[name], where[name] = size, path.relative_to(SOURCE)
    table = code_lines((SOURCE / "stages/plan/settings/setting_table.c").read_text(encoding="utf-8"))
    found["settings"] = sum(bool(re.match(r"    [A-Z][A-Z_]*\(", line)) for line in table)
    return found, where


def read_limits():
    """Name to [number, [(raise, why), ...]]."""
    limits, last = {}, None
    for number, line in enumerate(LIMITS.read_text(encoding="utf-8").splitlines(), 1):
        raised = re.fullmatch(r"  \+(\d+) (\S.{9,})", line)
        limit = re.fullmatch(r"(\S.*) (-?\d+)", line)
        if raised and last:
            last[1].append((int(raised[1]), raised[2]))
        elif limit and limit[1] not in limits:
            last = limits[limit[1]] = [int(limit[2]), []]
        elif line and line[0] != "#":
            sys.exit(f"{LIMITS.name}:{number}: expected `NAME NUMBER` or `  +NUMBER why` (ten letters or more), found {line!r}")
    return limits


def write(found, limits):
    """Sets each limit to what is found; reasons stay, and count."""
    text = ["# What the source may be at most (tests/tree/size.py says how it is counted, and lowers it with --write).",
            "# Whoever needs more adds a line below the limit: `  +120 why it is worth it`."]
    for name in sorted(found):
        reasons = limits.get(name, [0, []])[1]
        text.append(f"{name} {found[name] - sum(more for more, _ in reasons)}")
        text += [f"  +{more} {why}" for more, why in reasons]
    LIMITS.write_text("\n".join(text) + "\n", encoding="utf-8")


def main():
    found, where = measure()
    limits = read_limits() if LIMITS.exists() else {}
    larger = 0
    for name in sorted(found):
        if name not in limits:
            print(f"{name}: expected a line in tests/tree/size.txt, found none: `{name} {found[name]}`")
            larger += 1
            continue
        most = limits[name][0] + sum(more for more, _ in limits[name][1])
        if found[name] > most:
            print(f"{name}: expected at most {most}, found {found[name]}" + (f" ({where[name]})" if name in where else "")
                  + f"; make it smaller, or add a line `  +{found[name] - most} why` below it in tests/tree/size.txt")
            larger += 1
    gone = sorted(set(limits) - set(found))
    if sys.argv[1:] == ["--write"] and not larger:
        write(found, limits)
        return 0
    if gone:
        print(f"tests/tree/size.txt has limits of what is not there: {', '.join(gone)}; tests/tree/size.py --write takes them out")
    total = sum(size for name, size in found.items() if name.startswith("lines "))
    print(f"{total} lines of C without comments and tests, {found['settings']} settings")
    return 1 if larger or gone else 0


sys.exit(main())
