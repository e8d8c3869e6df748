#!/usr/bin/env bash
# Held-out edges of versions' partitions, which are made from those of the dataset if parts are
# deltas: the same weights, predictions and answers as with complete parts; replayed, verified, and
# repaired when their inputs are lost.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
. "$GRAPHMILL_SOURCE/tests/support/class_graph.sh"
mkdir "$work/g" && cd "$work/g"
class_graph 1200 6
cat >l.yaml <<'YAML'
name: l
epochs: 1
ingest: {format: edge_list, path: edges.csv, edge_columns: "source: 1; target: 2; weight: 3", direction: undirected, task: link_prediction, edge_split: random 80/10/10, features: rows.csv}
partition: {parts: 3, method: fennel, compact: 0.9}
sample: {fanouts: [4, 4], batch_size: 200}
train-step: {hidden: 8}
YAML
parts=$work/deltas/store/partition
run deltas l.yaml >/dev/null
base=$(ls "$parts")
run whole l.yaml --set partition.compact=0 >/dev/null
for v in 1 2; do
    awk -v v=$v 'BEGIN {for (i = 0; i < 30; i++) print "n" v * 60 + i ",n" v * 90 + 2 * i + 1 ",4"}' >edges$v
    awk -v v=$v 'BEGIN {for (i = 0; i < 6; i++) print "n" 1199 - v * 20 - 3 * i}' >old_nodes$v
    for name in deltas whole; do
        "$bin/graphmill" update l.yaml --directory "$work/$name" --quiet --add-edges edges$v \
            --remove-nodes old_nodes$v >/dev/null
    done
    hash=$(run deltas l.yaml | json weights_hash)
    found=$(run whole l.yaml --set partition.compact=0 | json weights_hash)
    [ -n "$hash" ] && [ "$hash" = "$found" ] ||
        fail "version $v: weights $hash, over parts written whole $found"
    cmp "$work/whole/outputs/predictions.csv" "$work/deltas/outputs/predictions.csv" ||
        fail "version $v: other predictions"
done
newest=$(basename "$(ls -dt "$parts"/*/book.record | sed -n '1s:/book.record::p')")
[ -e "$parts/$newest/placement.record" ] || fail 'the newest is no delta'
for record in edge_splits splits permutation assignment; do
    [ ! -e "$parts/$newest/$record.record" ] || fail "the delta has a $record"
done
for stage in partition sample train-step infer; do replays deltas $stage; done
grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/deltas")" || fail 'verify'
for record in "$newest/placement" "$newest/delta" "$base/permutation"; do
    rm "$parts/$record.record"
    expect 65 "$(basename "$record")" "$bin/graphmill" verify "$work/deltas" --remove
    [ "$(run deltas l.yaml | json weights_hash)" = "$hash" ] || fail "$record: other weights"
    grep -q '^OK' <<<"$("$bin/graphmill" verify "$work/deltas")" || fail "$record: verify"
    [ ! -e "$parts/$newest/edge_splits.record" ] || fail "$record: the delta has edge_splits now"
done
