#!/usr/bin/env bash
# Each kind of layer through every stage: trained, replayed, inferred and exported, with the same
# bits for any workers. A new kind is a line of `kinds`: its settings, and a tensor of its model.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/karate.yaml

kinds='
sage,aggr=max                  convs.1.lin_l.weight
graph_conv                     convs.1.lin_rel.weight
graph_conv,aggr=mean           convs.1.lin_root.weight
gin,train_eps=true             convs.1.nn.lins.1.weight
gin,norm=batch                 convs.1.nn.norms.0.module.running_var
gin,norm=layer                 convs.0.nn.norms.0.bias
sgc                            lin.weight
appnp,alpha=0.2                lins.1.weight
le                             convs.1.lin2.weight
mlp                            lins.1.weight
'

while read -r settings tensor; do
    [ -n "$settings" ] || continue
    name=${settings//[,=]/-}
    with=(--set "train-step.model=${settings%%,*}" --set checkpoint.keep=0)
    [[ $settings != *,* ]] || with+=(--set "train-step.${settings#*,}")
    [[ $settings != mlp ]] || with+=(--set 'sample.fanouts=[]')
    answer=$(run "$name" "$pipeline" "${with[@]}")
    hash=$(json weights_hash <<<"$answer")
    [ ${#hash} -eq 32 ] || fail "$settings: no hash of the weights in: $answer"
    for round in 0 29; do
        replays "$name" train-step --round $round --slot 0
        replays "$name" train-step --evaluation --round $((round + 1)) --slot 0
    done
    for part in 0 1; do replays "$name" infer --layer 2 --part $part; done
    replays "$name" infer
    other=$(run "$name-3" "$pipeline" "${with[@]}" --workers 3 --threads 2 | json weights_hash)
    [ "$other" = "$hash" ] || fail "$settings: three workers give $other, one gave $hash"
    cmp -s "$work/$name/outputs/embeddings.npy" "$work/$name-3/outputs/embeddings.npy" ||
        fail "$settings: three workers give other embeddings"
    names=$(head -c 16384 "$work/$name/outputs/model.safetensors" | tr -c '[:print:]' ' ')
    [[ $names == *"\"$tensor\""* ]] || fail "$settings: the model's file has no $tensor: $names"
done <<<"$kinds"

# Impossible settings are refused before anything is written.
expect 78 'the model has no tensors to train' run none "$pipeline" --set train-step.model=identity \
    --set 'sample.fanouts=[]'
expect 78 'as many columns as it reads' run none "$pipeline" --set train-step.model=propagate
[ ! -e "$work/none" ] || fail "something was written"
expect 78 'for PyG alone' "$bin/graphmill" export "$work/graph_conv" --flavor dgl \
    --output "$work/graph_conv.dgl"
expect 78 'has a norm' "$bin/graphmill" export "$work/gin-norm-batch" --flavor dgl \
    --output "$work/gin-norm.dgl"
"$bin/graphmill" export "$work/gin-train_eps-true" --flavor dgl --output "$work/gin.dgl" >/dev/null
names=$(head -c 4096 "$work/gin.dgl" | tr -c '[:print:]' ' ')
[[ $names == *layers.1.apply_func.2.weight* ]] || fail "DGL's names of gin are $names"
