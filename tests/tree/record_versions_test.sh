#!/usr/bin/env bash
# store/README.md says which versions of each record are read: it has a line for each kind, and the highest version in it that is
# still written is the highest that the record's file knows.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
status=0
fail() { echo "$*"; status=1; }

# highest FILE...: the largest number of the format's versions that the files name
highest() { grep -hoE '\b[A-Z_]*(VERSION|FORMAT|EDGE_SPLITS|MINI_BATCH)[A-Z_]* = [0-9]+' "$@" | grep -v MINI_BATCH_OF_RELATIONS |
    grep -oE '[0-9]+$' | sort -n | tail -1; }

# of_table KIND: the newest version in the kind's table of sections (store/records/section_table.h), if it has one
of_table() { cat $(find store/records -name '*.c') | tr -s ' \n' ' ' |
    sed -nE "s/.*SECTION_TABLE(_OF_COPIES)?\( ?RECORD_${1^^}, [0-9]+, ([0-9]+),.*/\2/p"; }

kinds=$(sed -n '/^enum record_kind {/,/^};/p' store/objects/record.h | sed -n 's/^ *RECORD_\([A-Z_]*\) = [1-9].*/\L\1/p')
[ "$(wc -w <<<"$kinds")" -ge 37 ] || fail "store/objects/record.h: found the kinds '$kinds'"
for kind in $kinds; do
    line=$(grep -E "^\| \`$kind\` \| [0-9]" store/README.md) || { fail "store/README.md: no line | \`$kind\` | of the versions that are read"; continue; }
    told=$(cut -d'|' -f3 <<<"$line" | sed 's/, 32//' | grep -oE '[0-9]+' | tail -1)
    case $kind in
    weights | optimizer_state | evaluation) files=store/records/round/parameters.c ;;
    assignment) continue ;; # of partition_book.c, whose versions are the book's
    store_identity) files=store/objects/store_identity.c ;;
    mini_batch) files=store/records/batch/mini_batch_sections.h ;;
    *) files=$(find store/records -name "$kind.c") ;;
    esac
    known=$(of_table "$kind")
    [ -n "$known" ] || known=$(highest "$files")
    [ "$told" = "$known" ] || fail "store/README.md: $kind is read up to version '$told', $files knows '$known'"
done
exit $status
