#!/usr/bin/env bash
# Link prediction through every stage: split, trained, replayed, inferred; the same bits for any
# workers and after kills; bad input.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cat >"$work/links.yaml" <<'YAML'
name: links
epochs: 3
ingest:
  format: generated
  nodes: 800
  average_degree: 16
  task: link_prediction
  edge_split: random 80/10/10
partition:
  parts: 3
sample:
  fanouts: [5, 5]
  batch_size: 256
  batches_per_round: 2
train-step:
  hidden: 16
  dropout: 0
checkpoint:
  metric: roc_auc
  keep: 0
YAML
answer=$(run one "$work/links.yaml" --set infer.ranking=all)
hash=$(json weights_hash <<<"$answer")
[ ${#hash} -eq 32 ] || fail "no hash of the weights in: $answer"
auc=$(measure "$answer" test roc_auc)
awk -v a="$auc" 'BEGIN { exit !(a >= 0.75 && a <= 1) }' || fail "test AUC is $auc: $answer"
for metric in average_precision mrr hits_1 hits_3 hits_10 loss; do
    [ -n "$(measure "$answer" test $metric)" ] && [ -n "$(measure "$answer" valid $metric)" ] ||
        fail "no $metric in: $answer"
done
[ "$(head -1 "$work/one/outputs/predictions.csv")" = source,target,split,score,rank ] ||
    fail "header of predictions.csv"
lines=$(($(wc -l <"$work/one/outputs/predictions.csv") - 1))
pairs=$(($(measure "$answer" test pairs) + $(measure "$answer" valid pairs)))
[ $pairs -eq $((2 * lines)) ] || fail "$lines held-out edges, $pairs pairs with one negative each"

# AUC and MRR computed again, from the lines and the embeddings alone.
awk -F, 'NR > 1 && $3 == "test" { n++; sum += 1 / $5 } END { printf "%.6f\n", sum / n }' \
    "$work/one/outputs/predictions.csv" >"$work/mrr"
awk -v a="$(cat "$work/mrr")" -v b="$(measure "$answer" test mrr)" \
    'BEGIN { d = a - b; exit !(d < 1e-5 && d > -1e-5) }' ||
    fail "MRR of the lines is $(cat "$work/mrr"), of the metrics $(measure "$answer" test mrr)"

for unit in "ingest" "partition" "sample --round 0 --slot 1" "sample --evaluation" \
    "train-step --round 5 --slot 0" \
    "train-step --evaluation" "aggregate --round 3" "checkpoint" "infer --layer 2 --part 1" \
    "infer"; do
    # shellcheck disable=SC2086
    replays one $unit
done

"$bin/graphmill" export "$work/one" --what step --round 5 --output "$work/step.safetensors" \
    >/dev/null
for name in pair_source pair_target; do
    grep -aq "$name" <(head -c 8192 "$work/step.safetensors") ||
        fail "the exported step has no $name"
done

# Little memory makes small blocks of edges, and the same outputs.
run little "$work/links.yaml" --set infer.ranking=all --memory 192M >/dev/null
same_outputs one little

# Two workers, one thread each; and a run that is killed twice.
other=$(run two "$work/links.yaml" --set infer.ranking=all --workers 2 --threads 1 |
    json weights_hash)
[ "$other" = "$hash" ] || fail "two workers give $other, one gave $hash"
same_outputs one two
for pause in 1.2 2.2; do
    "$bin/graphmill" run "$work/links.yaml" --directory "$work/killed" \
        --quiet --set infer.ranking=all >/dev/null 2>&1 &
    driver=$!
    started+=("$driver")
    sleep "$pause"
    kill -9 "$driver" 2>/dev/null || true
    wait "$driver" 2>/dev/null || true
done
other=$(run killed "$work/links.yaml" --set infer.ranking=all | json weights_hash)
[ "$other" = "$hash" ] || fail "a run that was killed gives $other, expected $hash"
same_outputs one killed

# Every decoder, loss and kind of negative trains, and its model has the decoder's tensors.
kinds=("dot bce uniform" "cosine margin degree" "distmult softmax in_batch" "bilinear bce shared" \
    "mlp bce uniform")
declare -A tensor=([distmult]=decoder.rel_emb.weight [bilinear]=decoder.bias \
    [mlp]=decoder.lins.1.weight)
for kind in "${kinds[@]}"; do
    read -r decoder loss negative <<<"$kind"
    answer=$(run "$decoder" "$work/links.yaml" --set train-step.decoder="$decoder" \
        --set train-step.link_loss="$loss" \
        --set sample.negative="$negative" --set sample.negatives=3 --set infer.candidates=50)
    awk -v a="$(measure "$answer" test roc_auc)" 'BEGIN { exit !(a > 0.5 && a <= 1) }' ||
        fail "$kind: $answer"
    [ -z "${tensor[$decoder]:-}" ] ||
        grep -aq "${tensor[$decoder]}" "$work/$decoder/outputs/model.safetensors" ||
        fail "the model of $decoder has no ${tensor[$decoder]}"
    replays "$decoder" train-step --round 3 --slot 1
done

# Pairs of random walks: embeddings of an undirected graph learned without its edges as examples;
# the same for any workers.
walks=(--set sample.pairs=walks --set sample.pair_walk_length=3 --set sample.negatives=4 \
    --set sample.negative=degree)
answer=$(run walks "$work/links.yaml" "${walks[@]}")
awk -v a="$(measure "$answer" test roc_auc)" 'BEGIN { exit !(a > 0.6 && a <= 1) }' ||
    fail "walks: $answer"
other=$(run walks-three "$work/links.yaml" "${walks[@]}" --workers 3 | json weights_hash)
[ "$other" = "$(json weights_hash <<<"$answer")" ] ||
    fail "walks: three workers give $other: $answer"
[ "$other" != "$hash" ] || fail "walks give the weights of edges"
replays walks sample --round 3 --slot 1
other=$(run node2vec "$work/links.yaml" "${walks[@]}" --set sample.walk_q=4 | json weights_hash)
[ "$other" != "$(json weights_hash <<<"$answer")" ] || fail "walk_q changes nothing"

# Loss, gradients and ranks computed in another way.
check() { ! command -v python3 >/dev/null ||
    python3 "$source_folder/tests/pipeline/link_checks.py" "$@" 2>"$work/stderr" ||
    fail "$(tail -1 "$work/stderr")"; }
"$bin/graphmill" export "$work/bilinear" --what step --round 3 --slot 1 \
    --output "$work/bilinear.safetensors" >/dev/null
check step "$work/bilinear.safetensors"
run plain "$work/links.yaml" --set infer.ranking=all --set infer.filtered=false >/dev/null
check ranks "$work/plain/outputs"
awk -F, 'NR == FNR { rank[$1 "," $2] = $5; next } FNR > 1 && $5 > rank[$1 "," $2] { exit 1 }' \
    "$work/plain/outputs/predictions.csv" \
    "$work/one/outputs/predictions.csv" || fail "a filtered rank is above that of all nodes"

# An edge list with its own ids, split by files; errors are named before anything is partitioned.
awk 'BEGIN { for (i = 0; i < 60; i++) for (k = 1; k <= 4; k++) print "n" i " n" (i + k) % 60 }' \
    >"$work/edges.txt"
printf 'source,target\nn3,n30\nn40,n4\n' >"$work/test.csv"
printf 'n5,n31\n' >"$work/valid.csv"
cat >"$work/given.yaml" <<'YAML'
name: given
epochs: 1
ingest:
  format: edge_list
  path: edges.txt
  direction: undirected
  task: link_prediction
  edge_split: given
  valid_edges: valid.csv
  test_edges: test.csv
sample:
  fanouts: [-1]
train-step:
  hidden: 8
YAML
answer=$(run given "$work/given.yaml")
[ "$(cut -d, -f1-3 "$work/given/outputs/predictions.csv" | tail -3 | xargs)" = \
    "n5,n31,valid n3,n30,test n40,n4,test" ] ||
    fail "predictions: $(cat "$work/given/outputs/predictions.csv")"
bad() { # PATTERN STATUS [settings]
    local pattern=$1 status=$2
    shift 2
    expect "$status" "$pattern" run bad "$work/given.yaml" "$@"
    [ ! -e "$work/bad/store/partition" ] || fail "$pattern: something was partitioned"
}
printf 'n3,n30\nn3,n4\n' >"$work/leak.csv"
bad 'leak.csv:2: the edge between .n3. and .n4. is also a training edge|leak.csv:2: the edge between n3 and n4 is also a training edge' 65 --set ingest.test_edges="$work/leak.csv"
printf 'n3,n99\n' >"$work/unknown.csv"
bad "unknown.csv:1: node 'n99' is in no other file" 65 --set ingest.test_edges="$work/unknown.csv"
bad 'edges have no times' 65 --set ingest.edge_split='time 80/10/10' --set ingest.test_edges= \
    --set ingest.valid_edges=
bad 'names a file: write' 78 --set ingest.edge_split='random 80/10/10'
bad "ingest.edge_split is 'mostly'" 78 --set ingest.edge_split=mostly
bad 'sample.negatives is 60, expected fewer than nodes' 78 --set sample.negatives=60
bad 'sample.negatives is 40, expected at most 15' 78 --set sample.negatives=40 \
    --set sample.negative=in_batch --set sample.batch_size=16
bad 'filter_negatives is true' 78 --set sample.filter_negatives=true --set sample.negative=shared
bad 'the loss of link_prediction is train-step.link_loss' 78 --set train-step.loss=l2
