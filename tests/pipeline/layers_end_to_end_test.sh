#!/usr/bin/env bash
# A model listed layer by layer, and jumping knowledge: trained, replayed, inferred, with the same
# bits for any workers.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/karate.yaml

# Trains with these settings, replays each layer's inference, and repeats it with three workers.
check() {
    local name=$1 layers=$2 answer hash accuracy other
    shift 2
    answer=$(run "$name" "$pipeline" "$@" --set checkpoint.keep=0 --set infer.weights=last)
    hash=$(json weights_hash <<<"$answer")
    [ ${#hash} -eq 32 ] || fail "no hash of the weights in: $answer"
    accuracy=$(sed -n 's/.*"train":{[^}]*"accuracy":\([0-9.]*\).*/\1/p' <<<"$answer")
    awk -v a="$accuracy" 'BEGIN { exit !(a >= 0.85) }' ||
        fail "$name answers $accuracy of its training nodes right: $answer"
    replays "$name" train-step --round 7 --slot 0
    replays "$name" aggregate --round 7
    for ((layer = 1; layer <= layers; layer++)); do for part in 0 1; do replays "$name" infer \
        --layer $layer --part $part; done; done
    replays "$name" infer
    other=$(run "$name-3" "$pipeline" "$@" --set infer.weights=last --workers 3 --threads 1 |
        json weights_hash)
    [ "$other" = "$hash" ] || fail "$name: three workers give $other, one gave $hash"
    cmp -s "$work/$name/outputs/embeddings.npy" "$work/$name-3/outputs/embeddings.npy" ||
        fail "$name: three workers give other embeddings"
}

mixed='[{kind: mlp, hidden: 12, norm: layer}, {kind: gat, hidden: 8, heads: 2, residual: true, activation: elu, dropout: 0.1}, {kind: sage}]'
check mixed 3 --set "train-step.layers=$mixed" --set sample.fanouts=4,4
check appnp 4 \
    --set 'train-step.layers=[{kind: mlp, dropout: 0.3}, {kind: mlp}, {kind: appnp, alpha: 0.2}, {kind: appnp, alpha: 0.2}]' \
    --set sample.fanouts=-1,-1
check cat 4 --set train-step.jumping_knowledge=cat --set train-step.norm=batch \
    --set sample.fanouts=4,4,4
check max 3 --set train-step.model=gcn --set train-step.jumping_knowledge=max \
    --set sample.fanouts=4,4
names=$(head -c 8192 "$work/cat/outputs/model.safetensors" | tr -c '[:print:]' ' ')
[[ $names == *lin.weight* && $names == *'"jumping_knowledge":"cat"'* &&
    $names == *'"num_layers":"3"'* ]] || fail "the model's file has no lin: $names"

# The list is complete: settings for all layers have no effect next to it, so it is the same run.
same=$(run mixed "$pipeline" --set "train-step.layers=$mixed" --set sample.fanouts=4,4 \
    --set train-step.norm=batch --set checkpoint.keep=0 \
    --set infer.weights=last | json weights_hash)
[ "$same" = "$(run mixed-3 "$pipeline" --set "train-step.layers=$mixed" --set sample.fanouts=4,4 \
    --set infer.weights=last | json weights_hash)" ] ||
    fail "a setting without effect made another run"

# Impossible settings are refused before anything is written.
expect 78 "is 'gatt', expected one of sage" run none "$pipeline" \
    --set 'train-step.layers=[{kind: gatt}]'
expect 78 "sample.fanouts has 2 items, expected 1" run none "$pipeline" \
    --set 'train-step.layers=[{kind: mlp}, {kind: sage}]' --set sample.fanouts=4,4
expect 78 'layer 1 of the model .gat.: the output width is 10, which its 4 heads do not divide' \
    run none "$pipeline" \
    --set 'train-step.layers=[{kind: gat, hidden: 10, heads: 4}, {kind: sage}]' \
    --set sample.fanouts=4,4
expect 78 'hidden of layer 2 .sage. is 8, but it has a column for each class' run none "$pipeline" \
    --set 'train-step.layers=[{kind: gat, hidden: 8, heads: 4}, {kind: sage, hidden: 8}]' \
    --set sample.fanouts=4,4
expect 78 'its output are the logits' run none "$pipeline" \
    --set 'train-step.layers=[{kind: sage, norm: batch}]' --set sample.fanouts=4
[ ! -e "$work/none" ] || fail "something was written"
