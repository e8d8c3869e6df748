#!/usr/bin/env bash
# Advice is a field of an error: a message of error_set() or error_add() with a clause that begins with what to do has the mark ADVICE
# there (common/base/error.h), the mark stands in the format and in no argument, and no code looks for words in the message of an error.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/check.py" <<'PYTHON'
import pathlib, re, sys

VERBS = ("write|give|remove|add|close|save|rename|leave|make|keep|name|set|raise|start|in Python,|change|use|unpack|mend|unset|sort|copy|see|swap|"
         "take|run|choose|wait|build|install")
CLAUSE = re.compile(rf"(?:: |; |, or |\()(?:{VERBS})[ ,`]")
# A clause that begins with such a word and is no advice.
NO_ADVICE = re.compile(r"name too long|name may end|; see partition\.method")
SEARCH = re.compile(r"\b(?:str(?:str|casestr|chr|rchr|cmp|ncmp|casecmp|spn|cspn)|mem(?:mem|cmp|chr)|sscanf|regexec|fnmatch)"
                    r"\((?:[^()]|\([^()]*\))*(?:->|\.)message\b")


FORMAT = re.compile(r'\s*(?:"|ADVI[A-Z_]+|PRI)')


def calls(text):
    """The text of the arguments of each call, and where it stands."""
    text = text.replace("'\"'", "'q'").replace("'('", "'b'").replace("')'", "'b'")
    for match in re.finditer(r"\berror_(?:set|set_errno|add)\(", text):
        depth, at, quoted = 1, match.end(), False
        while depth:
            if text[at] == "\\":
                at += 1
            elif quoted:
                quoted = text[at] != '"'
            else:
                quoted = text[at] == '"'
                depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        yield match.start(), text[match.end():at - 1]


def literals(part):
    """The text of literals; a mark becomes \1, a macro of a number %."""
    out = ""
    for word in re.findall(r'"(?:[^"\\]|\\.)*"|\bADVICE\b|\bADVISE_[A-Z_]+\b', part):
        out += word[1:-1] if word[0] == '"' else "\1"
    return out


def format_of(arguments):
    """The first argument that begins with a literal, and what follows it."""
    depth = quoted = begin = 0
    at = 0
    while at < len(arguments):
        letter = arguments[at]
        if letter == "\\":
            at += 1
        elif quoted:
            quoted = letter != '"'
        elif letter == '"':
            quoted = True
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            if FORMAT.match(arguments, begin):
                break
            begin = at + 1
        at += 1
    return arguments[begin:at], arguments[at:]


found = 0
root = pathlib.Path(sys.argv[1])
for path in sorted(p for room in ("common", "store", "stages", "pipelines") for p in (root / room).rglob("*.c")):
    text, name = path.read_text(), path.relative_to(root)
    for start, arguments in calls(text):
        form, rest = format_of(arguments)
        clause = CLAUSE.search(literals(form))
        line = text.count("\n", 0, start) + 1
        if clause and "\1" not in literals(form) and not NO_ADVICE.search(literals(form)):
            print(f"{name}:{line}: advice without ADVICE before it: {literals(form)[clause.start():][:80]}")
            found = 1
        if "ADVICE" in rest:
            print(f"{name}:{line}: ADVICE in an argument, where it is no mark: use error_add()")
            found = 1
    for match in SEARCH.finditer(text):
        if str(name) != "common/base/error.c":
            print(f"{name}:{text.count(chr(10), 0, match.start()) + 1}: a message is searched for words: use a code or a field")
            found = 1
sys.exit(found)
PYTHON
python3 "$work/check.py" . || exit 1

# What is planted is found.
missed=0
plant() { # what is said, a line of a source
    rm -rf "$work/tree"
    mkdir -p "$work/tree"/{common,store,stages,pipelines}
    echo "$2" >"$work/tree/store/planted.c"
    grep -q "$1" <<<"$(python3 "$work/check.py" "$work/tree")" || { echo "not found: '$1' in: $2"; missed=1; }
}
plant 'store/planted.c:1: advice without' 'return error_set(err, ERROR_INPUT, "%s: found two: remove one", name);'
plant 'advice without' 'return error_add(err, rc, "; " "write %d", f(1, 2));'
plant 'advice without' 'return error_add(err, error_set(err, rc, "x, or " "give one"), ": " ADVICE "do");'
plant 'ADVICE in an argument' 'return error_set(err, ERROR_INPUT, "%s", is ? "; " ADVICE "write" : "");'
plant 'a message is searched' 'if (rc == ERROR_IO && strstr(err->message, "full")) x();'
plant 'a message is searched' 'found = strncmp(cause.message, "unit", 4) == 0;'
rm -rf "$work/tree"
mkdir -p "$work/tree"/{common,store,stages,pipelines}
echo 'return error_set(err, ERROR_INPUT, "%s: found (two), or %s: " ADVICE "remove one", name, "a: remove b");' >"$work/tree/store/planted.c"
python3 "$work/check.py" "$work/tree" || missed=1
exit $missed
