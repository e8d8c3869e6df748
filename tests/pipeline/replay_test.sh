#!/usr/bin/env bash
# The choice of the replayed unit: without numbers the newest stored one; numbers that the run does
# not have are refused with the ones that it has, by the driver and by the stage's own program.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
run karate "$source_folder/pipelines/karate.yaml" --set epochs=6 --set sample.batch_size=1 \
    --set sample.batches_per_round=3 \
    --set partition.parts=4 --set partition.method=hash --set checkpoint.keep=2 \
    --set sample.reuse_epochs=2 >/dev/null
store=$work/karate/store
run_id=$(basename "$(ls -d "$store"/run/*)")
rounds=$(find "$store/run/$run_id/weights" -name '*.record' | sort | tail -1 |
    sed 's/.*\/0*\([0-9]*\)\.record/\1/')
[ "$rounds" -ge 10 ] || fail "$rounds rounds"

said() { "$bin/graphmill" replay "$work/karate" "$@" 2>"$work/stderr" ||
    fail "replay $*: $(tail -1 "$work/stderr")"; }
newest() {
    local found unit=$1
    shift
    found=$(said "$@")
    [[ $found == "MATCH $unit "* ]] || fail "replay $* said '$found', expected unit $unit"
}
newest ingest ingest
newest partition partition
newest "train-step/$((rounds - 1))/0" train-step
newest "train-step/$((rounds - 2))/1" train-step --round $((rounds - 2)) --slot 1
newest "train-step/$((rounds - 2))/2" train-step --slot 2 # the last round of an epoch has two slots
newest "evaluate/$rounds/0" train-step --evaluation
newest "aggregate/$((rounds - 1))" aggregate
newest "checkpoint/$rounds" checkpoint
newest sample-evaluation/0 sample --evaluation
[[ $(said sample) == "MATCH sample/"* ]] || fail "no newest mini-batch"
version=$(basename "$(readlink "$work/karate/outputs")" | sed 's/^0*//')
newest "outputs/$version" infer
newest "infer/$version/1/0" infer --layer 1
newest "infer/$version/2/3" infer --layer 2 --part 3

# The message lists the existing numbers: status 64.
refused() {
    local pattern=$1
    shift
    expect 64 "$pattern" "$bin/graphmill" replay "$work/karate" "$@"
}
refused "no round 1000: the run has rounds 0 to $((rounds - 1))" train-step --round 1000
refused "no slot 7: round $((rounds - 2)) has slots 0 to 2" train-step --round $((rounds - 2)) \
    --slot 7
refused 'no slot 7: round 0 has slots' sample --slot 7
refused 'no part 9: there are parts 0 to 3' infer --layer 1 --part 9
refused 'no part 4: there are parts 0 to 3' infer --layer 2 --part 4
refused 'no layer 3: there are layers 1 to 2' infer --layer 3
refused 'validation slots 0 to 0' train-step --evaluation --round "$rounds" --slot 1
refused 'no mini-batches of its own' sample --round $((rounds - 1))
refused "a unit of aggregate has no --layer" aggregate --layer 1
refused "'infr' is no stage" infr
expect 65 'pruned' "$bin/graphmill" replay "$work/karate" train-step --round 1

stage() {
    local pattern=$1 name=$2 unit=$3
    expect 64 "$pattern" "$bin/graphmill-$name" --store "$store" --run "$run_id" --replay "$unit" \
        --memory 512M
}
stage 'no part 9: there are parts 0 to 3' infer "infer/$version/1/9"
stage 'no part 4: there are parts 0 to 3' infer "infer/$version/1/4"
stage 'slots 0 to 2' train-step "train-step/0/70000"
stage 'slots 0 to 2' sample "sample/0/70000"
stage 'validation slots 0 to 0' sample "sample-evaluation/70000"
stage 'validation slots 0 to 0' train-step "evaluate/$rounds/70000"
stage 'rounds 0 to' aggregate "aggregate/4611686018427387903"
stage 'no snapshot of weights' checkpoint "checkpoint/1"
stage "inference is with weights $version in this run" infer \
    "outputs/$((version == rounds ? rounds - 3 : rounds))"
stage 'a unit of graphmill-train-step, this is graphmill-infer' infer "evaluate/$rounds/0"
stage 'names no unit of work' infer infer/1/0
