#!/usr/bin/env bash
# A trained model applied to another graph: the same graph gives the same bytes, new nodes, some
# nodes, graphs that do not fit, and a run that is killed.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"

# Makes three communities in a row, with features whose scale depends on the community: graph FOLDER
# NODES SEED
graph() {
    mkdir -p "$1"
    awk -v n="$2" -v seed="$3" -v out="$1" 'BEGIN {
        srand(seed)
        print "src,dst,weight" > (out "/edges.csv")
        for (i = 0; i < n; i++)
            for (k = 1; k <= 3; k++) {
                j = int(rand() * (n / 3)) * 3 + i % 3
                if (j >= n) j = i % 3
                if (j != i) printf "%d,%d,%.3f\n", i, j, 0.5 + rand() > (out "/edges.csv")
            }
        for (i = 0; i < n; i++) {
            print i % 3 > (out "/node-label.csv")
            printf "person %d\n", i * 7 > (out "/node-ids.csv")
            printf "%.4f,%.4f,%.4f\n", 100 + 50 * rand() + 40 * (i % 3), rand() / 50 + (i % 3 == 1) / 30, 7 > (out "/features.txt")
            if (i % 4 == 0) printf "person %d\n", i * 7 > (out "/train.csv")
            if (i % 4 == 1) printf "person %d\n", i * 7 > (out "/valid.csv")
            if (i % 4 == 2) printf "person %d\n", i * 7 > (out "/test.csv")
        }
    }'
    sed -i '2,$s/^\([0-9]*\),\([0-9]*\)/\1 \2/' "$1/edges.csv"
    awk 'NR == 1 {print; next} {split($2, rest, ","); printf "person %d,person %s,%s\n", $1 * 7, rest[1] * 7, rest[2]}' "$1/edges.csv" >"$1/edges.new"
    mv "$1/edges.new" "$1/edges.csv"
    python3 - "$1" <<'PYTHON'
import struct, sys
rows = [[float(x) for x in line.split(",")] for line in open(sys.argv[1] + "/features.txt")]
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
head += " " * (63 - (10 + len(head)) % 64) + "\n"
with open(sys.argv[1] + "/node-feat.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
    for row in rows:
        f.write(struct.pack("<%df" % len(row), *row))
PYTHON
    rm "$1/features.txt"
    printf '{"num_nodes": %d, "directed": true}\n' "$2" >"$1/meta.json"
}
pipeline() { # path, parts
    printf 'name: people\nepochs: 8\ningest:\n  format: folder\n  path: %s\n  standardise: true\n  normalise_rows: true\n  direction: undirected\n' "$1"
    printf 'partition:\n  parts: %s\nsample:\n  fanouts: [5, 5]\ntrain-step:\n  hidden: 8\n  class_weights: balanced\n' "$2"
}
infer() { "$bin/graphmill" infer "$work/model" --quiet --json "$@"; }

graph "$work/graph" 60 1
pipeline "$work/graph" 3 >"$work/graph.yaml"
run model "$work/graph.yaml" >"$work/answer"
hash=$(json weights_hash <"$work/answer")

# The same graph, by its pipeline file and as a folder with another number of parts.
infer --on "$work/graph.yaml" --directory "$work/same" >"$work/answer"
[ "$(json weights_hash <"$work/answer")" = "$hash" ] || fail "other weights: $(cat "$work/answer")"
for file in predictions.csv embeddings.npy; do
    cmp "$work/model/outputs/$file" "$work/same/outputs/$file" ||
        fail "$file differs on the same graph"
done
[ ! -e "$work/same/logs/train-step-0.log" ] || fail "a worker of training was started"
loss_of() { sed 's/.*"test":{\([^}]*\)}.*/\1/' "$1/outputs/metrics.json"; }
[ "$(loss_of "$work/model")" = "$(loss_of "$work/same")" ] ||
    fail "other metrics: $(cat "$work"/{model,same}/outputs/metrics.json)"
infer --on "$work/graph" --directory "$work/folder" >/dev/null
cmp "$work/model/outputs/predictions.csv" "$work/folder/outputs/predictions.csv" ||
    fail "the same graph as a folder differs"
"$bin/graphmill" verify "$work/same" >"$work/verified" || fail "verify: $(cat "$work/verified")"
"$bin/graphmill" replay "$work/same" infer --layer 1 --slot 0 >"$work/replay" ||
    fail "replay: $(cat "$work/replay")"
grep -q '^MATCH' "$work/replay" || fail "replay: $(cat "$work/replay")"
infer --on "$work/graph.yaml" --directory "$work/same" 2>"$work/stderr" >/dev/null ||
    fail "again: $(cat "$work/stderr")"
infer --on "$work/graph.yaml" --directory "$work/same" --weights last >"$work/answer"
infer --on "$work/graph.yaml" --directory "$work/two" --workers 2 >/dev/null
cmp "$work/model/outputs/embeddings.npy" "$work/two/outputs/embeddings.npy" ||
    fail "two workers give other embeddings"

# New nodes next to the old ones, without labels; the old ones are scaled as in training, so their
# features are the same.
graph "$work/more" 90 2
rm "$work/more"/{node-label,train,valid,test}.csv
infer --on "$work/more" --directory "$work/new" >/dev/null
[ "$(wc -l <"$work/new/outputs/predictions.csv")" -eq 91 ] ||
    fail "not a prediction for each new node"
grep -q '^"\{0,1\}person 623"\{0,1\},,,[012],' "$work/new/outputs/predictions.csv" ||
    fail "no prediction of node 89: $(tail -1 "$work/new/outputs/predictions.csv")"
right=$(awk -F, 'NR > 1 && (NR - 2) % 3 == $4 {n++} END {print n}' \
    "$work/new/outputs/predictions.csv")
[ "$right" -ge 60 ] || fail "only $right of 90 new nodes are right"
[ "$(sed -n '2p' "$work/new/model/feature_statistics.csv")" = 'mean,deviation' ] ||
    fail "no statistics: $(cat "$work/new/model/feature_statistics.csv")"

# The data that sampling needed in training are not required of a graph on which nothing is sampled.
run drawn "$work/graph.yaml" --set sample.sampler=weighted_neighbor \
    --set train-step.edge_weights=false --set epochs=1 >/dev/null
cp -r "$work/more" "$work/weightless" && sed -i 's/,[^,]*$//' "$work/weightless/edges.csv"
"$bin/graphmill" infer "$work/drawn" --on "$work/weightless" --directory "$work/undrawn" \
    --quiet --json >/dev/null

# Some nodes: outputs of those alone, and the same; infer_nodes_test.sh has more.
cp -rL "$work/new/outputs" "$work/whole"
printf 'person 623\nperson 0\n\nperson 7\n' >"$work/ids"
infer --on "$work/more" --directory "$work/new" --nodes "$work/ids" >/dev/null
sed -n '1p;2p;3p;91p' "$work/whole/predictions.csv" | cmp - "$work/new/outputs/predictions.csv" ||
    fail "other predictions of some nodes: $(cat "$work/new/outputs/predictions.csv")"
[ "$(tail -c $((8 * 4)) "$work/new/outputs/embeddings.npy" | od -An -tx1)" = \
    "$(tail -c $((8 * 4)) "$work/whole/embeddings.npy" | od -An -tx1)" ] ||
    fail "other embeddings of some nodes"
infer --on "$work/more" --directory "$work/new" >/dev/null
cmp "$work/whole/predictions.csv" "$work/new/outputs/predictions.csv" ||
    fail "all nodes again, and other predictions"
printf 'person 0\nnobody\n' >"$work/ids"
expect 65 "ids:2: expected the id of a node of the graph, found 'nobody'" infer --on "$work/more" \
    --directory "$work/new" --nodes "$work/ids"

# Differences are reported before the graph is partitioned.
unlike() { # name, pattern, status
    rm -rf "$work/run-$1"
    expect "$3" "$2" infer --on "$work/$1" --directory "$work/run-$1"
    [ ! -e "$work/run-$1/store/partition" ] || fail "$1: it was partitioned"
}
cp -r "$work/more" "$work/bare" && rm "$work/bare/node-feat.npy"
unlike bare 'mean and deviation of 66 feature columns .degree.random., found 3' 65
run plain "$work/graph.yaml" --set ingest.standardise=false --set ingest.normalise_rows=false \
    --set epochs=1 >/dev/null
rm -rf "$work/run-bare"
expect 65 'does not fit the model of run people-.*: its features are degree.random, expected given .ingest.features.; 66 feature columns, expected 3' \
    "$bin/graphmill" infer "$work/plain" --on "$work/bare" --directory "$work/run-bare"
[ ! -e "$work/run-bare/store/partition" ] || fail "bare: it was partitioned"
unlike weightless 'it has no edge weights, which layers read' 65
cp -r "$work/graph" "$work/classes" && sed -i '5s/.*/3/' "$work/classes/node-label.csv"
unlike classes 'labels are of 4 classes, expected at most 3' 65
sed 's/  standardise/  task: node_regression\n&/' "$work/graph.yaml" >"$work/task.yaml"
unlike task.yaml 'ingest.task is node_regression, expected that of the model, single_label' 78
cp -r "$work/more" "$work/narrow" && python3 - "$work/narrow/node-feat.npy" <<'PYTHON'
import sys
data = open(sys.argv[1], "rb").read()
open(sys.argv[1], "wb").write(data.replace(b"(90, 3)", b"(90, 2)")[:-90 * 4])
PYTHON
unlike narrow 'mean and deviation of 2 feature columns .given., found 3' 65
expect 78 'infer.nodes is .*expected nothing' run named "$work/graph.yaml" --set 'infer.nodes=1 a'
expect 64 'takes one MODEL and --on DATASET' "$bin/graphmill" infer "$work/model"
expect 78 'infer.model is .*expected nothing' run named "$work/graph.yaml" --set 'infer.model=1 a b'

# The model's file is enough, without the folder of its run: the same bytes, the same scaling, with
# class weights in the loss.
"$bin/graphmill" export "$work/model" --output "$work/exported.safetensors" >/dev/null
mkdir "$work/away"
cp "$work/model/outputs/model.safetensors" "$work/away"
cmp "$work/exported.safetensors" "$work/away/model.safetensors" ||
    fail 'the exported model is not that of the outputs'
by_file() { "$bin/graphmill" infer "$work/away/model.safetensors" --quiet --json "$@"; }
by_file --on "$work/graph.yaml" --directory "$work/filed" >"$work/answer"
[ "$(json weights_hash <"$work/answer")" = "$hash" ] ||
    fail "other weights by the file: $(cat "$work/answer")"
by_file --on "$work/more" --directory "$work/filed-new" --workers 2 >/dev/null
for file in predictions.csv embeddings.npy; do
    cmp "$work/model/outputs/$file" "$work/filed/outputs/$file" ||
        fail "$file differs by the model's file"
    cmp "$work/new/outputs/$file" "$work/filed-new/outputs/$file" ||
        fail "$file of new nodes differs by the model's file"
done
[ "$(loss_of "$work/filed")" = "$(loss_of "$work/model")" ] ||
    fail "other metrics: $(cat "$work"/{filed,model}/outputs/metrics.json)"
replays filed infer --layer 2 --slot 0
"$bin/graphmill" verify "$work/filed" >"$work/verified" || fail "verify: $(cat "$work/verified")"
not_a_model() { # status, pattern, file, more options
    expect "$1" "$2" "$bin/graphmill" infer "$3" --on "$work/more" --directory "$work/unlike" \
        --quiet "${@:4}"
    [ ! -e "$work/unlike" ] || fail "$2: something was left behind"
}
not_a_model 64 'is a file, which has one model: --weights last goes with the folder of a run' \
    "$work/exported.safetensors" --weights last
not_a_model 64 'is a file, which has one model: --run goes with' "$work/exported.safetensors" \
    --run a
not_a_model 65 'edges.csv' "$work/graph/edges.csv"
"$bin/graphmill" export "$work/model" --flavor dgl --output "$work/dgl.safetensors" >/dev/null 2>&1
not_a_model 65 'under the names of dgl: expected those of PyG' "$work/dgl.safetensors"
sed 's/"card"/"core"/' "$work/exported.safetensors" >"$work/cardless.safetensors"
not_a_model 65 'does not say which graph its model is for' "$work/cardless.safetensors"
head -c 2000 "$work/exported.safetensors" >"$work/torn.safetensors"
not_a_model 65 'torn.safetensors' "$work/torn.safetensors"
sed 's/hidden = 8/hidden = 9/' "$work/exported.safetensors" >"$work/wider.safetensors"
not_a_model 65 'tensor convs.0.lin_l.weight has shape \[8, 3\], expected \[9, 3\] of F32' \
    "$work/wider.safetensors"
expect 65 'does not fit the model of run people-.*it has no edge weights, which layers read' \
    by_file --on "$work/weightless" --directory "$work/unlike"
[ ! -e "$work/unlike/store/partition" ] || fail 'it was partitioned'
rm -rf "$work/unlike"

# Killed at any moment, the same command resumes, and gives the same bytes.
for pause in 0.05 0.15 0.3 0.45; do
    rm -rf "$work/killed"
    infer --on "$work/more" --directory "$work/killed" >/dev/null 2>&1 &
    pid=$!
    sleep "$pause"
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        infer --on "$work/more" --directory "$work/killed" >/dev/null 2>"$work/stderr" && break
        grep -q 'another graphmill is at work' "$work/stderr" ||
            fail "after a kill: $(cat "$work/stderr")"
        sleep 0.5
    done
    cmp "$work/new/outputs/predictions.csv" "$work/killed/outputs/predictions.csv" ||
        fail "killed after $pause s: other predictions"
    cmp "$work/new/outputs/embeddings.npy" "$work/killed/outputs/embeddings.npy" ||
        fail "killed after $pause s: other embeddings"
done
