#!/usr/bin/env bash
# Links, each at its own time, in training, validation and test: edges of the future that reveal the
# answers change no weight, no score and no rank; the same bits for any workers and under replay;
# bad settings.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
# 2000 edges at different times, mostly among nodes of a kind, and after all of them 900: in the
# revealing future the reverses of held-out edges, in the silent one others.
edges() { # tells | silent
    awk -v future="$1" 'BEGIN { srand(3)
        print "src,dst,time"
        for (i = 0; i < 2000; i++) {
            s = int(rand() * 120); t = rand() < 0.8 ? int(rand() * 30) * 4 + s % 4 : int(rand() * 120)
            if (s == t) t = (t + 4) % 120
            print s "," t "," 1000 + i
            from[i] = t; to[i] = s
        }
        for (i = 0; i < 900; i++) {
            at = future == "tells" ? 1100 + i : i
            print from[at] "," to[at] "," 90000 + i
        } }'
}
edges silent >"$work/silent.csv"
edges tells >"$work/tells.csv"
awk 'BEGIN { srand(5); for (i = 0; i < 120; i++) { printf "%d", i; for (k = 0; k < 8; k++) printf ",%.4f", 2 * rand() - 1 + (k == i % 4); print "" } }' \
    >"$work/features.csv"
cat >"$work/links.yaml" <<'YAML'
name: links
epochs: 4
ingest:
  format: edge_list
  path: silent.csv
  direction: as_given
  features: features.csv
  task: link_prediction
  edge_split: time 38/6/56
partition:
  parts: 3
sample:
  sampler: temporal_neighbor
  fanouts: [5, 5]
  batch_size: 128
  batches_per_round: 2
  negatives: 2
train-step:
  hidden: 16
  dropout: 0
checkpoint:
  metric: mrr
  keep: 0
infer:
  ranking: all
  ranked_end: both
YAML
# Reports on held-out edges that are not in the future: 1102 stay, and 174 are for validation.
said_of_edges() { # NAME
    awk -F, 'NR == FNR { if ($3 >= 2102 && $3 < 3000) is[$1 "," $2 "," ($3 < 2276 ? "valid" : "test")] = 1; next } ($1 "," $2 "," $3) in is' \
        "$work/silent.csv" "$work/$1/outputs/predictions.csv"
}

answer=$(run one "$work/links.yaml" --workers 1)
hash=$(json weights_hash <<<"$answer")
[ ${#hash} -eq 32 ] || fail "no hash of the weights in: $answer"
awk -v a="$(measure "$answer" valid roc_auc)" 'BEGIN { exit !(a >= 0.6 && a <= 1) }' ||
    fail "valid AUC: $answer"
said_of_edges one >"$work/one.said"
[ "$(wc -l <"$work/one.said")" -gt 700 ] || fail "said of $(wc -l <"$work/one.said") edges"
[ "$(cut -d, -f3 "$work/one.said" | sort -u | xargs)" = "test valid" ] ||
    fail "splits: $(head -3 "$work/one.said")"

other=$(run telling "$work/links.yaml" --set ingest.path="$work/tells.csv")
[ "$(json weights_hash <<<"$other")" = "$hash" ] || fail "the future moves the weights"
for metric in loss roc_auc average_precision mrr hits_10; do
    [ "$(measure "$answer" valid $metric)" = "$(measure "$other" valid $metric)" ] ||
        fail "the future moves $metric: $answer, then $other"
done
said_of_edges telling >"$work/telling.said"
cmp -s "$work/one.said" "$work/telling.said" ||
    fail "the future moves scores or ranks: $(diff "$work/one.said" "$work/telling.said" | head -4)"
cmp -s "$work/one/outputs/embeddings.npy" "$work/telling/outputs/embeddings.npy" ||
    fail "the future moves embeddings"
# A sampler that reads all edges of training, whatever their time, gains by the same future.
awk -F, 'NR > 1 && $3 >= 2102 && $3 < 3000 && !seen[$1 "," $2]++ { print $1 "," $2 }' \
    "$work/silent.csv" >"$work/test.csv"
for future in silent tells; do
    awk -F, 'NR == FNR { is[$0] = 1; next } !(($1 "," $2) in is)' "$work/test.csv" \
        "$work/$future.csv" >"$work/blind-$future.csv"
    measure "$(run "blind-$future" "$work/links.yaml" --set ingest.path="$work/blind-$future.csv" \
        --set ingest.edge_split=given \
        --set ingest.test_edges="$work/test.csv" --set sample.sampler=neighbor \
        --set sample.fanouts='[]' --set train-step.model=identity \
        --set train-step.features=false --set train-step.embedding=64 --set train-step.hidden=64 \
        --set train-step.decoder=distmult --set aggregate.embedding_rate=0.1 --set epochs=8)" test \
        mrr
done >"$work/blind"
awk '{ mrr[NR] = $1 } END { exit !(NR == 2 && mrr[2] > 1.3 * mrr[1]) }' "$work/blind" ||
    fail "what is planted tells nothing: $(xargs <"$work/blind")"

other=$(run three "$work/links.yaml" --workers 3 --threads 1 --memory 600M | json weights_hash)
[ "$other" = "$hash" ] || fail "three workers give $other, one gave $hash"
same_outputs one three
for unit in ingest partition "sample --round 1 --slot 1" "sample --evaluation" \
    "train-step --round 2 --slot 0" "train-step --evaluation" infer; do
    # shellcheck disable=SC2086
    said=$("$bin/graphmill" replay "$work/one" $unit) || fail "replay of $unit: $said"
    [[ $said == MATCH* ]] || fail "replay of $unit said $said"
done

# Negatives that pairs of other times share, and the latest neighbours.
run shared "$work/links.yaml" --set sample.negative=shared --set sample.temporal_strategy=last \
    --set sample.corrupt=both --set epochs=1 >/dev/null

expect 78 "temporal_neighbor, but ingest.edge_split is 'random 80/10/10', so that held-out edges" \
    run bad "$work/links.yaml" --set ingest.edge_split='random 80/10/10'
expect 78 'temporal_neighbor, but sample.pairs is walks, whose pairs have no time' run bad \
    "$work/links.yaml" --set sample.pairs=walks
expect 78 'expected neighbor, weighted_neighbor or temporal_neighbor for link_prediction' run bad \
    "$work/links.yaml" --set sample.sampler=ladies
cut -d, -f1,2 "$work/silent.csv" >"$work/timeless.csv"
expect 65 'ingest.edge_split is by time, but the edges have no times' run bad "$work/links.yaml" \
    --set ingest.path="$work/timeless.csv"
