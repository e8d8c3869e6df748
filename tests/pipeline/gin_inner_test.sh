#!/usr/bin/env bash
# Between the two matrices of gin there are the norm and the activation, or only ReLU, as before
# train-step.inner existed.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"

ring_graph "$work/g" && cd "$work/g"
batch=(--set train-step.model=gin --set train-step.norm=batch)
elu=(--set train-step.model=gin --set train-step.activation=elu)
before=(--set train-step.inner=relu)

has_inner_norm() { grep -aq 'convs.1.nn.norms.0.module.running_mean' \
    "$work/$1/outputs/model.safetensors"; }
for kind in batch elu; do
    declare -n settings=$kind
    run "$kind" g.yaml "${settings[@]}" >"$work/$kind.json"
    run "old-$kind" g.yaml "${settings[@]}" "${before[@]}" >"$work/old-$kind.json"
    [ "$(json weights_hash <"$work/$kind.json")" != "$(json weights_hash <"$work/old-$kind.json")" \
        ] || fail "$kind: inner makes no difference"
done
has_inner_norm batch || fail 'no norm inside the layers'
! has_inner_norm old-batch || fail 'a norm inside the layers, and inner is relu'

# A model file without the setting is from before it existed. Either kind gives the same results
# from its file and from its run's folder.
run listed g.yaml --set 'train-step.layers=[{kind: gin, norm: batch}, {kind: gin}]' >/dev/null
run old-listed g.yaml \
    --set 'train-step.layers=[{kind: gin, norm: batch, inner: relu}, {kind: gin}]' >/dev/null
for name in batch elu listed; do
    grep -aq 'inner *[=:] same' "$work/$name/outputs/model.safetensors" ||
        fail "$name: its file does not say what stands inside"
    ! grep -aq 'train-step.inner' "$work/old-$name/outputs/model.safetensors" ||
        fail "old-$name: its file is not as before"
done
for name in batch elu listed old-batch old-elu old-listed; do
    "$bin/graphmill" infer "$work/$name" --on g.yaml --directory "$work/folder-$name" \
        --quiet >/dev/null
    "$bin/graphmill" infer "$work/$name/outputs/model.safetensors" --on g.yaml \
        --directory "$work/file-$name" --quiet >/dev/null
    cmp -s "$work/folder-$name/outputs/embeddings.npy" "$work/file-$name/outputs/embeddings.npy" ||
        fail "$name: its file is another model"
done

# Training only continues from it as the same model.
for kind in batch elu; do
    declare -n settings=$kind
    expect 65 'ReLU alone between their matrices, .*expected train-step.inner: relu' run warm \
        g.yaml "${settings[@]}" --set "train-step.initial=$work/old-$kind"
    rm -rf "$work/warm"
    run warm g.yaml "${settings[@]}" "${before[@]}" --set "train-step.initial=$work/old-$kind" \
        >/dev/null
    rm -rf "$work/warm"
done
expect 78 'elu between its two matrices' "$bin/graphmill" export "$work/elu" --flavor dgl \
    --output "$work/elu.dgl"
