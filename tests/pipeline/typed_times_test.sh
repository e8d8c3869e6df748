#!/usr/bin/env bash
# Classes of nodes of a graph with relations, each node at its own time, in training, validation and
# inference: nodes of the future that reveal the answer change no byte; the same bits for any
# workers, and under replay.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
# 240 papers of three classes cite their own kind and have one of 60 authors, up to time 500. Later
# each gets a sign, a node of its own, whose features show the class of the paper if the future
# reveals it, or any class.
graph() { # tells | silent
    local folder=$work/$1
    mkdir "$folder"
    echo '{"num_nodes": 540, "directed": true, "num_classes": 3}' >"$folder/meta.json"
    printf 'name,first_id,count\nauthor,0,60\npaper,60,240\nsign,300,240\n' \
        >"$folder/node-types.csv"
    printf 'id,name,source,target\n0,writes,author,paper\n1,cites,paper,paper\n2,points,sign,paper\n' >"$folder/edge-types.csv"
    awk 'BEGIN { srand(11)
        print "src,dst,etype,time"
        for (i = 0; i < 240; i++) {
            print (rand() < 0.6 ? int(rand() * 20) * 3 + i % 3 : int(rand() * 60)) "," 60 + i ",0," int(rand() * 500)
            for (k = 0; k < 3; k++) {
                j = rand() < 0.6 ? int(rand() * 80) * 3 + i % 3 : int(rand() * 240)
                if (j != i) print 60 + j "," 60 + i ",1," int(rand() * 500)
            }
        }
        for (i = 0; i < 240; i++) print 300 + i "," 60 + i ",2," 1000 + i }' >"$folder/edges.csv"
    awk 'BEGIN { for (v = 0; v < 540; v++) print (v >= 60 && v < 300 ? v % 3 : -1) }' \
        >"$folder/node-label.csv"
    awk 'BEGIN { for (v = 60; v < 300; v++) if (v % 10 < 5) print v }' >"$folder/train.csv"
    awk 'BEGIN { for (v = 60; v < 300; v++) if (v % 10 > 4 && v % 10 < 7) print v }' \
        >"$folder/valid.csv"
    awk 'BEGIN { for (v = 60; v < 300; v++) if (v % 10 > 6) print v }' >"$folder/test.csv"
    python3 - "$folder" "$1" <<'PY'
import random, struct, sys
random.seed(5)
for name, rows in (("author", 60), ("paper", 240), ("sign", 240)):
    big = 9.0 if name == "sign" else 0.4
    told = 1 if name != "sign" or sys.argv[2] == "tells" else 3
    values = [big * (c == v // told % 3) + random.random() - 0.5 for v in range(rows) for c in range(4)]
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, 4), }}".ljust(117) + "\n"
    open(f"{sys.argv[1]}/{name}-feat.npy", "wb").write(
        b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}f", *values))
PY
}
graph silent
graph tells
cat >"$work/nodes.yaml" <<'YAML'
name: nodes
epochs: 6
ingest:
  path: silent
  relations: true
  add_reverse: true
partition:
  parts: 3
sample:
  sampler: temporal_neighbor
  seed_time: first_edge
  fanouts: [5, 5]
  relation_fanouts: "writes: 3,2"
  batch_size: 50
train-step:
  model: rgcn
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

answer=$(run telling "$work/nodes.yaml" --set ingest.path="$work/tells")
[ "$(json weights_hash <<<"$answer")" = "$hash" ] || fail "the future moves the weights"
same_outputs one telling
# A sampler that reads all edges gains by the future.
before=$(measure "$(run all "$work/nodes.yaml" --set sample.sampler=neighbor)" test accuracy)
after=$(measure "$(run all-telling "$work/nodes.yaml" --set sample.sampler=neighbor \
    --set ingest.path="$work/tells")" test accuracy)
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

# Attention, learnable embeddings, the last edges at each hop, and layers that divide by the degrees
# of both ends.
for settings in 'train-step.model=hgt train-step.heads=2' \
    'train-step.model=gat sample.temporal_strategy=last' \
    'train-step.embedding=4 sample.evaluation_fanouts=[2,2]' 'train-step.model=gcn' \
    'train-step.jumping_knowledge=cat'; do
    set=()
    for setting in $settings; do set+=(--set "$setting"); done
    silent=$(run kind "$work/nodes.yaml" --set epochs=2 "${set[@]}" | json weights_hash)
    telling=$(run kind-telling "$work/nodes.yaml" --set epochs=2 "${set[@]}" \
        --set ingest.path="$work/tells" | json weights_hash)
    [ ${#silent} -eq 32 ] && [ "$silent" = "$telling" ] ||
        fail "$settings: $silent, and with another future $telling"
    same_outputs kind kind-telling
    for unit in train-step "infer --layer 1 --part 2"; do
        # shellcheck disable=SC2086
        said=$("$bin/graphmill" replay "$work/kind" $unit 2>&1) ||
            fail "replay of $unit with $settings: $said"
        [[ $said == *MATCH* ]] || fail "replay of $unit with $settings: $said"
    done
    rm -rf "$work/kind" "$work/kind-telling"
done
