#!/usr/bin/env bash
# Classes of nodes, each at its own time, in training, validation and inference: edges of the future
# that reveal the answer change no byte; the same bits for any workers, and under replay.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
# 300 nodes of three classes have edges to their own kind up to time 500. Later each has one to the
# beacon of each class: the edge to its own beacon weighs as the others do, or, if the future
# reveals the class, much more.
graph() { # tells | silent
    awk -v future="$1" 'BEGIN { srand(11)
        print "src,dst,weight,time"
        for (i = 0; i < 300; i++)
            for (k = 0; k < 4; k++) {
                j = rand() < 0.8 ? int(rand() * 100) * 3 + i % 3 : int(rand() * 300)
                if (j != i) print j "," i ",1," int(rand() * 500)
            }
        for (i = 0; i < 300; i++)
            for (b = 0; b < 3; b++)
                print 300 + b "," i "," (future == "tells" && b == i % 3 ? 50 : 1) "," 1000 + i }'
}
graph silent >"$work/silent.csv"
graph tells >"$work/tells.csv"
awk 'BEGIN { for (i = 0; i < 300; i++) print i "," i % 3 }' >"$work/labels.csv"
awk 'BEGIN { srand(5); for (i = 0; i < 303; i++) { printf "%d", i; for (k = 0; k < 6; k++) printf ",%.4f", (i >= 300 ? 4 : 1) * (rand() - 0.5) + (k == i % 3) * (i >= 300 ? 9 : 0.6); print "" } }' >"$work/features.csv"
cat >"$work/nodes.yaml" <<'YAML'
name: nodes
epochs: 6
ingest:
  format: edge_list
  path: silent.csv
  direction: as_given
  labels: labels.csv
  features: features.csv
  split: random 50/20/30
partition:
  parts: 3
sample:
  sampler: temporal_neighbor
  seed_time: first_edge
  fanouts: [5, 5]
  batch_size: 50
train-step:
  hidden: 16
  dropout: 0
checkpoint:
  keep: 0
YAML
same_outputs() { # NAME OTHER
    local file
    for file in predictions.csv embeddings.npy; do
        cmp -s "$work/$1/outputs/$file" "$work/$2/outputs/$file" ||
            fail "$2 has another $file than $1"
    done
}
answer=$(run one "$work/nodes.yaml" --workers 1)
hash=$(json weights_hash <<<"$answer")
[ ${#hash} -eq 32 ] || fail "no hash of the weights in: $answer"

# Outputs agree with validation: the same scores of the same nodes, at their times.
best=$(sed -n 's/.*"valid_accuracy":\([0-9.]*\).*/\1/p' "$work/one/metrics.jsonl" | sort -g |
    tail -1)
awk -v a="$best" -v b="$(measure "$answer" valid accuracy)" \
    'BEGIN { d = a - b; exit !(a > 0 && d < 1e-6 && d > -1e-6) }' ||
    fail "validation said $best, outputs say $(measure "$answer" valid accuracy)"

answer=$(run telling "$work/nodes.yaml" --set ingest.path="$work/tells.csv")
[ "$(json weights_hash <<<"$answer")" = "$hash" ] || fail "the future moves the weights"
same_outputs one telling
# With a sampler that reads all edges, the future helps.
before=$(measure "$(run all "$work/nodes.yaml" --set sample.sampler=neighbor)" test accuracy)
after=$(measure "$(run all-telling "$work/nodes.yaml" --set sample.sampler=neighbor \
    --set ingest.path="$work/tells.csv")" test accuracy)
awk -v a="$before" -v b="$after" 'BEGIN { exit !(b > a + 0.02) }' ||
    fail "what is planted tells nothing: $before, then $after"

for workers in 2 5; do
    other=$(run "of-$workers" "$work/nodes.yaml" --workers $workers --threads 1 | json weights_hash)
    [ "$other" = "$hash" ] || fail "$workers workers give $other, one gave $hash"
    same_outputs one "of-$workers"
done
run little "$work/nodes.yaml" --memory 256M >/dev/null
same_outputs one little
for unit in "sample --evaluation" "infer --layer 1 --part 0" "infer --layer 2 --part 1" infer; do
    # shellcheck disable=SC2086
    said=$("$bin/graphmill" replay "$work/one" $unit) || fail "replay of $unit: $said"
    [[ $said == MATCH* ]] || fail "replay of $unit said $said"
done
echo 1 >"$work/ids"
expect 78 'the model samples by times, of which all nodes are' "$bin/graphmill" infer "$work/one" \
    --on "$work/nodes.yaml" --nodes "$work/ids"

# Layers that read more than the layer below, and bounds of the sampled neighbourhoods.
for model in appnp gat mlp; do
    run "$model" "$work/nodes.yaml" --set train-step.model=$model \
        --set sample.fanouts="$([ $model = mlp ] && echo '[]' || echo '[5, 5]')" --set epochs=1 \
        >/dev/null
done
run joined "$work/nodes.yaml" --set train-step.jumping_knowledge=cat --set epochs=1 \
    --set sample.evaluation_fanouts='[2, 2]' \
    --set train-step.embedding=4 >/dev/null
said=$("$bin/graphmill" replay "$work/joined" infer --layer 3 --part 2) || fail "replay: $said"
[[ $said == MATCH* ]] || fail "replay said $said"
