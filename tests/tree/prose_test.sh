#!/usr/bin/env bash
# Prose in Markdown is wrapped at 100 columns: tables, code, headings and words that cannot be broken
# may be longer. README.md has at most 150 lines. At the end long lines are planted.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/check.py" <<'PYTHON'
import pathlib, re, sys

COLUMNS, LINES = 100, 150
WORD = re.compile(r"(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S)+")  # code and links stay on one line
root, wrong = pathlib.Path(sys.argv[1]), 0
for page in sorted(root.rglob("*.md")):
    name = page.relative_to(root)
    if {"build", ".git", "corpus"} & set(name.parts):
        continue
    lines, is_fenced = page.read_text(encoding="utf-8").split("\n"), False
    for number, line in enumerate(lines, 1):
        is_fenced ^= line.startswith("```")
        is_code = is_fenced or line.startswith("    ")
        if not is_code and line[:1] not in "|#<" and len(line) > COLUMNS:
            if len(WORD.findall(line.strip())) > 1:
                print(f"{name}:{number}: {len(line)} columns: wrap it at {COLUMNS}")
                wrong = 1
    if str(name) == "README.md" and len(lines) - 1 > LINES:
        print(f"{name}: {len(lines) - 1} lines, expected at most {LINES}: move some to the guide")
        wrong = 1
sys.exit(wrong)
PYTHON
python3 "$work/check.py" . || exit 1

# What is planted is found.
missed=0
words=$(printf 'word %.0s' {1..25})
plant() { # what is said, the text of the page
    mkdir -p "$work/tree"
    printf '%b\n' "$2" >"$work/tree/README.md"
    found=$(python3 "$work/check.py" "$work/tree")
    [ "$found" = "$1" ] || { echo "expected '$1', found '$found' for: $2"; missed=1; }
}
plant 'README.md:1: 125 columns: wrap it at 100' "$words"
plant 'README.md:4: 125 columns: wrap it at 100' "\`\`\`\n$words\n\`\`\`\n$words"
plant '' "| $words |\n    $words\n# $words\n[${words}](x.md)"
plant 'README.md: 151 lines, expected at most 150: move some to the guide' \
    "$(printf 'x\\n%.0s' {1..150})x"
exit $missed
