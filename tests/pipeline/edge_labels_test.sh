#!/usr/bin/env bash
# Classes and numbers of edges through every stage: split by time and by files, trained, replayed,
# inferred; the same bits for any workers and after kills; a future that reveals answers changes
# nothing; bad input.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
# Ratings that can be learned: whether a user rates an item well depends on a side that every node
# has.
edges() { # FUTURE: what ratings behind all others say
    awk -v future="$1" 'BEGIN { srand(7); n = 0
        print "src,dst,weight,time"
        for (i = 0; i < 2400; i++) {
            s = int(rand() * 90); t = int(rand() * 90)
            if (s == t) t = (t + 1) % 90
            sign = (s % 3 == 0) == (t % 3 == 0) ? 1 : -1
            print s "," t "," sign * (1 + i % 5) "," 1000 + i
            if (i >= 1680) { from[n] = t; to[n] = s; told[n++] = sign }
        }
        for (i = 0; i < n; i++) print from[i] "," to[i] "," (future == "tells" ? told[i] : 1) * 9 "," 90000 + i }'
}
edges silent >"$work/edges.csv"
edges tells >"$work/telling.csv"
cat >"$work/ratings.yaml" <<'YAML'
name: ratings
epochs: 4
ingest:
  format: edge_list
  path: edges.csv
  direction: as_given
  task: edge_classification
  edge_label: weight
  edge_label_form: sign
  edge_split: time 54/8/38
  features: random
  random_dim: 16
partition:
  parts: 3
sample:
  sampler: temporal_neighbor
  fanouts: [5, 5]
  batch_size: 200
  batches_per_round: 2
train-step:
  hidden: 16
  dropout: 0
  embedding: 16
  decoder: concat
  class_weights: balanced
checkpoint:
  metric: roc_auc
  keep: 0
YAML
answer=$(run one "$work/ratings.yaml" --workers 1)
hash=$(json weights_hash <<<"$answer")
for metric in accuracy roc_auc macro_f1 loss; do
    [ -n "$(measure "$answer" test $metric)" ] && [ -n "$(measure "$answer" valid $metric)" ] ||
        fail "no $metric in: $answer"
done
awk -v a="$(measure "$answer" valid roc_auc)" 'BEGIN { exit !(a >= 0.75 && a <= 1) }' ||
    fail "valid AUC is $answer"
[ "$(head -1 "$work/one/outputs/predictions.csv")" = \
    source,target,split,label,prediction,probability ] || fail "header of predictions.csv"
[ $(($(wc -l <"$work/one/outputs/predictions.csv") - 1)) \
    -eq $(($(measure "$answer" test edges) + $(measure "$answer" valid edges))) ] ||
    fail "lines of predictions.csv: $answer"
right=$(awk -F, '$3 == "valid" { n++; right += $4 == $5 } END { printf "%.6f", right / n }' \
    "$work/one/outputs/predictions.csv")
awk -v a="$right" -v b="$(measure "$answer" valid accuracy)" \
    'BEGIN { d = a - b; exit !(d < 1e-5 && d > -1e-5) }' ||
    fail "of the lines $right are right: $answer"
grep -aq decoder.lins.1.weight "$work/one/outputs/model.safetensors" ||
    fail "the model has no tensors of the decoder"
replay_each one ingest partition "sample --round 0 --slot 1" "sample --evaluation" \
    "train-step --round 2 --slot 0" \
    "train-step --evaluation" "aggregate --round 3" checkpoint "infer --layer 2 --part 1" infer
"$bin/graphmill" export "$work/one" --what step --round 3 --output "$work/step.safetensors" \
    >/dev/null
grep -aq pair_label <(head -c 8192 "$work/step.safetensors") ||
    fail "the exported step has no labels"
expect 78 'learns edge_classification, not links' "$bin/graphmill" predict links "$work/one" \
    --node 1

# Ratings later than all of training and validation change nothing in those; with a sampler that
# reads all edges, they do.
other=$(run telling "$work/ratings.yaml" --set ingest.path="$work/telling.csv" | json weights_hash)
[ "$other" = "$hash" ] || fail "ratings of the future move the weights"
for name in one telling; do grep -v '^[^,]*,[^,]*,test,' "$work/$name/outputs/predictions.csv" \
    >"$work/$name.valid"; done
cmp -s "$work/one.valid" "$work/telling.valid" || fail "ratings of the future move predictions"
blind=(--set sample.sampler=neighbor --set ingest.edge_split="random 54/8/38" --set epochs=1)
a=$(run any "$work/ratings.yaml" "${blind[@]}" | json weights_hash)
b=$(run any-telling "$work/ratings.yaml" "${blind[@]}" --set ingest.path="$work/telling.csv" |
    json weights_hash)
[ "$a" != "$b" ] || fail "a sampler that looks at all edges does not see what is planted"

# Workers, little memory, kills.
for workers in 2 5; do
    other=$(run "of-$workers" "$work/ratings.yaml" --workers $workers --threads 1 |
        json weights_hash)
    [ "$other" = "$hash" ] || fail "$workers workers give $other, one gave $hash"
    same_outputs one "of-$workers"
done
run little "$work/ratings.yaml" --memory 256M >/dev/null
same_outputs one little
for pause in 1 2; do
    "$bin/graphmill" run "$work/ratings.yaml" --directory "$work/killed" --quiet >/dev/null 2>&1 &
    driver=$!
    started+=("$driver")
    sleep "$pause"
    kill -9 "$driver" 2>/dev/null || true
    wait "$driver" 2>/dev/null || true
done
other=$(run killed "$work/ratings.yaml" | json weights_hash)
[ "$other" = "$hash" ] || fail "a run that was killed gives $other, expected $hash"
same_outputs one killed

# Numbers, in an undirected graph, split by files; each decoder.
awk -F, 'NR > 1 && NR <= 600 { a = $1 < $2 ? $1 : $2; b = $1 < $2 ? $2 : $1; if (!seen[a "," b]++) print "n" a "\tn" b "\t" $3 / 5 "\t" NR % 7 }' \
    "$work/edges.csv" | { printf 'source\ttarget\trating\tlabel\n'; cat; } >"$work/pairs.tsv"
awk 'NR > 1 && NR % 5 == 0 { print $1 "," $2 }' "$work/pairs.tsv" >"$work/test.csv"
awk 'NR > 1 && NR % 5 == 1 { print $2 "," $1 }' "$work/pairs.tsv" >"$work/valid.csv"
cat >"$work/numbers.yaml" <<'YAML'
name: numbers
epochs: 3
ingest:
  format: edge_list
  path: pairs.tsv
  direction: undirected
  task: edge_regression
  edge_label: rating
  edge_split: given
  valid_edges: valid.csv
  test_edges: test.csv
  features: degree
sample:
  fanouts: [5]
  batch_size: 64
train-step:
  hidden: 8
  loss: huber
checkpoint:
  keep: 0
YAML
answer=$(run numbers "$work/numbers.yaml")
for metric in rmse mae r2 loss; do [ -n "$(measure "$answer" test $metric)" ] ||
    fail "no $metric in: $answer"; done
[ "$(measure "$answer" test edges)" = "$(wc -l <"$work/test.csv")" ] &&
    [ "$(measure "$answer" valid edges)" = "$(wc -l <"$work/valid.csv")" ] ||
    fail "held out are not those of the files: $answer"
# Each line has the label of its edge, with ids of the input.
awk -F'[,\t]' 'NR == FNR { label[$1 "," $2] = label[$2 "," $1] = $3; next }
    FNR > 1 && ($4 - label[$1 "," $2]) ^ 2 > 1e-9 { exit 1 }' "$work/pairs.tsv" \
        "$work/numbers/outputs/predictions.csv" ||
    fail "labels of predictions.csv are not those of the edges"
replay_each numbers "sample --round 0 --slot 0" "train-step --round 1 --slot 0" infer
for decoder in bilinear distmult mlp concat; do
    run "classes-$decoder" "$work/numbers.yaml" --set ingest.task=edge_classification \
        --set ingest.edge_label=label \
        --set train-step.loss=auto --set train-step.decoder=$decoder \
        --set sample.exclude_edges=edges --set epochs=1 >"$work/said"
    grep -q '"classes":7' "$work/said" || fail "$decoder: $(cat "$work/said")"
    replay_each "classes-$decoder" "train-step --round 1 --slot 0"
done

# Errors are named before anything is partitioned.
bad() { # PATTERN STATUS [settings]
    local pattern=$1 status=$2
    shift 2
    expect "$status" "$pattern" run bad "$work/numbers.yaml" "$@"
    [ ! -e "$work/bad/store/partition" ] || fail "$pattern: something was partitioned"
}
classes=(--set ingest.task=edge_classification --set train-step.loss=auto \
    --set train-step.decoder=concat)
bad "pairs.tsv: the edges have no column 'stars', which ingest.edge_label names" 65 \
    --set ingest.edge_label=stars
bad "ingest.edge_label is 'time', the column of edge times" 78 --set ingest.edge_label=time
bad 'pairs.tsv:[0-9]*: label: expected a class from 0 to 1048575, or -1 for none, found' 65 \
    "${classes[@]}"
sed '4s/[0-9]$/-1/' "$work/pairs.tsv" >"$work/none.tsv"
bad 'none.tsv:4: the label is -1: expected a class' 65 "${classes[@]}" \
    --set ingest.edge_label=label --set ingest.path="$work/none.tsv"
sed '3s/\t[-.0-9]*\t/\t0\t/' "$work/pairs.tsv" >"$work/zero.tsv"
bad 'zero.tsv:3: the rating is 0, which has no sign' 65 "${classes[@]}" \
    --set ingest.edge_label_form=sign --set ingest.path="$work/zero.tsv"
printf 'n1,n1\n' >"$work/unknown.csv"
bad 'unknown.csv:1: no edge leads from .n1. to .n1.' 65 --set ingest.test_edges="$work/unknown.csv"
bad 'train-step.decoder is dot, which has one score' 78 "${classes[@]}" --set train-step.decoder=dot
bad 'temporal_neighbor, but ingest.edge_split is .given., so that held-out edges' 78 \
    --set sample.sampler=temporal_neighbor
bad 'edge_label_form is sign, which makes two classes' 78 --set ingest.edge_label_form=sign
bad 'does not leave out the edges that are learnt' 78 --set sample.sampler=ladies
bad 'edges of a generated graph have no labels' 78 --set ingest.format=generated \
    --set ingest.edge_split='random 80/10/10' --set ingest.valid_edges= --set ingest.test_edges=
