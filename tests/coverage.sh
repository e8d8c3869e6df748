#!/usr/bin/env bash
# coverage.sh [FOLDER]: builds with --coverage in FOLDER (default: build-coverage), runs the tests of units, stores and
# stages, and prints how many branches of store/ and stages/ they took, file by file, the least covered first.
#
# Branches of must() are left out, on all lines of its condition: their other side is an abort. What runs
# between fork() and exec() counts as not taken, though it is: such a child never writes gcov's counts.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
folder=$(readlink -f "${1:-build-coverage}")
cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS="--coverage -O0 -g -fprofile-update=atomic" >"$folder.log"
ninja -C "$folder" >>"$folder.log"
find "$folder" -name '*.gcda' -delete
(cd "$folder" && ctest -j "${JOBS:-2}" -L 'unit|store|stage' -E '_plain$|_avx2$' >>"$folder.log") ||
    echo "some tests failed; see $folder.log" >&2
python3 - "$folder" <<'END'
import json, os, subprocess, sys

folder, root = sys.argv[1], os.getcwd()
seen = {}  # source -> (line, branch) -> times taken
for place, _, names in os.walk(folder):
    for name in names:
        if not name.endswith(".gcda") or not ("/store.dir/" in place + "/" or "/stage-" in place):
            continue
        told = subprocess.run(["gcov", "--branch-probabilities", "--json-format", "--stdout", os.path.join(place, name)],
                              capture_output=True, check=False, cwd=folder).stdout
        for text in told.splitlines():
            for file in json.loads(text)["files"]:
                path = os.path.relpath(os.path.normpath(os.path.join(folder, file["file"])), root)
                if path.startswith(("store/", "stages/")) and path.endswith(".c"):
                    counts = seen.setdefault(path, {})
                    for line in file["lines"]:
                        for i, branch in enumerate(line["branches"]):
                            at = (line["line_number"], i)
                            counts[at] = counts.get(at, 0) + branch["count"]


def lines_of_must(text):
    """Numbers of the lines of each must(...), to its closing parenthesis."""
    found, depth = set(), 0
    for number, line in enumerate(text, 1):
        if depth == 0 and (begin := line.find("must(")) >= 0:
            line, depth = line[begin + 5 :], 1
            found.add(number)
        elif depth > 0:
            found.add(number)
        if depth > 0:
            depth = max(0, depth + line.count("(") - line.count(")"))
    return found


def taken(path, counts):
    with open(path, encoding="utf-8") as source:
        left_out = lines_of_must(source.read().splitlines())
    kept = [n for (line, _), n in counts.items() if line not in left_out]
    return sum(n > 0 for n in kept), len(kept)


rows = sorted(((*taken(path, counts), path) for path, counts in seen.items()), key=lambda r: r[0] / max(r[1], 1))
for some, all_, path in rows:
    print(f"{path:52} {some:5} of {all_:5} {100 * some / max(all_, 1):6.1f} %")
for room in ("store/", "stages/"):
    some = sum(r[0] for r in rows if r[2].startswith(room))
    all_ = sum(r[1] for r in rows if r[2].startswith(room))
    print(f"{room:52} {some:5} of {all_:5} {100 * some / max(all_, 1):6.1f} %")
END
