#!/usr/bin/env bash
# Every link in a Markdown file of the repository leads to a file that is there, and its anchor to a
# heading of that file. At the end broken links are planted, and the same check has to find them.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/check.py" <<'PYTHON'
import pathlib, re, sys

FENCE = re.compile(r"^```.*?^```", re.S | re.M)
CODE = re.compile(r"``.*?``|`[^`\n]*`")
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
SKIPPED = {"build", ".git", "corpus"}


def anchors(text):
    """The anchors that GitHub gives the headings of a page."""
    found, count = set(), {}
    for title in re.findall(r"^#{1,6} +(.*?) *#*$", FENCE.sub("", text), re.M):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        number = count.get(name, 0)
        count[name] = number + 1
        found.add(f"{name}-{number}" if number else name)
    return found


root, wrong, links = pathlib.Path(sys.argv[1]).resolve(), 0, 0
pages = [p for p in sorted(root.rglob("*.md")) if not SKIPPED & set(p.relative_to(root).parts[:-1])]
for page in pages:
    text = FENCE.sub(lambda m: re.sub(r"[^\n]", "", m.group()), page.read_text(encoding="utf-8"))
    lines = ["" if line.startswith("    ") else CODE.sub("", line) for line in text.split("\n")]
    for match in LINK.finditer("\n".join(lines)):
        target = match.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        links += 1
        place, _, anchor = target.partition("#")
        file = (page.parent / place).resolve() if place else page
        line = "\n".join(lines).count("\n", 0, match.start()) + 1
        where = f"{page.relative_to(root)}:{line}"
        if not file.exists() or root not in (file, *file.parents):
            print(f"{where}: {target}: there is no such file")
            wrong = 1
        elif anchor and (file.suffix != ".md" or
                         anchor not in anchors(file.read_text(encoding="utf-8"))):
            print(f"{where}: {target}: that page has no such heading")
            wrong = 1
if links < 2:
    print(f"{len(pages)} pages have {links} links: the check reads nothing")
    wrong = 1
sys.exit(wrong)
PYTHON
python3 "$work/check.py" . || exit 1

# What is planted is found.
missed=0
plant() { # what is said, the text of a page
    rm -rf "$work/tree"
    mkdir -p "$work/tree/room"
    printf '# One page\n\n## A `title` (of two)\n\n## Twice\n\n## Twice\n' >"$work/tree/README.md"
    printf '[a](../README.md) [b](../README.md#a-title-of-two) [c](../README.md#twice-1)\n%s\n' \
        "$2" >"$work/tree/room/page.md"
    found=$(python3 "$work/check.py" "$work/tree")
    [ "$found" = "$1" ] || { echo "expected '$1', found '$found' for: $2"; missed=1; }
}
plant '' '`[x](none.md)` and [y](https://example.org/none) and [z](../room/page.md)'
plant '' '    [x](none.md)'
plant 'room/page.md:2: none.md: there is no such file' '[x](none.md)'
plant 'room/page.md:2: ../../tree.md: there is no such file' '[x](../../tree.md)'
plant 'room/page.md:2: ../README.md#twice-2: that page has no such heading' \
    '[x](../README.md#twice-2)'
plant 'room/page.md:2: #here: that page has no such heading' '[x](#here)'
exit $missed
