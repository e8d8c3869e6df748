#!/usr/bin/env bash
# Gradients that are added up by range and as a tree: the same weights for any number of ranges and
# workers; every sum replays; a step is exported; lost or damaged records are made again.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/quickstart.yaml
small=(--set ingest.nodes=600 --set partition.parts=3 --set sample.batch_size=20 \
    --set sample.batches_per_round=7 --set epochs=3
    --set train-step.hidden=16 --set train-step.norm=batch --set aggregate.clip_norm=0.5)
answer=$(run one "$pipeline" "${small[@]}")
hash=$(json weights_hash <<<"$answer")
last=$(($(json rounds <<<"$answer") - 1))
same() { # what, answer
    [ "$(json weights_hash <<<"$2")" = "$hash" ] || fail "$1: $2, expected the weights $hash"
}
for ranges in 2 5; do
    for workers in 1 2 5; do
        folder=r$ranges-$workers
        same "$ranges ranges, $workers workers" \
            "$(run $folder "$pipeline" "${small[@]}" --set aggregate.ranges=$ranges \
            --workers $workers)"
        [ "$(cat "$work/$folder/metrics.jsonl")" = "$(cat "$work/one/metrics.jsonl")" ] ||
            fail "$ranges ranges: other metrics"
    done
done
tree=$(run tree1 "$pipeline" "${small[@]}" --set aggregate.fan_in=2 | json weights_hash)
[ "$(run tree3 "$pipeline" "${small[@]}" --set aggregate.fan_in=2 --set aggregate.ranges=3 \
    --workers 3 | json weights_hash)" = "$tree" ] ||
    fail "the bits of a tree depend on the number of ranges"

for sum in 0 4; do replays r5-1 aggregate --sum $sum; done
# groups of 4, 2 and 1, for 3 ranges
for sum in 0 9 17 20; do replays tree3 aggregate --sum $sum --round $((last - 1)); done
replays tree3 aggregate
replays tree3 train-step
expect 64 'no sum 5: there are sums 0 to 4' "$bin/graphmill" replay "$work/r5-1" aggregate --sum 5 \
    --round $last
expect 64 'the run has none' "$bin/graphmill" replay "$work/one" aggregate --sum 0 --round $last
expect 78 'aggregate.fan_in is 1' run bad "$pipeline" "${small[@]}" --set aggregate.fan_in=1
[ ! -e "$work/bad/store/dataset" ] || fail "read the input of a pipeline that cannot be"

# A step has the same tensors, wherever the gradient is stored.
for folder in one r5-1; do
    "$bin/graphmill" export "$work/$folder" --what step --round $last --slot 1 \
        --output "$work/$folder.step" >/dev/null
    header=$(od -An -tu8 -N8 "$work/$folder.step")
    tail -c +$((header + 9)) "$work/$folder.step" | sha256sum >"$work/$folder.sum"
done
[ "$(cat "$work/one.sum")" = "$(cat "$work/r5-1.sum")" ] ||
    fail "an exported step has other tensors"

# A range of a gradient, or a sum, that is damaged or lost later is made again.
store=$(echo "$work"/r5-2/store/run/*)
for what in "round/*/slot/00001/gradient_range/00003" "round/*/gradient_sum/0000000002"; do
    for harm in damage loss; do
        file=$(ls "$store"/$what.record | tail -1)
        if [ $harm = damage ]; then printf '\377' |
            dd of="$file" bs=1 seek=300 conv=notrunc status=none; else rm "$file"; fi
        expect 65 '' "$bin/graphmill" verify "$work/r5-2" --remove
        same "$harm of $what" "$(run r5-2 "$pipeline" "${small[@]}" --set aggregate.ranges=5)"
        "$bin/graphmill" verify "$work/r5-2" >"$work/verified" ||
            fail "verify after $harm of $what: $(cat "$work/verified")"
    done
done

# Gradients in fewer bytes are encoded before they are cut: any number of ranges has the same bits,
# and reports the loss; a tree does as well. Rounds end in one with fewer slots, and blocks of 1,024
# numbers do not begin at the starts of ranges.
bytes_of_ranges() {
    cat "$work/$1"/store/run/*/round/*/slot/*/gradient_range/*.record | wc -c
}
run floats "$pipeline" "${small[@]}" --set train-step.hidden=48 --set aggregate.ranges=2 >/dev/null
floats=$(bytes_of_ranges floats)
for form in bf16 int8 top_k; do
    set=("${small[@]}" --set train-step.gradient=$form --set train-step.hidden=48)
    hash=$(run $form "$pipeline" "${set[@]}" | json weights_hash)
    for ranges in 2 5; do
        same "$form, $ranges ranges" \
            "$(run $form-$ranges "$pipeline" "${set[@]}" --set aggregate.ranges=$ranges \
            --workers $ranges)"
        [ "$(cat "$work/$form-$ranges/metrics.jsonl")" = "$(cat "$work/$form/metrics.jsonl")" ] ||
            fail "$form, $ranges ranges: other metrics"
    done
    grep -q '"gradient_error":0\.[0-9]' "$work/$form-5/metrics.jsonl" ||
        fail "$form: metrics do not say what is lost"
    bytes=$(bytes_of_ranges $form-2)
    [ "$bytes" -lt $((floats * 6 / 10)) ] ||
        fail "$form: ranges have $bytes bytes, those of floats $floats"
    replays $form-5 train-step
    replays $form-5 aggregate --sum 4
    replays $form-5 aggregate
done
tree=$(run top_k-tree "$pipeline" "${set[@]}" --set aggregate.fan_in=2 | json weights_hash)
[ "$(run top_k-tree-3 "$pipeline" "${set[@]}" --set aggregate.fan_in=2 --set aggregate.ranges=3 |
    json weights_hash)" = "$tree" ] ||
    fail "the bits of a tree of encoded gradients depend on the number of ranges"
# Residuals and ranges of one gradient: lost records of either are made again.
store=$(echo "$work"/top_k-5/store/run/*)
for what in residual gradient_range/00001; do
    rm "$(ls "$store"/round/*/slot/00001/$what.record | tail -1)"
    expect 65 '' "$bin/graphmill" verify "$work/top_k-5" --remove
    same "loss of $what" "$(run top_k-5 "$pipeline" "${set[@]}" --set aggregate.ranges=5)"
    "$bin/graphmill" verify "$work/top_k-5" >"$work/verified" ||
        fail "verify after the loss of $what: $(cat "$work/verified")"
done
# Learnable embeddings are encoded in the gradient's own record.
set=("${small[@]}" --set train-step.gradient=int8 --set train-step.embedding=12)
hash=$(run rows "$pipeline" "${set[@]}" | json weights_hash)
same "rows beside ranges" "$(run rows-2 "$pipeline" "${set[@]}" --set aggregate.ranges=2 \
    --workers 2)"
replays rows-2 train-step
