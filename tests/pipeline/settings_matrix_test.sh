#!/usr/bin/env bash
# Unusual settings, each on a graph of 300 nodes: they run, their last units replay, verify finds
# nothing; settings that do not affect the computation change no bit; settings that cannot work are
# refused with a reason.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
small=(--set ingest.nodes=300 --set epochs=2 --set sample.batch_size=20)

# Hashes only the numbers in a model file, because its header has the name of the run, which depends
# on its settings.
numbers() {
    local header
    header=$(od -An -tu8 -N8 "$1")
    tail -c +$((header + 9)) "$1" | sha256sum
}

# Runs in one folder, which share dataset and partition: try [settings]; sets $hash to the hash of
# its numbers, and $answer
try() {
    local rounds unit
    answer=$(run matrix "$pipeline" "${small[@]}" "$@") || fail "$*: $answer"
    hash=$(numbers "$work/matrix/outputs/model.safetensors")
    rounds=$(json rounds <<<"$answer")
    for unit in "train-step --round $((rounds - 1)) --slot 0" "aggregate --round $((rounds - 1))" \
        "checkpoint --round $rounds" infer; do
        # shellcheck disable=SC2086
        "$bin/graphmill" replay "$work/matrix" $unit >"$work/replay" 2>&1 ||
            fail "$*: replay $unit: $(cat "$work/replay")"
    done
    "$bin/graphmill" verify "$work/matrix" >"$work/verified" || fail "$*: $(cat "$work/verified")"
}
same() { [ "$hash" = "$peace" ] || fail "$*: weights $hash, expected $peace"; }
other() { [ "$hash" != "$peace" ] || fail "$*: changed nothing"; }
rounds_are() { [ "$(json rounds <<<"$answer")" -eq "$1" ] || fail "not $1 rounds: $answer"; }

try
peace=$hash
# Operational settings change nothing: it is the same run, and nothing runs again.
id=$(json run <<<"$answer")
for operation in sample.run_ahead=1 checkpoint.keep=0; do
    try --set $operation && same $operation
    [ "$(json run <<<"$answer")" = "$id" ] || fail "$operation made another run: $answer"
done
# Settings of inference make other outputs of the same weights, and train nothing; both outputs
# stay.
newest_weights() { find "$work/matrix/store/run/$id/weights" -type f | sort | xargs sha256sum; }
trained=$(newest_weights)
try --set infer.embeddings=false && same no embeddings
[ "$(json run <<<"$answer")" = "$id" ] || fail "infer.embeddings made another run: $answer"
[ "$(newest_weights)" = "$trained" ] || fail "infer.embeddings trained again"
[ ! -e "$work/matrix/outputs/embeddings.npy" ] && [ -e "$work/matrix/outputs/predictions.csv" ] ||
    fail "outputs: $(ls "$work/matrix/outputs/")"
try --set infer.weights=last
[ "$(json run <<<"$answer")" = "$id" ] && [ "$(newest_weights)" = "$trained" ] ||
    fail "infer.weights trained again: $answer"
try && [ -e "$work/matrix/outputs/embeddings.npy" ] || fail "the first outputs are gone"
try --set portable=false --set aggregate.momentum=0.9 --set aggregate.optimizer=adam &&
    [ "$(json run <<<"$answer")" = "$id" ] ||
    fail "defaults, or what has no effect, made another run"
try --set seed=7 --set sample.run_ahead=1 && ahead=$hash
answer=$(run other "$pipeline" "${small[@]}" --set seed=7) || fail "$answer"
[ "$(numbers "$work/other/outputs/model.safetensors")" = "$ahead" ] ||
    fail "run_ahead changed the weights"
try --set aggregate.clip_norm=0.01 && other clip_norm
try --set aggregate.optimizer=sgd --set aggregate.momentum=0.9 && other sgd
try --set aggregate.optimizer=adamw --set aggregate.weight_decay=0.1 && other adamw
try --set aggregate.schedule=cosine && other cosine
try --set aggregate.schedule=step --set aggregate.step_epochs=1 && other step
try --set sample.batches_per_round=1000 && rounds_are 2
try --set sample.batch_size=100000 && rounds_are 2
try --set epochs=60 --set checkpoint.patience=2
[ "$(json rounds <<<"$answer")" -lt 180 ] || fail "patience 2 did not stop early: $answer"
try --set sample.reuse_epochs=2 --set checkpoint.keep=0 && other reuse
try --set sample.fanouts=3,3,2,2,2
try --set train-step.model=gcn --set sample.fanouts=-1,-1
try --set ingest.valid_share=0
try --set ingest.nodes=100 --set partition.parts=20 --set epochs=1

# In bf16 if the processor has it; otherwise it is refused before anything is written.
if grep -qw avx512_bf16 /proc/cpuinfo; then
    try --set train-step.precision=bf16 && other bf16
    rounded=$hash
    try --set train-step.precision=bf16 --set checkpoint.keep=0 --threads 1
    [ "$hash" = "$rounded" ] || fail "bf16 with one thread: weights $hash, expected $rounded"
    try --set train-step.precision=bf16 --set train-step.model=gcn --set train-step.hidden=33
else
    echo "not in bf16: this processor has no avx512_bf16"
    expect 78 'set `precision: fp32`' run none "$pipeline" "${small[@]}" \
        --set train-step.precision=bf16
    [ ! -e "$work/none" ] || fail "something was written"
fi
expect 78 "bf61.*fp32" run none "$pipeline" "${small[@]}" --set train-step.precision=bf61

# Parts by a file of our own, which is checked.
for ((node = 0; node < 300; node++)); do echo $((node % 3)); done >"$work/assignment"
by_file=(--set partition.method=file --set "partition.assignment=$work/assignment")
try "${by_file[@]}" --set partition.parts=3
try --set partition.method=hash --set partition.parts=3
expect 65 'assignment:3: expected a part from 0 to 1, found 2' run file "$pipeline" "${small[@]}" \
    "${by_file[@]}" --set partition.parts=2
expect 65 'part 3 has no node' run file "$pipeline" "${small[@]}" "${by_file[@]}" \
    --set partition.parts=4
sed -i '$d' "$work/assignment"
expect 65 'assignment:299: expected 300 lines' run file "$pipeline" "${small[@]}" "${by_file[@]}" \
    --set partition.parts=3
expect 78 'partition.assignment is empty' run file "$pipeline" "${small[@]}" \
    --set partition.method=file
expect 78 'at most 1' run share "$pipeline" --set ingest.train_share=0.8 \
    --set ingest.valid_share=0.5
expect 78 'evaluation_fanouts has 1' run fan "$pipeline" --set sample.evaluation_fanouts=3
expect 65 'no training nodes' run none "$pipeline" "${small[@]}" --set ingest.train_share=0
expect 71 'memory budget' run poor "$pipeline" --memory 1M

# If a run keeps one snapshot, no round is left to replay, which the summary and replay report.
"$bin/graphmill" run "$pipeline" "${small[@]}" --directory "$work/matrix" --quiet --set seed=2 \
    --set checkpoint.keep=1 >"$work/summary"
grep -q '^replay a unit' "$work/summary" &&
    fail "a replay is proposed that cannot be done: $(cat "$work/summary")"
expect 65 'was pruned or never made' "$bin/graphmill" replay "$work/matrix" train-step --round 1 \
    --slot 0
