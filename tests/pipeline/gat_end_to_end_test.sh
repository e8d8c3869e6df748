#!/usr/bin/env bash
# Attention through every stage: trained, replayed, inferred and exported, with the same bits for
# any workers.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/karate.yaml

for model in gat gatv2; do
    with=(--set train-step.model=$model --set train-step.heads=4 --set checkpoint.keep=0)
    answer=$(run $model "$pipeline" "${with[@]}")
    hash=$(json weights_hash <<<"$answer")
    [ ${#hash} -eq 32 ] || fail "no hash of the weights in: $answer"
    accuracy=$(sed -n 's/.*"train":{[^}]*"accuracy":\([0-9.]*\).*/\1/p' <<<"$answer")
    awk -v a="$accuracy" 'BEGIN { exit !(a >= 0.9) }' ||
        fail "$model answers $accuracy of its training nodes right: $answer"
    for round in 0 7 29; do
        replays $model train-step --round $round --slot 0
        replays $model train-step --evaluation --round $((round + 1)) --slot 0
        replays $model checkpoint --round $((round + 1))
    done
    for layer in 1 2; do for part in 0 1; do replays $model infer --layer $layer --part $part; \
        done; done
    replays $model infer
    other=$(run $model-3 "$pipeline" "${with[@]}" --workers 3 --threads 1 | json weights_hash)
    [ "$other" = "$hash" ] || fail "$model: three workers give $other, one gave $hash"
    cmp -s "$work/$model/outputs/embeddings.npy" "$work/$model-3/outputs/embeddings.npy" ||
        fail "$model: three workers give other embeddings"
    names=$(head -c 4096 "$work/$model/outputs/model.safetensors" | tr -c '[:print:]' ' ')
    [[ $names == *convs.0.att* && $names == *'"heads":"4"'* ]] ||
        fail "$model: the model's file has no attention: $names"
    expect 78 'for PyG alone' "$bin/graphmill" export "$work/$model" --flavor dgl \
        --output "$work/$model.dgl"
done

# Impossible settings are refused before anything is written.
expect 78 'train-step.hidden is 16, expected a multiple of the 3' run none "$pipeline" \
    --set train-step.model=gat --set train-step.heads=3
expect 78 'expected fp32 with train-step.model gatv2' run none "$pipeline" \
    --set train-step.model=gatv2 --set train-step.precision=bf16
[ ! -e "$work/none" ] || fail "something was written"
