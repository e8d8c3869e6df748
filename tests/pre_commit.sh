#!/usr/bin/env bash
# Formats what is staged, and runs the tests of the rooms that it changes. As a hook of git:
#
#   ln -s ../../tests/pre_commit.sh .git/hooks/pre-commit
#
# BUILD=FOLDER (default: build): a build folder made by cmake -G Ninja. A room is tested by its
# target check-<room>, with - for each / (ninja -t targets all | grep check-).
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
build=${BUILD:-build}
[ -f "$build/build.ninja" ] || { echo "expected a build in $build: cmake -S . -B $build -G Ninja -DWERROR=ON" >&2; exit 1; }

mapfile -t changed < <(git diff --cached --name-only --diff-filter=ACMR)
[ "${#changed[@]}" -gt 0 ] || exit 0

# A file that is staged in part is not formatted as a whole: that would stage the rest of it, too.
for file in "${changed[@]}"; do
    case $file in *.c | *.h) ;; *) continue ;; esac
    if git diff --quiet -- "$file"; then
        clang-format -i "$file"
        git add -- "$file"
    elif ! git show ":$file" | clang-format --assume-filename="$file" --dry-run --Werror; then
        echo "$file: is staged in part and not formatted: clang-format -i $file" >&2
        exit 1
    fi
done

# rooms: the folders of the changed sources and tests
rooms=$(printf '%s\n' "${changed[@]}" | sed -nE 's#^(tests/)?((common|store|stages|pipelines)(/[^/]+)*)/[^/]+\.[ch]$#\2#p' | sort -u)
targets=()
for room in $rooms; do
    # A room without tests of its own is tested by the rooms around it.
    while ! grep -q "^build check-${room//\//-}:" "$build/build.ninja" && [ "$room" != "${room%/*}" ]; do room=${room%/*}; done
    targets+=("check-${room//\//-}")
done
mapfile -t targets < <(printf '%s\n' "${targets[@]}" check-tree | sort -u | grep .)
ninja -C "$build" "${targets[@]}"
