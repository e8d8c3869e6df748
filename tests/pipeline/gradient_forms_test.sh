#!/usr/bin/env bash
# Gradients in fewer bytes (train-step.gradient): the same bytes for any workers and threads, with
# batch norms and learnable embeddings too; every unit replays; records have the promised size, and
# metrics report the loss.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
small=(--set ingest.nodes=600 --set partition.parts=3 --set sample.batch_size=40 --set epochs=3 \
    --set train-step.hidden=256 --set checkpoint.keep=0)

bytes_of() { # of all gradients of a run
    cat "$work/$1"/store/run/*/round/*/slot/*/gradient.record | wc -c
}
rounds_say() { # a number of the last round in metrics.jsonl: rounds_say RUN KEY
    grep '"round":' "$work/$1/metrics.jsonl" | tail -1 | json "$2"
}
plain=$(run f32 "$pipeline" "${small[@]}" | json weights_hash)
[ -z "$(rounds_say f32 gradient_error)" ] || fail "floats lose nothing, and metrics say otherwise"
for form in bf16 int8; do
    set=("${small[@]}" --set train-step.gradient=$form)
    hash=$(run $form "$pipeline" "${set[@]}" --workers 1 --threads 1 | json weights_hash)
    [ "$hash" != "$plain" ] || fail "$form changed nothing"
    [ "$(run $form-5 "$pipeline" "${set[@]}" --workers 5 --threads 3 | json weights_hash)" = \
        "$hash" ] || fail "$form: 5 workers make a difference"
    replays $form train-step
    replays $form aggregate
    "$bin/graphmill" report "$work/$form" --output "$work/$form.html" >/dev/null
    grep -q 'Encoding of gradients' "$work/$form.html" ||
        fail "$form: the report does not tell of the encoding"
    error=$(rounds_say $form gradient_error)
    "$bin/graphmill" exporter "$work/$form" --output "$work/$form.prom" >/dev/null
    exported=$(sed -n 's/^graphmill_gradient_error{.*} //p' "$work/$form.prom")
    awk -v a="$exported" -v b="$error" 'BEGIN { exit !(a > 0 && (a - b) ^ 2 < 1e-12 * b ^ 2) }' ||
        fail "$form: the exporter says that '$exported' is lost, metrics '$error'"
    awk -v e="$error" -v f=$form 'BEGIN { exit !(e > 0 && e < (f == "bf16" ? 0.004 : 0.1)) }' ||
        fail "$form: metrics say that '$error' of a gradient is lost"
done
"$bin/graphmill" report "$work/f32" --output "$work/f32.html" >/dev/null
grep -q 'Encoding of gradients' "$work/f32.html" && fail "floats are encoded, the report says"
# The times of workers: stored bytes are half, and a little over a quarter, of those as floats;
# aggregate reports the reading time.
for form in bf16 int8; do
    grep -h '"gradient_float_bytes":[1-9]' "$work/$form"/times/*.jsonl >"$work/said" ||
        fail "$form: no times of encoding"
    while read -r line; do
        awk -v f=$form -v b="$(json gradient_bytes <<<"$line")" \
            -v a="$(json gradient_float_bytes <<<"$line")" -v s="$(json encoding <<<"$line")" \
            -v w="$(json write <<<"$line")" \
            'BEGIN { r = b / a; exit !(s > 0 && s <= w && (f == "bf16" ? r == 0.5 : r > 0.25 && r < 0.256)) }' || fail "$form: $line"
    done <"$work/said"
    grep -h '"unit":"aggregate"' "$work/$form"/times/*.jsonl >"$work/said"
    grep -q '"encoding":' "$work/said" || fail "$form: aggregate does not say how long reading took"
done
if grep -q '"encoding":' "$work"/f32/times/*.jsonl; then fail "floats take time to encode"; fi
# 19,200 numbers: 2 and 1 bytes instead of 4, next to a header of some hundred.
awk -v f="$(bytes_of f32)" -v h="$(bytes_of bf16)" -v i="$(bytes_of int8)" \
    'BEGIN { exit !(h < 0.51 * f && i < 0.27 * f) }' ||
    fail "gradients have $(bytes_of f32), $(bytes_of bf16) and $(bytes_of int8) bytes"

# Running statistics stay floats; embeddings are encoded, too.
for settings in "train-step.norm=batch" "train-step.embedding=12"; do
    set=("${small[@]}" --set train-step.gradient=int8 --set $settings)
    hash=$(run "$settings" "$pipeline" "${set[@]}" | json weights_hash)
    [ "$(run "$settings-2" "$pipeline" "${set[@]}" --workers 2 --threads 2 | json weights_hash)" = \
        "$hash" ] || fail "$settings: 2 workers make a difference"
    replays "$settings" train-step
    replays "$settings" aggregate
done
"$bin/graphmill" verify "$work/train-step.embedding=12" >"$work/verified" ||
    fail "verify: $(cat "$work/verified")"

# Only the largest numbers: the rest waits in a residual for the slot's next round. Epochs end in a
# round with fewer slots.
largest=("${small[@]}" --set train-step.gradient=top_k --set sample.batches_per_round=3)
hash=$(run largest "$pipeline" "${largest[@]}" --workers 1 --threads 1 | json weights_hash)
before=$(outcome largest)
[ "$(run largest-5 "$pipeline" "${largest[@]}" --workers 5 --threads 3 | json weights_hash)" = \
    "$hash" ] || fail "top_k: 5 workers make a difference"
[ "$(run more "$pipeline" "${largest[@]}" --set train-step.gradient_kept=0.05 |
    json weights_hash)" != "$hash" ] || fail "gradient_kept changes nothing"
run f32-3 "$pipeline" "${small[@]}" --set sample.batches_per_round=3 >/dev/null
awk -v f="$(bytes_of f32-3)" -v k="$(bytes_of largest)" 'BEGIN { exit !(k < f / 20) }' ||
    fail "gradients have $(bytes_of f32-3) and $(bytes_of largest) bytes"
awk -v e="$(rounds_say largest gradient_error)" 'BEGIN { exit !(e > 0.3 && e < 1) }' ||
    fail "metrics say that $(rounds_say largest gradient_error) of a gradient waits"
replays largest train-step
replays largest aggregate
for unit in "--round 0 --slot 0" "--round 1 --slot 1" "--round 2 --slot 0"; do replays largest \
    train-step $unit; done
# All of them: the same bits as floats.
[ "$(run all "$pipeline" "${small[@]}" --set train-step.gradient=top_k \
    --set train-step.gradient_kept=1 | json weights_hash)" = "$plain" ] ||
    fail "all numbers are not all numbers"

# A run that keeps little keeps the residuals that its newest rounds need, and verify requires them;
# lost or damaged ones are made again.
little=("${largest[@]}" --set checkpoint.keep=1)
run little "$pipeline" "${little[@]}" >/dev/null
[ "$(outcome little)" = "$before" ] || fail "checkpoint.keep makes a difference"
"$bin/graphmill" verify "$work/little" >"$work/verified" || fail "verify: $(cat "$work/verified")"
kept=("$work"/little/store/run/*/round/*/slot/*/residual.record)
[ ${#kept[@]} -ge 3 ] && [ ${#kept[@]} -le 6 ] || fail "${#kept[@]} residuals are kept: ${kept[*]}"
for harm in damage lose; do
    for name in largest little; do
        victims=("$work/$name"/store/run/*/round/*/slot/*/residual.record)
        victim=${victims[$((${#victims[@]} / 2))]}
        if [ $harm = damage ]; then damage "$victim"; else rm "$victim"; fi
        expect 65 "${victim#"$work/$name/store/"}|residual" "$bin/graphmill" verify "$work/$name" \
            --remove
        set=("${largest[@]}")
        [ $name = largest ] || set=("${little[@]}")
        run $name "$pipeline" "${set[@]}" >/dev/null || fail "$name after $harm of $victim"
        [ "$(outcome $name)" = "$before" ] || fail "$name: $harm of $victim changed outputs"
        "$bin/graphmill" verify "$work/$name" >"$work/verified" ||
            fail "$name: verify after $harm: $(cat "$work/verified")"
    done
done
# More epochs than a sibling start again, with the results of a run from scratch.
run little "$pipeline" "${little[@]}" --set epochs=4 >/dev/null
run four "$pipeline" "${largest[@]}" --set epochs=4 >/dev/null
[ "$(outcome little)" = "$(outcome four)" ] || fail "4 epochs after 3 are not 4 epochs"
expect 78 'train-step.gradient' run bad "$pipeline" "${small[@]}" --set train-step.gradient=int4
