#!/usr/bin/env bash
# Each kind of record has a fuzzer with a corpus, and the fuzzer knows each section of the kind's table (section_table.h): one
# that it cannot make is never read from damaged bytes.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
status=0
fail() { echo "$*"; status=1; }

# fuzzers KIND: the fuzzers that make records of this kind
fuzzers() { grep -lwE "RECORD_$1" tests/fuzz/fuzz_*.c; }

# check FOLDER-LIKE-SOURCE: prints what is missing; the tables are in FOLDER
check() {
    local kinds kind fuzzer name file
    kinds=$(sed -n '/^enum record_kind {/,/^};/p' store/objects/record.h | sed -n 's/^ *RECORD_\([A-Z_]*\) = [1-9].*/\1/p')
    [ "$(wc -w <<<"$kinds")" -ge 37 ] || echo "store/objects/record.h: found the kinds '$kinds'"
    for kind in $kinds; do
        [ -n "$(fuzzers "$kind")" ] || echo "no fuzzer in tests/fuzz makes records of RECORD_$kind"
        for fuzzer in $(fuzzers "$kind"); do
            name=${fuzzer##*/fuzz_}
            [ -n "$(ls "tests/fuzz/corpus/${name%.c}" 2>/dev/null)" ] || echo "$fuzzer: its corpus tests/fuzz/corpus/${name%.c} is empty"
        done
    done
    for file in $(grep -rlE --include='*.c' '\bSECTION_TABLE' "$1" | grep -v section_table); do
        local known=
        for kind in $(tr -s ' \n' ' ' <"$file" | grep -oE 'SECTION_TABLE(_OF_COPIES)?\( ?RECORD_[A-Z_]+' | sed 's/.*RECORD_//'); do
            known+=" $(fuzzers "$kind")"
        done
        for name in $(tr -s ' \n' ' ' <"$file" | grep -oE 'SECTION_(ARRAY|VALUE|VALUES|NUMBERS|TEXT)\( ?"[a-z_]+"' | sed 's/.*"\([a-z_]*\)"/\1/'); do
            [ -z "$known" ] || grep -qF "\"$name\"" $known || echo "$file: no fuzzer of$known makes the section \"$name\""
        done
    done
}

found=$(check store/records)
[ -z "$found" ] || fail "$found"

# The test sees a section that no fuzzer knows.
plant=$(mktemp -d)
cp store/records/batch/walk_counts.c "$plant"
sed -i 's/SECTION_VALUE("drawn"/SECTION_VALUE("planted"/' "$plant/walk_counts.c"
grep -q 'makes the section "planted"' <<<"$(check "$plant")" || fail 'a section that no fuzzer makes was not seen'
rm -r "$plant"
exit $status
