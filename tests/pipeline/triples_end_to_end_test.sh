#!/usr/bin/env bash
# Link prediction by edge type, as in a knowledge graph: learnable embeddings and DistMult alone,
# both ends corrupted and ranked; the same bits for any workers and after a kill, replayed; and bad
# input.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
mkdir "$work/kg"
# Nodes in 6 groups of 50; relation r joins groups whose numbers add up to r, modulo 6: DistMult's
# scores are symmetric.
awk 'BEGIN { srand(5); print "src,dst,etype"
    while (n < 4000) { s = int(rand() * 300); r = int(rand() * 4); t = (6 + r - s % 6) % 6 + 6 * int(rand() * 50)
        if (s != t && !((s, t, r) in seen)) { seen[s, t, r] = 1; n++; print s "," t "," r } } }' \
            >"$work/kg/all.csv"
{ head -1 "$work/kg/all.csv"; sed -n 2,200p "$work/kg/all.csv"; } >"$work/kg/valid-edges.csv"
{ head -1 "$work/kg/all.csv"; sed -n 201,500p "$work/kg/all.csv"; } >"$work/kg/test-edges.csv"
{ head -1 "$work/kg/all.csv"; sed -n '501,$p' "$work/kg/all.csv"; } >"$work/kg/edges.csv"
rm "$work/kg/all.csv"
printf '{"num_nodes": 300, "directed": true}' >"$work/kg/meta.json"
cat >"$work/kg.yaml" <<'YAML'
name: kg
epochs: 24
ingest:
  format: folder
  path: kg
  direction: as_given
  features: degree
  task: link_prediction
  edge_split: given
  valid_edges: kg/valid-edges.csv
  test_edges: kg/test-edges.csv
partition:
  parts: 3
sample:
  fanouts: []
  batch_size: 256
  batches_per_round: 2
  negatives: 32
  negative: shared
  corrupt: both
  evaluation_negatives: 200
train-step:
  model: identity
  features: false
  embedding: 16
  hidden: 16
  decoder: distmult
  link_loss: softmax
aggregate:
  learning_rate: 0.05
  embedding_rate: 0.05
checkpoint:
  metric: mrr
  keep: 0
infer:
  ranking: all
  ranked_end: both
YAML
answer=$(run one "$work/kg.yaml")
hash=$(json weights_hash <<<"$answer")
[ ${#hash} -eq 32 ] || fail "no hash of the weights in: $answer"
[ -z "$(json unused <<<"$answer")" ] || fail "edge types are said to be unused: $answer"
# 50 nodes are as good as the right one: (1 + 1/2 + ... + 1/50) / 50 = 0.09 is the best possible;
# chance gives 0.02.
mrr=$(measure "$answer" test mrr)
awk -v a="$mrr" 'BEGIN { exit !(a >= 0.03 && a <= 1) }' || fail "test MRR is $mrr: $answer"
! command -v python3 >/dev/null ||
    python3 "$source_folder/tests/pipeline/link_checks.py" triples "$work/one/outputs" "$work/kg" \
    2>"$work/stderr" || fail "$(tail -1 "$work/stderr")"
awk -F, 'NR > 1 && $4 == "test" { n += 2; sum += 1 / $6 + 1 / $7 } END { printf "%.6f\n", sum / n }' "$work/one/outputs/predictions.csv" >"$work/mrr"
awk -v a="$(cat "$work/mrr")" -v b="$mrr" 'BEGIN { d = a - b; exit !(d < 1e-5 && d > -1e-5) }' ||
    fail "MRR of the lines is $(cat "$work/mrr"), of the metrics $mrr"

for unit in "ingest" "partition" "sample --round 3 --slot 1" "sample --evaluation" \
    "train-step --round 5 --slot 0" \
    "train-step --evaluation" "aggregate --round 3" "checkpoint" "infer --layer 1 --part 1" \
    "infer"; do
    # shellcheck disable=SC2086
    replays one $unit
done
other=$(run five "$work/kg.yaml" --workers 5 --threads 2 | json weights_hash)
[ "$other" = "$hash" ] || fail "five workers give $other, one gave $hash"
same_outputs one five
run little "$work/kg.yaml" --memory 256M >/dev/null
same_outputs one little
"$bin/graphmill" run "$work/kg.yaml" --directory "$work/killed" --quiet >/dev/null 2>&1 &
driver=$!
started+=("$driver")
sleep 2
kill -9 "$driver" 2>/dev/null || true
wait "$driver" 2>/dev/null || true
other=$(run killed "$work/kg.yaml" | json weights_hash)
[ "$other" = "$hash" ] || fail "a run that was killed gives $other, expected $hash"
same_outputs one killed

# Every decoder accepts pairs with corrupted sources; those without embeddings of relations say that
# types are not used.
for decoder in dot bilinear mlp; do
    answer=$(run "$decoder" "$work/kg.yaml" --set train-step.decoder="$decoder" \
        --set sample.corrupt=source --set infer.ranked_end=source)
    [ "$(json unused <<<"$answer")" = "4 edge types" ] || fail "$decoder: $answer"
    [ "$(head -1 "$work/$decoder/outputs/predictions.csv")" = \
        source,target,type,split,score,rank,source_rank ] || fail "header of $decoder"
done

bad() { # PATTERN FILE
    expect 65 "$1" run bad "$work/kg.yaml" --set ingest.test_edges="$2"
    [ ! -e "$work/bad/store/partition" ] || fail "$1: something was partitioned"
}
printf 'src,dst,etype\n1,2\n' >"$work/short.csv"
bad "short.csv:2: nothing after source and target: expected the type of the edge, by its name or from 0 to 3" "$work/short.csv"
printf '1,2,7\n' >"$work/large.csv"
bad "large.csv:1: '7' after source and target: expected the type" "$work/large.csv"
sed -n 1,2p "$work/kg/edges.csv" >"$work/leak.csv"
bad "leak.csv:2: the edge between .* is also a training edge" "$work/leak.csv"
# Pairs of walks have the type of the edge at which the walk begins.
walks() { run "walks-$1" "$work/kg.yaml" --set epochs=1 --set sample.pairs=walks --workers "$1" | json weights_hash; }
hash=$(walks 1)
[ ${#hash} -eq 32 ] && [ "$(walks 3)" = "$hash" ] || fail "walks: three workers give other weights than $hash"
[ "$(run edges "$work/kg.yaml" --set epochs=1 | json weights_hash)" != "$hash" ] || fail "walks give the weights of edges"
