#!/usr/bin/env bash
# gc removes nothing that a run of another folder in the same store is about to use: young entries
# stay, and entries that a recently set ref names.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
pipeline=$source_folder/pipelines/karate.yaml
store=$work/store
one=$(run a "$pipeline" --store "dir:$store" | json run)
two=$(run a "$pipeline" --store "dir:$store" --set train-step.hidden=8 | json run)

# Another folder has ingested and partitioned its graph, and no plan names either.
other=(--store "dir:$store" --pipeline "$pipeline" --set ingest.split="hash 50/20/30" \
    --set partition.parts=3)
"$bin/graphmill-ingest" "${other[@]}" >ingest.txt 2>log || fail "ingest: $(cat log)"
"$bin/graphmill-partition" "${other[@]}" >partition.txt 2>log || fail "partition: $(cat log)"
dataset=$(sed 's/.*dataset=\([^ ]*\).*/\1/' ingest.txt) \
    partition=$(sed 's/.*partition=\([^ ]*\).*/\1/' partition.txt)
[ -d "$store/dataset/$dataset" ] && [ -d "$store/partition/$partition" ] ||
    fail "no $dataset, $partition"
freed() { # arguments of gc: how much goes
    "$bin/graphmill" gc a "$@" >gc.txt || fail "gc $*"
    sed -n 's/^\(would free\|freed\) \([0-9]*\) pieces.*/\2/p' gc.txt
}
age() { # what: it is two days older
    find "$@" -exec touch -h -d '2 days ago' {} +
}
[ "$(freed)" = 0 ] || fail "a young piece went: $(cat gc.txt)"
[ "$(freed --dry-run --grace 0)" = 3 ] || fail "without a grace: $(cat gc.txt)"
[ "$(freed --dry-run --keep 2 --grace 0)" = 2 ] || fail "without a grace: $(cat gc.txt)"

# Old entries are removed, unless a young ref names them: ingest and partition have found them
# unchanged a moment ago.
age "$store/run" "$store/partition" "$store/dataset"
"$bin/graphmill-ingest" "${other[@]}" >found.txt 2>log && grep -q "^unchanged " found.txt ||
    fail "ingest: $(cat log)"
"$bin/graphmill-partition" "${other[@]}" >found.txt 2>log && grep -q "^unchanged " found.txt ||
    fail "partition: $(cat log)"
[ "$(freed)" = 1 ] && grep -q "removed run .*$one" gc.txt || fail "$one alone is old: $(cat gc.txt)"
[ "$(freed)" = 0 ] || fail "something went: $(cat gc.txt)"
run b "$pipeline" --store "dir:$store" --set ingest.split="hash 50/20/30" --set partition.parts=3 \
    >other.json || fail "the other run"
[ "$(freed --grace 0)" = 3 ] && grep -q "removed run .*$two" gc.txt ||
    fail "the run of b is the newest: $(cat gc.txt)"

# Everything is old.
"$bin/graphmill-ingest" "${other[@]}" --set ingest.split="hash 40/30/30" >ingest.txt 2>log ||
    fail "ingest: $(cat log)"
dataset=$(sed 's/.*dataset=\([^ ]*\).*/\1/' ingest.txt)
age "$store/dataset/$dataset"
[ "$(freed --grace 90m)" = 0 ] || fail "the switch is young: $(cat gc.txt)"
age "$store/switch"
[ "$(freed --grace 3d)" = 0 ] || fail "3 days: $(cat gc.txt)"
freed --grace 36h >/dev/null && grep -q "removed dataset .*$dataset" gc.txt ||
    fail "an old dataset stays: $(cat gc.txt)"
"$bin/graphmill" verify --store "dir:$store" >verify.txt || fail "$(cat verify.txt)"
expect 64 "expected a duration" "$bin/graphmill" gc a --grace soon
