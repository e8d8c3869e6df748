#!/usr/bin/env bash
# Gradients in fewer bytes (train-step.gradient): the same bytes for any workers and threads, with batch norms and learnable
# rows, too; every unit replays; records are as short as is said, and metrics say what was lost.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
small=(--set ingest.nodes=600 --set partition.parts=3 --set sample.batch_size=40 --set epochs=3 --set train-step.hidden=256 --set checkpoint.keep=0)

bytes_of() { # of all gradients of a run
    cat "$work/$1"/store/run/*/round/*/slot/*/gradient.record | wc -c
}
rounds_say() { # a number of the last round in metrics.jsonl: rounds_say RUN KEY
    grep '"round":' "$work/$1/metrics.jsonl" | tail -1 | json "$2"
}
replays() {
    [[ $("$bin/graphmill" replay "$work/$1" "${@:2}" 2>"$work/stderr") == MATCH* ]] || fail "replay of $*: $(tail -1 "$work/stderr")"
}

plain=$(run f32 "$pipeline" "${small[@]}" | json weights_hash)
[ -z "$(rounds_say f32 gradient_error)" ] || fail "floats lose nothing, and metrics say otherwise"
for form in bf16 int8; do
    set=("${small[@]}" --set train-step.gradient=$form)
    hash=$(run $form "$pipeline" "${set[@]}" --workers 1 --threads 1 | json weights_hash)
    [ "$hash" != "$plain" ] || fail "$form changed nothing"
    [ "$(run $form-5 "$pipeline" "${set[@]}" --workers 5 --threads 3 | json weights_hash)" = "$hash" ] || fail "$form: 5 workers make a difference"
    replays $form train-step
    replays $form aggregate
    error=$(rounds_say $form gradient_error)
    awk -v e="$error" -v f=$form 'BEGIN { exit !(e > 0 && e < (f == "bf16" ? 0.004 : 0.1)) }' || fail "$form: metrics say that '$error' of a gradient is lost"
done
# 19,200 numbers: 2 and 1 bytes for 4, beside a header of some hundred.
awk -v f="$(bytes_of f32)" -v h="$(bytes_of bf16)" -v i="$(bytes_of int8)" 'BEGIN { exit !(h < 0.51 * f && i < 0.27 * f) }' ||
    fail "gradients have $(bytes_of f32), $(bytes_of bf16) and $(bytes_of int8) bytes"

# Running statistics stay floats; rows are encoded, too.
for settings in "train-step.norm=batch" "train-step.embedding=12"; do
    set=("${small[@]}" --set train-step.gradient=int8 --set $settings)
    hash=$(run "$settings" "$pipeline" "${set[@]}" | json weights_hash)
    [ "$(run "$settings-2" "$pipeline" "${set[@]}" --workers 2 --threads 2 | json weights_hash)" = "$hash" ] || fail "$settings: 2 workers make a difference"
    replays "$settings" train-step
    replays "$settings" aggregate
done
"$bin/graphmill" verify "$work/train-step.embedding=12" >"$work/verified" || fail "verify: $(cat "$work/verified")"
expect 78 'train-step.gradient' run bad "$pipeline" "${small[@]}" --set train-step.gradient=int4
