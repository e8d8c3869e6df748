#!/usr/bin/env bash
# Tables that grow by one file and one row: each row has its source file, its test and its line in the table of the documentation that
# lists the rows, and there is no such file or line without a row. reference_test.sh compares the text of these lines. At the end faults of each kind are planted in a copy of the tree, and
# the same checks have to find them.
set -u
cd "$GRAPHMILL_SOURCE" || exit 1
fail() { echo "$*"; status=1; }

# rows HEADER LIST: the names in ROW(NUMBER, name, ...) of a list; first_rows: those in ROW(name, ...)
list_of() { sed -n "/^#define $2(ROW)/,/[^\\\\]\$/p" "$1"; }
rows() { list_of "$1" "$2" | sed -n 's/^ *ROW([A-Z0-9_]*, \([a-z0-9_]*\)[,)].*/\1/p'; }
first_rows() { list_of "$1" "$2" | sed -n 's/^ *ROW(\([a-z0-9_]*\),.*/\1/p'; }
# table README HEAD: the lines of the table whose first column is called HEAD; cells N: column N of them; names: the words in backquotes
table() { awk -v head="| $2 |" 'index($0, head) == 1 {on = 1; next} on && /^\|/ {print; next} {on = 0}' "$1"; }
cells() { awk -F'|' -v column="$1" '{print $(column + 1)}'; }
names() { grep -oE '`[a-z0-9_]+`' | tr -d '`'; }

# same WHAT EXPECTED FOUND: two lists of words have the same words
same() {
    local expected found
    expected=$(tr ' ' '\n' <<<"$2" | grep . | sort)
    found=$(tr ' ' '\n' <<<"$3" | grep . | sort)
    [ -n "$expected" ] || fail "$1: no row was found"
    [ "$expected" = "$found" ] ||
        fail "$1: without a line or file: $(comm -23 <(echo "$expected") <(echo "$found") | xargs); without a row: $(comm -13 <(echo "$expected") <(echo "$found") | xargs)"
}
# documented WHAT ROWS README HEAD: the first column of the table has these names
documented() { same "$1 in the table | $4 | of $3" "$2" "$(table "$3" "$4" | cells 1 | names)"; }
# defined WHAT ROWS PATTERN FILES...: the constants that match PATTERN(name), each in the file that is called by its name
defined() {
    local what=$1 rows=$2 type=$3 end=$4 ending=$5 folder=$6
    same "$what in $folder" "$rows" "$(sed -n "s/^const struct $type \([a-z0-9_]*\)$end = .*/\1/p" $(find "$folder" -name '*.c'))"
    for name in $rows; do
        grep -rqs --include="$name$ending.c" "^const struct $type $name$end = " "$folder" || fail "$what $name: no $name$ending.c in $folder defines $name$end"
    done
}
# tested WHAT FILE...: each of the files is there
tested() {
    local what=$1 file
    shift
    for file in "$@"; do [ -f "$file" ] || fail "$what: there is no $file"; done
}

check_tasks() {
    local tasks losses name
    tasks=$(rows common/nn/tasks/task_list.h TASK_LIST)
    for name in $tasks; do tested "task $name" "common/nn/tasks/$name.c" "tests/common/nn/tasks/${name}_test.c"; done
    same 'tasks in common/nn/tasks' "$tasks" "$(sed -n 's/^const struct task task_\([a-z_]*\) = .*/\1/p' common/nn/tasks/*.c)"
    documented tasks "auto $(xargs <<<"$tasks")" pipelines/guide/reference.md '`ingest.task`'
    losses=$(rows common/nn/tasks/task_list.h LOSS_LIST)
    documented losses "auto $(xargs <<<"$losses")" pipelines/guide/reference.md '`train-step.loss`'
    documented metrics "$(rows common/nn/tasks/task_list.h METRIC_LIST)" pipelines/guide/reference.md '`checkpoint.metric`'
}

check_links() {
    local decoders name
    decoders=$(rows common/nn/links/link_lists.h DECODER_LIST)
    for name in $decoders; do
        tested "decoder $name" "common/nn/links/${name}_decoder.c"
        grep -q "DECODER_[A-Z]*, $name}" tests/common/nn/links/decoder_test.c || fail "decoder_test.c: no trial of $name"
    done
    same 'decoders in common/nn/links' "$decoders" "$(ls common/nn/links/*_decoder.c | xargs -n1 basename -s _decoder.c)"
    documented decoders "$decoders" pipelines/guide/reference.md '`train-step.decoder`'
    documented 'losses of links' "$(rows common/nn/links/link_lists.h LINK_LOSS_LIST)" pipelines/guide/reference.md '`train-step.link_loss`'
    documented 'ends of negatives' "$(rows common/nn/links/link_lists.h CORRUPT_LIST)" pipelines/guide/reference.md '`sample.corrupt`'
    documented negatives "$(rows stages/sampling/negative_list.h NEGATIVE_LIST)" pipelines/guide/reference.md '`sample.negative`'
}

check_samplers() {
    local samplers name room
    samplers=$(rows stages/sampling/sampler_list.h SAMPLER_LIST)
    for name in $samplers; do
        room=$(dirname "$(find stages/sampling -name "${name}_sampler.c" | grep . || echo stages/sampling/samplers/none)")
        tested "sampler $name" "$room/${name}_sampler.c" "tests/$room/${name}_sampler_test.c"
    done
    same 'samplers in stages/sampling' "$samplers" "$(sed -n 's/^const struct sampler \([a-z_]*\)_row = .*/\1/p' $(find stages/sampling -name '*.c'))"
    documented samplers "$samplers" pipelines/guide/reference.md '`sample.sampler`'
}

check_partitioners() {
    local partitioners
    partitioners=$(rows stages/plan/settings/partitioner_list.h PARTITIONER_LIST)
    defined partitioners "$partitioners" partitioner _partitioner _partitioner stages/partition/methods
    same 'partitioners in stages/partition/methods' "$partitioners" "$(ls stages/partition/methods/*_partitioner.c | xargs -n1 basename -s _partitioner.c)"
    documented partitioners "$partitioners" pipelines/guide/reference.md '`partition.method`'
}

check_layers() {
    local layers
    layers=$(rows common/nn/description/layer_list.h LAYER_LIST)
    defined layers "$layers" layer_type _layer _layer common/nn/layers
    documented layers "$layers" pipelines/guide/reference.md '`train-step.model`'
}

# Each backend of store/backends has a row, a scheme of its own, a line of documentation and tests; and nobody but the backend itself looks
# for its scheme in an address.
check_backends() {
    local backends name file scheme schemes='' found
    backends=$(first_rows store/backends/backend_list.h BACKEND_LIST)
    same 'backends in store/backends' "$backends" "$(sed -n 's/^const struct object_backend \([a-z0-9_]*\)_backend = .*/\1/p' $(find store/backends -name '*.c'))"
    for name in $backends; do
        file=$(grep -rl "^const struct object_backend ${name}_backend = " store/backends)
        scheme=$(sed -n "/^const struct object_backend ${name}_backend = /,/;\$/s/.*\.scheme = \"\([a-z0-9+]*\)\".*/\1/p" $file | head -1)
        [ -n "$scheme" ] || { fail "backend $name: no scheme in ${file:-store/backends}"; continue; }
        ! grep -qxF "$scheme" <<<"$schemes" || fail "backend $name: another backend has the scheme $scheme"
        schemes+="$scheme"$'\n'
        grep -qF "\`$scheme:" <<<"$(table pipelines/guide/reference.md '`--store`' | cells 1)" || fail "backend $name: no line of $scheme: in the table | --store | of pipelines/guide/reference.md"
        grep -rqF "$scheme:" tests || fail "backend $name: no test opens $scheme:"
    done
    schemes=$(grep . <<<"${schemes//+/\\+}" | paste -sd'|')
    found=$(grep -rnE "\"($schemes):(//|%s)?\"|strn?cmp\([^;]*\"($schemes):" pipelines stages --include='*.[ch]') || true
    [ -z "$found" ] || fail "the scheme of a store's address outside of its backend (see store_locate()): $found"
}

# Each kind of record has a number of its own, without gaps, which no other ever had; a name; a fuzzer; and a line of documentation.
check_records() {
    local kinds kind number name expected=0
    kinds=$(sed -n 's/^    RECORD_\([A-Z_]*\) = \([0-9]*\),$/\1 \2/p' store/objects/record.h)
    [ "$(wc -l <<<"$kinds")" -ge 30 ] || fail "store/objects/record.h: found the kinds '$kinds'"
    while read -r kind number; do
        [ "$number" -eq $expected ] || fail "record $kind: expected the number $expected, found $number"
        expected=$((expected + 1))
        [ $kind != UNKNOWN ] || continue
        name=${kind,,}
        grep -qF "[RECORD_$kind] = \"$name\"," store/objects/record.c || fail "record $kind: store/objects/record.c does not call it $name"
        grep -rqE "kind = RECORD_$kind\b|\(RECORD_$kind\b|[ ,{]RECORD_$kind," store --include='*.c' || fail "record $kind: nobody writes or reads it"
        grep -qE "\bRECORD_$kind\b" tests/fuzz/fuzz_*.c || fail "record $kind: no fuzzer in tests/fuzz reads it"
        grep -qE "^\| \`$name\` \| $number \| " <<<"$(table store/README.md 'kind of record' | sed 's/^/|/;s/^||/|/')" ||
            fail "record $kind: no line | \`$name\` | $number | in the table | kind of record | of store/README.md"
    done <<<"$kinds"
    same 'kinds of record in store/README.md' "$(sed '/^UNKNOWN /d;s/ .*//' <<<"${kinds,,}" | grep -v '^unknown')" "$(table store/README.md 'kind of record' | cells 1 | names)"
    grep -q "^    RECORD_KIND_COUNT$" store/objects/record.h || fail "store/objects/record.h: RECORD_KIND_COUNT is not the last"
}

# check_tree FOLDER CHECK...
check_tree() (
    cd "$1" || exit 1
    shift
    status=0
    for check in "$@"; do "check_$check"; done
    exit $status
)

check_tree . tasks links samplers partitioners layers backends records || exit 1

# --- what is planted is found ---

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
plant() { # the check, what it says, the command that plants the fault; in a fresh copy of what the checks read
    rm -rf "$work/tree"
    mkdir "$work/tree"
    find common stages store pipelines tests/common tests/stages tests/store tests/fuzz \( -name '*.[ch]' -o -name '*.md' \) \
        -not -path '*/corpus/*' -print0 | tar --null -cf - -T - | tar -xf - -C "$work/tree"
    (cd "$work/tree" && eval "$3") || { echo "cannot plant: $3"; missed=1; return; }
    ! check_tree "$work/tree" "$1" >"$work/said" 2>&1 && grep -qE "$2" "$work/said" || { echo "not found: '$2' after: $3"; cat "$work/said"; missed=1; }
}
missed=0
reference=pipelines/guide/reference.md
# The line is gone from its table, and stands in another one.
plant layers 'layers in the table .*without a line or file: gin;' "sed -i '/^| \`gin\` |/d' $reference && printf '\n| x | y |\n| --- | --- |\n| \`gin\` | z |\n' >>$reference"
plant samplers 'samplers in the table .*without a line or file: ladies;' "sed -i '/^| \`ladies\` |/d' $reference && sed -i 's/^| \`dot\` |/| \`ladies\` | |\n&/' $reference"
plant partitioners 'partitioners in the table .*without a row: kernighan' "sed -i 's/^| \`metis\` | METIS/| \`kernighan\` | cuts |\n&/' $reference"
plant layers 'layers in common/nn/layers: .*without a row: chebyshev' "echo 'const struct layer_type chebyshev_layer = {0};' >common/nn/layers/chebyshev_layer.c"
plant layers 'layer.* gin: no gin_layer.c in .* defines' 'mv common/nn/layers/kinds/gin_layer.c common/nn/layers/kinds/gin.c'
plant samplers 'sampler shadow: there is no tests/stages/sampling/samplers/shadow_sampler_test.c' 'rm tests/stages/sampling/samplers/shadow_sampler_test.c'
plant samplers 'samplers in stages/sampling: .*without a row: metropolis' "echo 'const struct sampler metropolis_row = {0};' >stages/sampling/metropolis_sampler.c"
plant partitioners 'partitioners in stages/partition/methods: without a line or file: ldg' 'rm stages/partition/methods/ldg_partitioner.c'
plant tasks 'losses in the table .*without a line or file: huber' "sed -i 's/^| \`huber\` |/| \`hubr\` |/' $reference"
plant backends 'backends in store/backends: .*without a row: ftp' "echo 'const struct object_backend ftp_backend = {.scheme = \"ftp\"};' >store/backends/ftp_backend.c"
plant backends 'backends in store/backends: without a line or file: gopher' "sed -i 's/^    ROW(memory, /    ROW(gopher, \"\", \"\") \\\\\n&/' store/backends/backend_list.h"
plant backends 'backend s3: no line of s3: in the table' "sed -i '/^| \`s3:/d' $reference"
plant backends 'backend memory: another backend has the scheme dir' 's=$(grep -rl "scheme = \"memory\"" store/backends) && sed -i "s/scheme = \"memory\"/scheme = \"dir\"/" $s'
plant backends 'outside of its backend' "echo 'int x(const char *a) { return strncmp(a, \"tiered:\", 7); }' >>pipelines/store/command_gc.c"
plant records 'record RESIDUAL: expected the number 29, found 28' 'sed -i "s/RECORD_RESIDUAL = 29/RECORD_RESIDUAL = 28/" store/objects/record.h'
plant records 'record RESIDUAL: no fuzzer' 'sed -i "s/RECORD_RESIDUAL/RECORD_GRADIENT/" tests/fuzz/*.c'
plant records 'record RESIDUAL: no line' "sed -i '/^| \`residual\` |/d' store/README.md"
plant records 'record PLANTED: .*does not call it planted' 'sed -i "s/^    RECORD_KIND_COUNT/    RECORD_PLANTED = 38,\n&/" store/objects/record.h'
exit $missed
