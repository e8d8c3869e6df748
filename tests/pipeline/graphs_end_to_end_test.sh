#!/usr/bin/env bash
# Classes and numbers of graphs through every stage: a dataset of many graphs, split by files and by
# a draw, trained with each readout, replayed, inferred; the same bits for any workers, little
# memory and after kills; bad input.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
python3 "$source_folder/tests/support/make_graphs.py" "$work/shapes" 420
shapes=$source_folder/pipelines/shapes.yaml
export SHAPES=$work/shapes
small=(--set epochs=10 --set train-step.norm=none --set aggregate.learning_rate=0.01 \
    --set sample.batch_size=40 --set sample.batches_per_round=2 --set checkpoint.keep=0 \
    --set infer.weights=last)

# Shapes are learned: no node says which class its graph has.
answer=$(run one "$shapes" "${small[@]}" --workers 1)
hash=$(json weights_hash <<<"$answer")
awk -v a="$(measure "$answer" test accuracy)" 'BEGIN { exit !(a >= 0.6 && a <= 1) }' ||
    fail "test accuracy: $answer"
for split in train valid test; do
    [ "$(measure "$answer" $split graphs)" = "$(wc -l <"$work/shapes/$split.csv")" ] ||
        fail "graphs of $split: $answer"
done
# A line for each graph, in the order of the input, with its split and its label.
awk -F, -v count=420 'FILENAME ~ /label/ { label[FNR - 1] = $1; next }
    FILENAME ~ /(train|valid|test).csv/ { split("", x); n = FILENAME; sub(/.*\//, "", n); sub(/.csv/, "", n); of[$1] = n; next }
    FNR == 1 { if ($0 != "graph,split,label,prediction,probability") { print "header " $0; exit 1 } next }
    $1 != FNR - 2 || $2 != of[$1] || $3 != label[$1] { print "line " FNR ": " $0; bad = 1; exit 1 }
    $2 == "test" { n_test++; right += $3 == $4 }
    END { if (bad) exit 1; if (FNR != count + 1) { print FNR " lines"; exit 1 } printf "%.6f\n", right / n_test > "/dev/stderr" }' \
    "$work/shapes/graph-label.csv" "$work/shapes/train.csv" "$work/shapes/valid.csv" \
    "$work/shapes/test.csv" \
    "$work/one/outputs/predictions.csv" 2>"$work/right" || fail "predictions.csv"
awk -v a="$(cat "$work/right")" -v b="$(measure "$answer" test accuracy)" \
    'BEGIN { d = a - b; exit !(d < 1e-5 && d > -1e-5) }' ||
    fail "of the lines $(cat "$work/right") are right: $answer"
grep -aq 'classifier.weight' "$work/one/outputs/model.safetensors" ||
    fail "the model has no tensors behind the readout"
grep -aq "'shape': (420, 32)" <(head -c 80 "$work/one/outputs/embeddings.npy") ||
    fail "embeddings are not one for each graph"
replay_each one ingest partition "sample --round 0 --slot 1" "sample --evaluation" \
    "train-step --round 2 --slot 0" \
    "train-step --evaluation" "aggregate --round 3" checkpoint "infer --layer 2 --part 1" infer
"$bin/graphmill" verify "$work/one" >/dev/null || fail "verify"
"$bin/graphmill" export "$work/one" --what step --round 3 --output "$work/step.safetensors" \
    >/dev/null
grep -aq 'mini_batch.batch' <(head -c 8192 "$work/step.safetensors") ||
    fail "the exported step does not say which graph a seed is of"

# Workers, little memory, parts, kills.
for workers in 2 5; do
    other=$(run "of-$workers" "$shapes" "${small[@]}" --workers $workers \
        --threads $((workers == 2 ? 3 : 1)) | json weights_hash)
    [ "$other" = "$hash" ] || fail "$workers workers give $other, one gave $hash"
    same_outputs one "of-$workers"
done
run little "$shapes" "${small[@]}" --memory 256M >/dev/null
same_outputs one little
for pause in 1 2; do
    "$bin/graphmill" run "$shapes" "${small[@]}" --directory "$work/killed" --quiet >/dev/null \
        2>&1 &
    driver=$!
    started+=("$driver")
    sleep "$pause"
    kill -9 "$driver" 2>/dev/null || true
    wait "$driver" 2>/dev/null || true
done
other=$(run killed "$shapes" "${small[@]}" | json weights_hash)
[ "$other" = "$hash" ] || fail "a run that was killed gives $other, expected $hash"
same_outputs one killed

# Every readout, a list of layers, few neighbours; splits that are drawn, class weights.
drawn=(--set ingest.split='random 70/15/15' --set train-step.class_weights=balanced --set epochs=2 \
    --set checkpoint.keep=0)
for readout in mean max; do
    run "of-$readout" "$shapes" "${drawn[@]}" --set train-step.readout=$readout \
        --set sample.fanouts='[3, -1, -1]' >"$work/said"
    [ "$(measure "$(cat "$work/said")" train graphs)" = 294 ] ||
        fail "$readout: $(cat "$work/said")"
    replay_each "of-$readout" "train-step --round 1 --slot 0" "train-step --evaluation" infer
done
cp "$shapes" "$work/layers.yaml"
sed -i '/^  model: gin$/,/^  dropout: 0$/d' "$work/layers.yaml"
sed -i 's/^train-step:$/train-step:\n  layers:\n    - {kind: sage, hidden: 24}\n    - {kind: gcn, hidden: 24}\n    - {kind: gat, hidden: 12, heads: 2}/' "$work/layers.yaml"
run layers "$work/layers.yaml" "${drawn[@]}" --set ingest.features=degree \
    --set train-step.readout=sum >/dev/null
grep -aq "'shape': (420, 12)" <(head -c 80 "$work/layers/outputs/embeddings.npy") ||
    fail "the last of the layers has not its own width"

# Numbers of graphs: the number of nodes of each.
cp -r "$work/shapes" "$work/sizes"
awk '{ n[$1]++ } END { for (g = 0; g < 420; g++) print n[g] / 10 }' "$work/shapes/node-graph.csv" \
    >"$work/sizes/graph-label.csv"
numbers=(--set ingest.task=graph_regression --set train-step.norm=none)
answer=$(SHAPES=$work/sizes run numbers "$shapes" "${numbers[@]}" --set epochs=8 \
    --set checkpoint.keep=0)
for metric in rmse mae r2 loss; do [ -n "$(measure "$answer" test $metric)" ] ||
    fail "no $metric in: $answer"; done
awk -v r2="$(measure "$answer" test r2)" 'BEGIN { exit !(r2 > 0.8) }' ||
    fail "sizes are not learnt: $answer"
replay_each numbers "train-step --round 1 --slot 0" infer

# Errors are named before anything is partitioned.
bad() { # PATTERN STATUS FILE CONTENT [settings]: a file of the folder is another
    local pattern=$1 status=$2 file=$3 content=$4
    shift 4
    rm -rf "$work/wrong" "$work/bad"
    cp -r "$work/shapes" "$work/wrong"
    [ -z "$file" ] || eval "$content" >"$work/wrong.file" &&
        mv "$work/wrong.file" "$work/wrong/$file" 2>/dev/null || true
    SHAPES=$work/wrong expect "$status" "$pattern" run bad "$shapes" "$@"
    [ ! -e "$work/bad/store/partition" ] || fail "$pattern: something was partitioned"
}
from() { cat "$work/shapes/$1"; }
ends=$(awk 'NR == FNR { g[FNR - 1] = $1; next } FNR > 1 { split($1, e, ","); a = e[1]; for (b = 0; g[b] == g[a]; b++) {} print a "," b; exit }' \
    "$work/shapes/node-graph.csv" "$work/shapes/edges.csv")
lines=$(wc -l <"$work/shapes/edges.csv")
bad "edges.csv:$((lines + 1)): an edge between nodes of two graphs, [0-9]* and [0-9]*: expected both ends in one graph" 65 edges.csv "from edges.csv; echo $ends"
bad 'node-graph.csv: graph 7 has no node: expected at least one node in each graph from 0 to 419' 65 node-graph.csv "from node-graph.csv | sed 's/^7\$/8/'"
bad 'node-graph.csv:3: graph -1 is out of range: expected a number from 0' 65 node-graph.csv "from node-graph.csv | sed '3s/.*/-1/'"
bad 'node-graph.csv: expected [0-9]* graph ids, one for each node, found' 65 node-graph.csv "from node-graph.csv | sed 1d"
bad 'graph-label.csv:? ?.*expected 420' 65 graph-label.csv "from graph-label.csv | sed 1d"
bad 'graph-label.csv:5: .*label' 65 graph-label.csv "from graph-label.csv | sed '5s/.*/one/'"
bad 'train.csv:2: graph 420 is out of range: expected a graph id from 0 to 419' 65 train.csv \
    "from train.csv | sed '2s/.*/420/'"
bad 'train.csv:[0-9]*: graph [0-9]* has no label: expected one for every training graph' 65 \
    graph-label.csv "from graph-label.csv | sed 's/.*/-1/; 1s/.*/1/'"
bad 'partition.parts is 421, expected at most 420 parts: the dataset has that many graphs' 78 '' \
    '' --set partition.parts=421
bad 'partition.method cuts graphs' 78 '' '' --set partition.method=fennel
bad 'sample.sampler is ladies, which draws other nodes than those of whole graphs' 78 '' '' \
    --set sample.sampler=ladies
bad 'train-step.readout is none, expected sum, mean or max' 78 '' '' --set train-step.readout=none
bad 'does not say which graph a node is in: expected folder' 78 '' '' --set ingest.format=generated
rm -rf "$work/wrong" "$work/bad"
cp -r "$work/shapes" "$work/wrong"
rm "$work/wrong/node-graph.csv"
SHAPES=$work/wrong expect 65 \
    "expected node-graph.csv, node-graph.csv.gz or node-graph.npy with the number of each node's graph" run bad "$shapes"
