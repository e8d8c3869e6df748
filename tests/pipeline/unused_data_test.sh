#!/usr/bin/env bash
# Weights, times and types that training does not use are named, once for each run, by `run` and by
# `start`; for a graph without them nothing is printed.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
mkdir "$work/plain" "$work/rich" "$work/typed"
cp "$source_folder"/tests/data/karate/* "$work/plain/"
cp "$source_folder"/tests/data/karate/* "$work/rich/"
cp "$source_folder"/tests/data/karate/* "$work/typed/"
awk -F, 'NR == 1 {print $1 "," $2 ",etype"} NR > 1 {print $1 "," $2 "," NR % 3}' \
    "$work/plain/edges.csv" >"$work/typed/edges.csv"
awk -F, 'NR == 1 {print $1 "," $2 ",weight,time"} NR > 1 {print $1 "," $2 "," NR / 10 "," NR}' \
    "$work/plain/edges.csv" >"$work/rich/edges.csv"
printf 'type,name,count,first_id\n0,person,17,0\n1,officer,17,17\n' >"$work/rich/node-types.csv"
sed "s,^  path:.*,  path: $work/GRAPH,; s/^epochs:.*/epochs: 1/" \
    "$source_folder/pipelines/karate.yaml" >"$work/karate.yaml"
for graph in plain rich typed; do
    sed "s,GRAPH,$graph,; s/^name:.*/name: $graph/" "$work/karate.yaml" >"$work/$graph.yaml"
    run $graph "$work/$graph.yaml" >"$work/answer" 2>"$work/$graph.said" ||
        fail "$graph: $(cat "$work/$graph.said")"
    "$bin/graphmill" start "$work/$graph.yaml" --directory "$work/$graph-started" \
        --quiet 2>"$work/$graph.start" >"$work/answer" ||
        fail "$graph: $(cat "$work/$graph.start")"
done
says='has edge times and 2 node types, which training DOES NOT USE'
for said in "$work/rich.said" "$work/rich.start"; do
    [ "$(grep -c "$says" "$said")" -eq 1 ] || fail "not said once: $(cat "$said")"
done
for said in "$work/typed.said" "$work/typed.start"; do
    [ "$(grep -c 'has 3 edge types, which training DOES NOT USE' "$said")" -eq 1 ] ||
        fail "not said once: $(cat "$said")"
done
# Attention reads no weights, and a setting may exclude them.
"$bin/graphmill" run "$work/rich.yaml" --directory "$work/gat" --quiet --set train-step.model=gat \
    2>"$work/gat.said" >"$work/answer"
grep -q 'has edge weights, edge times and 2 node types, which training DOES NOT USE' \
    "$work/gat.said" || fail "not said: $(cat "$work/gat.said")"
"$bin/graphmill" run "$work/rich.yaml" --directory "$work/false" \
    --quiet --set train-step.model=gat --set train-step.edge_weights=false \
    2>"$work/false.said" >"$work/answer"
grep -q "$says" "$work/false.said" || fail "not said: $(cat "$work/false.said")"
# A sampler that uses the weights counts as a use.
"$bin/graphmill" run "$work/rich.yaml" --directory "$work/drawn" \
    --quiet --set train-step.model=gat --set sample.sampler=weighted_neighbor \
    2>"$work/drawn.said" >"$work/answer"
grep -q "$says" "$work/drawn.said" || fail "not said: $(cat "$work/drawn.said")"
[ -z "$(grep -l 'NOT USE' "$work/plain.said" "$work/plain.start")" ] ||
    fail "said of a plain graph: $(cat "$work"/plain.*)"
