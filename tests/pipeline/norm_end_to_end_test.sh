#!/usr/bin/env bash
# Norms, residuals and activations through every stage: trained, replayed, inferred and exported, with the same bits for any workers.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/karate.yaml

train_accuracy() {
    sed -n 's/.*"train":{[^}]*"accuracy":\([0-9.]*\).*/\1/p' <<<"$1"
}

# Small mini-batches, so that a round has several slots with statistics of their own.
for norm in batch layer; do
    with=(--set train-step.norm=$norm --set train-step.residual=true \
        --set train-step.activation=elu --set checkpoint.keep=0
        --set sample.batch_size=4 --set sample.batches_per_round=3 --set sample.fanouts=4,4,4 \
            --set infer.weights=last)
    answer=$(run $norm "$pipeline" "${with[@]}")
    hash=$(json weights_hash <<<"$answer")
    [ ${#hash} -eq 32 ] || fail "no hash of the weights in: $answer"
    accuracy=$(train_accuracy "$answer")
    awk -v a="$accuracy" 'BEGIN { exit !(a >= 0.9) }' ||
        fail "norm $norm answers $accuracy of its training nodes right: $answer"
    for round in 0 7 29; do
        replays $norm train-step --round $round --slot 0
        replays $norm aggregate --round $round
        replays $norm train-step --evaluation --round $((round + 1)) --slot 0
        replays $norm checkpoint --round $((round + 1))
    done
    for layer in 1 2 3; do for part in 0 1; do replays $norm infer --layer $layer --part $part; \
        done; done
    replays $norm infer
    other=$(run $norm-3 "$pipeline" "${with[@]}" --workers 3 --threads 1 | json weights_hash)
    [ "$other" = "$hash" ] || fail "norm $norm: three workers give $other, one gave $hash"
    cmp -s "$work/$norm/outputs/embeddings.npy" "$work/$norm-3/outputs/embeddings.npy" ||
        fail "norm $norm: three workers give other embeddings"
    names=$(head -c 8192 "$work/$norm/outputs/model.safetensors" | tr -c '[:print:]' ' ')
    [[ $names == *residuals.0.weight* ]] ||
        fail "norm $norm: the model's file has no residual: $names"
    [ $norm = layer ] || [[ $names == *norms.0.module.running_var* ]] ||
        fail "norm $norm: the model's file has no running statistics: $names"
done
expect 78 'expected fp32' run none "$pipeline" --set train-step.norm=layer \
    --set train-step.precision=bf16
expect 78 "train-step.norm is 'bacth', expected one of none, batch, layer" run none "$pipeline" \
    --set train-step.norm=bacth
[ ! -e "$work/none" ] || fail "something was written"
