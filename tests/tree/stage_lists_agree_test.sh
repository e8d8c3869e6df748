#!/usr/bin/env bash
# One stem in five places: folder, program, section of the pipeline file, Kubernetes Job, tests; and in
# the lists of the driver. And stages/README.md
# has a row for each, whose records are what the program says it reads and writes.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
status=0
fail() { echo "$*"; status=1; }

listed=$(sed -n 's/^set(STAGES \(.*\))$/\1/p' CMakeLists.txt | tr ' ' '\n' | sort)
[ -n "$listed" ] || fail "CMakeLists.txt has no line set(STAGES ...)"
compare() { # what, the list found
    [ "$2" = "$listed" ] || fail "$1: expected $(echo $listed), found $(echo $2)"
}
stage_folders() { find "$1" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | grep -vxE 'engine|plan|sampling|tables' | sort; }
compare 'folders in stages/' "$(stage_folders stages)"
compare 'programs' "$(find "$GRAPHMILL_BIN" -name 'graphmill-*' -printf '%f\n' | sed 's/^graphmill-//' | sort)"
rows() { sed -n 's/^    ROW("\([a-z-]*\)".*/\1/p' stages/engine/stage_list.h; }
compare 'rows of stages/engine/stage_list.h' "$(rows | sort)"
compare 'stages of the units' "$(grep -ho '\.stage = "[a-z-]*"' stages/plan/units/*_units.c | cut -d'"' -f2 | sort -u)"
in_order=$(sed -n 's/^set(STAGES \(.*\))$/\1/p' CMakeLists.txt)
[ "$(rows | xargs)" = "$in_order" ] || fail "stages/engine/stage_list.h: expected the order $in_order"
compare 'sections of the settings table' "$(sed -n 's/^ *[A-Z_]*([A-Z_]*\(("[^"]*")\)\?, "\([a-z-]*\)\.[a-z0-9_]*", .*/\2/p' stages/plan/settings/setting_table.c | sort -u)"
compare 'Jobs in k8s/base/run' "$(grep -l '^kind: Job' k8s/base/run/*.yaml | xargs -n1 basename | sed 's/\.yaml$//' | sort)"
compare 'folders in tests/stages' "$(stage_folders tests/stages)"
compare 'rows of stages/README.md' "$(sed -n 's/^| `\([a-z-]*\)` |.*/\1/p' stages/README.md | sort)"

for name in $listed; do
    help=$("$GRAPHMILL_BIN/graphmill-$name" --help)
    for verb in Reads Writes; do
        said=$(sed -n "s/^$verb: *//p" <<<"$help")
        grep -qF "$said" <<<"$(grep "^| \`$name\` |" stages/README.md)" ||
            fail "stages/README.md: the row of $name does not say '$said' ($verb)"
    done
done
exit $status
