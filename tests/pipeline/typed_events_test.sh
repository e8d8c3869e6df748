#!/usr/bin/env bash
# Events of a graph with relations, each at its own time: one type and one relation give the bytes of a plain graph; two ways to
# compute an event agree for every kind of layer; edges of the future that give the answer away move no score; the same bits for any
# workers and under replay.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
features() { # FILE ROWS COLUMNS EXPRESSION of v and c
    python3 - "$@" <<'PY'
import random, struct, sys
random.seed(5)
rows, columns = int(sys.argv[2]), int(sys.argv[3])
values = [eval(sys.argv[4]) + random.random() - 0.5 for v in range(rows) for c in range(columns)]
head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}".ljust(117) + "\n"
open(sys.argv[1], "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}f", *values))
PY
}
same_outputs() { # NAME OTHER
    local file
    for file in predictions.csv embeddings.npy; do
        cmp -s "$work/$1/outputs/$file" "$work/$2/outputs/$file" || fail "$2 has another $file than $1"
    done
}

# --- one type and one relation: the plain graph ---
for kind in plain typed; do
    mkdir "$work/$kind"
    echo '{"num_nodes": 48, "directed": true}' >"$work/$kind/meta.json"
    awk -v kind=$kind 'BEGIN { srand(9)
        print "src,dst,weight,time" (kind == "typed" ? ",etype" : "")
        for (i = 0; i < 500; i++) {
            split_of = i < 300 ? 0 : i < 375 ? 1 : 2
            do { s = int(rand() * 48); t = rand() < 0.7 ? int(rand() * 12) * 4 + s % 4 : int(rand() * 48) } while (s == t || (split_of, s, t) in held)
            if (split_of) held[split_of, s, t] = 1
            print s "," t "," 0.25 + int(rand() * 8) / 4 "," 1000 + int(i / 2) (kind == "typed" ? ",0" : "")
        } }' >"$work/$kind/edges.csv"
    features "$work/$kind/node-feat.npy" 48 6 '(c == v % 4)'
done
printf 'name,first_id,count\nnode,0,48\n' >"$work/typed/node-types.csv"
printf 'id,name,source,target\n0,to,node,node\n' >"$work/typed/edge-types.csv"
settings() { # KIND
    printf 'name: events\nepochs: 2\ningest:\n  path: %s\n  direction: as_given\n  task: link_prediction\n  edge_split: time 60/15/25\n' "$1"
    [ "$1" = plain ] || printf '  relations: true\n'
    cat <<'YAML'
partition:
  parts: 3
sample:
  sampler: temporal_neighbor
  fanouts: [5, 5]
  batch_size: 64
  batches_per_round: 2
train-step:
  hidden: 12
  dropout: 0
  decoder: dot
checkpoint:
  keep: 0
infer:
  weights: last
  ranking: all
  ranked_end: both
YAML
}
settings plain >"$work/plain.yaml"
settings typed >"$work/typed.yaml"
for options in "" "train-step.edge_weights=true ingest.direction=undirected" "infer.history=training" "train-step.model=graph_conv sample.negative=in_batch"; do
    set=()
    for option in $options; do set+=(--set "$option"); done
    plain=$(run one-plain "$work/plain.yaml" "${set[@]}")
    typed=$(run one-typed "$work/typed.yaml" --set train-step.projection=none "${set[@]}")
    [ "$(json weights_hash <<<"$plain")" = "$(json weights_hash <<<"$typed")" ] || fail "'$options': one relation has other weights than none"
    cmp -s "$work/one-plain/outputs/predictions.csv" <(cut -d, -f1,2,4- "$work/one-typed/outputs/predictions.csv") ||
        fail "'$options': one relation has other scores or ranks than none"
    for metric in valid_loss edgebank_roc_auc edgebank_window_average_precision; do
        cmp -s <(grep -ho "\"$metric\":[^,}]*" "$work"/one-plain/{metrics.jsonl,outputs/metrics.json}) \
            <(grep -ho "\"$metric\":[^,}]*" "$work"/one-typed/{metrics.jsonl,outputs/metrics.json}) || fail "'$options': another $metric"
        grep -qh "\"$metric\"" "$work"/one-plain/{metrics.jsonl,outputs/metrics.json} || fail "'$options': no $metric"
    done
    rm -rf "$work/one-plain" "$work/one-typed"
done

# --- several types and relations ---
# 60 people buy some of 40 things and rate each other up to time 600. Later each of 60 signs points at a person: where the future
# tells, the sign's features and its time give away what the person buys.
shop() { # tells | silent | labelled
    local folder=$work/$1
    mkdir "$folder"
    echo '{"num_nodes": 160, "directed": true}' >"$folder/meta.json"
    printf 'name,first_id,count\nperson,0,60\nsign,60,60\nthing,120,40\n' >"$folder/node-types.csv"
    printf 'id,name,source,target\n0,buys,person,thing\n1,trusts,person,person\n2,points,sign,person\n' >"$folder/edge-types.csv"
    awk -v kind="$1" 'BEGIN { srand(11)
        label = kind == "labelled" ? "label," : ""
        print "src,dst," label "weight,etype,time"
        for (i = 0; i < 420; i++) {
            do {
                s = int(rand() * 60)
                r = rand() < 0.4
                t = r ? int(rand() * 60) : 120 + (rand() < 0.7 ? int(rand() * 10) * 4 + s % 4 : int(rand() * 40))
            } while (s == t || (r, s, t) in seen)
            seen[r, s, t] = 1
            print s "," t "," (label ? (s + t) % 3 "," : "") 0.25 + int(rand() * 8) / 4 "," r "," int(i / 2) * 3
        }
        for (i = 0; i < 60; i++) print 60 + i "," (kind == "tells" ? i : (i * 7 + 3) % 60) "," (label ? "0," : "") "1,2," 1000 + i }' >"$folder/edges.csv"
    features "$folder/person-feat.npy" 60 5 '(c == v % 4)'
    features "$folder/thing-feat.npy" 40 4 '(c == v % 4)'
    features "$folder/sign-feat.npy" 60 4 "9.0 * (c == ($([ "$1" = tells ] && echo 0 || echo 1) + v) % 4)"
}
shop silent
shop tells
shop labelled
cat >"$work/shop.yaml" <<'YAML'
name: shop
epochs: 3
ingest:
  path: silent
  relations: true
  add_reverse: true
  task: link_prediction
  edge_split: time 50/20/30
partition:
  parts: 3
sample:
  sampler: temporal_neighbor
  fanouts: [4, 4]
  relation_fanouts: "trusts: 3,2"
  batch_size: 40
  batches_per_round: 2
  negatives: 2
  evaluation_negatives: 2
  corrupt: both
train-step:
  model: rgcn
  hidden: 12
  dropout: 0
  decoder: distmult
aggregate:
  weight_decay: 0
checkpoint:
  keep: 0
infer:
  weights: last
  ranking: all
  ranked_end: both
YAML
answer=$(run one "$work/shop.yaml" --workers 1)
hash=$(json weights_hash <<<"$answer")
[ ${#hash} -eq 32 ] || fail "no hash of the weights in: $answer"
grep -q '"history":"all"' "$work/one/outputs/metrics.json" || fail "events of relations have no history"

# Signs are the last of the test events. Whoever they point at, and whatever they look like, no event before them has another score or
# rank.
[ "$(run telling "$work/shop.yaml" --set ingest.path="$work/tells" | json weights_hash)" = "$hash" ] || fail "the future moves the weights"
before_signs() { awk -F, 'NR == 1 || $3 != 2' "$work/$1/outputs/predictions.csv"; }
[ "$(before_signs one | wc -l)" -gt 150 ] || fail "few events: $(before_signs one | wc -l)"
cmp -s <(before_signs one) <(before_signs telling) || fail "the future moves scores of events before it"
! cmp -s "$work/one/outputs/predictions.csv" "$work/telling/outputs/predictions.csv" || fail "what is planted is not there"
# The events of training alone are another history, with other scores.
run frozen "$work/shop.yaml" --set infer.history=training >/dev/null
! cmp -s <(before_signs one) <(before_signs frozen) || fail "the history has no effect on scores"

for workers in 2 5; do
    [ "$(run "of-$workers" "$work/shop.yaml" --workers $workers --threads 1 | json weights_hash)" = "$hash" ] || fail "$workers workers give other weights"
    same_outputs one "of-$workers"
done
for unit in ingest "sample --round 1 --slot 1" "sample --evaluation" "train-step --round 1 --slot 0" "train-step --evaluation" infer; do
    # shellcheck disable=SC2086
    said=$("$bin/graphmill" replay "$work/one" $unit) || fail "replay of $unit: $said"
    [[ $said == MATCH* ]] || fail "replay of $unit said $said"
done

# Labelled events have no drawn pairs, so validation in training and inference measure the same, by two ways of computing it.
agrees() { # NAME options
    local answer in_training
    answer=$(run "$1" "$work/shop.yaml" --set ingest.path="$work/labelled" --set ingest.task=edge_classification --set ingest.edge_label=label --set train-step.decoder=concat \
        --set infer.ranking=none --set epochs=2 --set sample.corrupt=target "${@:2}")
    in_training=$(grep -o '"valid_loss":[^,]*' "$work/$1/metrics.jsonl" | tail -1 | cut -d: -f2)
    awk -v a="$in_training" -v b="$(measure "$answer" valid loss)" 'BEGIN { d = a - b; exit !(a > 0 && d < 1e-5 && d > -1e-5) }' ||
        fail "$1: validation says $in_training: $answer"
    rm -rf "${work:?}/$1"
}
agrees rgcn
awk 'BEGIN { for (v = 0; v < 160; v += 2) print v "," v * 37 % 700 }' >"$work/times.csv"
agrees appearing --set ingest.node_times="$work/times.csv"
agrees appearing-gcn --set train-step.model=gcn --set ingest.node_times="$work/times.csv"
agrees weighted --set train-step.model=graph_conv --set train-step.edge_weights=true --set train-step.embedding=8
agrees gcn --set train-step.model=gcn
agrees appnp --set 'train-step.layers=[{kind: sage}, {kind: appnp}]'
agrees gat --set train-step.model=gat --set train-step.heads=4 --set train-step.jumping_knowledge=cat
agrees rgat --set train-step.model=rgat --set train-step.heads=4
agrees hgt --set train-step.model=hgt --set train-step.heads=4
agrees mixed --set 'train-step.layers=[{kind: mlp}, {kind: sage, norm: batch}, {kind: gin}]' --set train-step.projection=linear

expect 78 "temporal_neighbor, but ingest.edge_split is 'random 80/10/10', so that held-out edges" \
    run bad "$work/shop.yaml" --set ingest.edge_split='random 80/10/10'
