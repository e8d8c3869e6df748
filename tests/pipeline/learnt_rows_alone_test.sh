#!/usr/bin/env bash
# Plain node2vec and matrix factorisation: only the embeddings of nodes are learned, and no layer or
# decoder has a tensor.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
awk -v to="$work" 'BEGIN { # two rings of 60 nodes, each with edges to nodes near by
    print "src,dst" >(to "/edges.csv")
    for (i = 0; i < 120; i++)
        for (k = 1; k <= 4; k++) print i "," (i < 60 ? (i + k) % 60 : 60 + (i + k) % 60) >(to "/edges.csv")
}'
cat >"$work/node2vec.yaml" <<YAML
name: node2vec
seed: 2
epochs: 20
ingest: {format: edge_list, path: edges.csv, direction: undirected, task: link_prediction, features: degree, edge_split: random 80/10/10}
partition: {parts: 3}
sample: {fanouts: [], pairs: walks, pair_walk_length: 5, negatives: 5, negative: degree, batch_size: 64, batches_per_round: 2}
train-step: {model: identity, features: false, embedding: 16, hidden: 16, decoder: dot}
aggregate: {embedding_rate: 0.05}
checkpoint: {keep: 0}
YAML
hash_of() { (cd "$work/$1/outputs" && sha256sum embeddings.npy predictions.csv | sha256sum); }
auc_of() { sed -n 's/.*"test":{[^}]*"roc_auc":\([0-9.]*\).*/\1/p'; }
is_above() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; }

answer=$(run one "$work/node2vec.yaml")
is_above "$(auc_of <<<"$answer")" 0.8 || fail "node2vec finds no links: $answer"
expected=$(hash_of one)
"$bin/graphmill" verify "$work/one" >"$work/said" 2>&1 || fail "verify: $(cat "$work/said")"
for unit in "sample --round 3 --slot 1" "train-step --round 3 --slot 1" "aggregate --round 3" \
    checkpoint infer; do
    # shellcheck disable=SC2086
    "$bin/graphmill" replay "$work/one" $unit >"$work/said" 2>&1 ||
        fail "replay of $unit: $(cat "$work/said")"
done
"$bin/graphmill" report "$work/one" >"$work/said" 2>&1 || fail "report: $(cat "$work/said")"
"$bin/graphmill" export "$work/one" --what step --round 3 --output "$work/step.safetensors" \
    >"$work/said" 2>&1 || fail "export of a step: $(cat "$work/said")"
"$bin/graphmill" export "$work/one" --what embedding --output "$work/rows" >"$work/said" 2>&1 ||
    fail "export of rows: $(cat "$work/said")"
"$bin/graphmill" predict links "$work/one" --node 5 --best 3 >"$work/said" 2>&1 ||
    fail "predict links: $(cat "$work/said")"

# Workers, ranges of parameters and trees of sums change no bit.
run workers "$work/node2vec.yaml" --workers 3 --threads 1 >/dev/null
[ "$(hash_of workers)" = "$expected" ] || fail "three workers give other rows"
for with in aggregate.ranges=2 aggregate.fan_in=2; do
    run "$with" "$work/node2vec.yaml" --set "$with" --set sample.batches_per_round=4 >"$work/said" \
        2>&1 || fail "$with: $(cat "$work/said")"
done
for with in train-step.gradient=int8 train-step.gradient=top_k "aggregate.optimizer=sgd" \
    "aggregate.clip_norm=1" "train-step.decoder=cosine"; do
    extra=()
    [ "$with" != train-step.decoder=cosine ] ||
        extra=(--set train-step.link_loss=margin --set train-step.link_margin=0.5)
    run "$with" "$work/node2vec.yaml" --set "$with" "${extra[@]}" --set epochs=3 >"$work/said" \
        2>&1 || fail "$with: $(cat "$work/said")"
done

# More epochs continue from the existing embeddings.
run more "$work/node2vec.yaml" --set epochs=10 --set checkpoint.keep=2 >/dev/null
run more "$work/node2vec.yaml" --set epochs=20 --set checkpoint.keep=2 >/dev/null
[ "$(hash_of more)" = "$expected" ] || fail "10 epochs and 10 more give other rows than 20"

# Without learnable embeddings there is nothing to learn.
expect 78 'the model has no tensors to train.*train-step.embedding: 64' run none \
    "$work/node2vec.yaml" --set train-step.embedding=0 --set train-step.features=true \
    --set train-step.hidden=2
