#!/usr/bin/env bash
# Batches of layers and of disjoint subgraphs whose features do not fit into the memory of
# train-step: the same weights as with all features in memory.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cat >"$work/wide.yaml" <<YAML
name: wide
seed: 3
epochs: 1
ingest: {format: generated, nodes: 18000, average_degree: 8, classes: 5, feature_dim: 1000}
partition: {parts: 16}
sample: {fanouts: [100, 100], batch_size: 600, evaluation_batch_size: 100, evaluation_fanouts: [2, 2], num_neighbors: 2, depth: 2}
train-step: {hidden: 16}
YAML
for sampler in ladies shadow; do
    hash=$(run $sampler "$work/wide.yaml" --set sample.sampler=$sampler | json weights_hash)
    other=$(run $sampler-small "$work/wide.yaml" --set sample.sampler=$sampler --memory 330M |
        json weights_hash)
    grep -q 'which are read as batches want them' "$work/$sampler-small/logs/train-step-0.log" ||
        fail "$sampler: all features fitted"
    [ "$other" = "$hash" ] || fail "$sampler: out of memory the weights are $other, expected $hash"
    rm -rf "${work:?}/$sampler" "${work:?}/$sampler-small"
done
