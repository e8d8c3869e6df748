#!/usr/bin/env bash
# A model of relations applied to another graph: the same graph gives the same bytes, nodes without
# labels, and graphs that do not fit.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
papers_graph "$work/papers" 120

{ papers_pipeline "$work/papers" 1 6 'missing_features: degree+random' 'random_dim: 6'; cat; } \
    >"$work/papers.yaml" <<END
sample:
  fanouts: [4, 3]
  batch_size: 20
train-step:
  model: rgcn
  hidden: 8
END
infer() { "$bin/graphmill" infer "$work/model" --quiet --json "$@"; }
hash=$(run model "$work/papers.yaml" | json weights_hash)

# The same graph, by its pipeline file and as a folder.
infer --on "$work/papers.yaml" --directory "$work/same" >"$work/answer"
[ "$(json weights_hash <"$work/answer")" = "$hash" ] || fail "other weights: $(cat "$work/answer")"
infer --on "$work/papers" --directory "$work/folder" --workers 2 >/dev/null
cp "$work/model/outputs/model.safetensors" "$work/model.safetensors"
by_file() { "$bin/graphmill" infer "$work/model.safetensors" --quiet --json "$@"; }
by_file --on "$work/papers" --directory "$work/filed" >/dev/null
for other in same folder filed; do
    for file in predictions.csv embeddings.npy; do
        cmp "$work/model/outputs/$file" "$work/$other/outputs/$file" ||
            fail "$file of $other differs on the same graph"
    done
done
"$bin/graphmill" verify "$work/folder" >"$work/verified" || fail "verify: $(cat "$work/verified")"
replays folder infer --layer 1 --slot 2

# A larger graph with nothing but its edges: its papers are of the target type, because the model
# says so.
papers_graph "$work/more" 150
rm "$work/more"/{node-label,train,valid,test}.csv
infer --on "$work/more" --directory "$work/new" >/dev/null
[ "$(wc -l <"$work/new/outputs/predictions.csv")" -eq 151 ] ||
    fail 'not a prediction for each new paper'
grep -q '^100,,,[012],' "$work/new/outputs/predictions.csv" ||
    fail "no prediction of node 100: $(sed -n 2p "$work/new/outputs/predictions.csv")"

# Some papers alone, in the order of the input: the same bytes as among all papers.
printf '229\n100\n154\n' >"$work/ids"
infer --on "$work/more" --directory "$work/some" --nodes "$work/ids" --workers 2 >/dev/null
for node in 100 154 229; do grep "^$node," "$work/new/outputs/predictions.csv"; done \
    >"$work/expected"
tail -n +2 "$work/some/outputs/predictions.csv" | cmp - "$work/expected" ||
    fail 'other predictions of some nodes'
python3 - "$work/new/outputs/embeddings.npy" "$work/some/outputs/embeddings.npy" <<'PYTHON' || fail 'other embeddings of some nodes'
import sys
def rows(path, count):
    data = open(path, "rb").read()
    size = (len(data) - 128) // count
    return [data[128 + i * size : 128 + (i + 1) * size] for i in range(count)]
every = rows(sys.argv[1], 150)
assert rows(sys.argv[2], 3) == [every[n - 100] for n in (100, 154, 229)]
PYTHON
[ -z "$(find "$work/some/store/run" -path '*/infer/*')" ] || fail 'layers of all nodes were stored'
"$bin/graphmill" replay "$work/some" infer >"$work/replay" || fail "replay: $(cat "$work/replay")"
grep -q '^MATCH outputs/' "$work/replay" || fail "replay: $(cat "$work/replay")"
printf '100\n\n7\n' >"$work/ids"
expect 65 "ids:3: node '7' is of type author, expected nodes of type paper" \
    infer --on "$work/more" --directory "$work/strange" --nodes "$work/ids"

# Differences are reported before the graph is partitioned.
unlike() { # pattern, graph
    expect 65 "does not fit the model of run papers-.*$1|which ingest.sparse_columns names" infer \
        --on "$2" --directory "$work/unlike"
    [ ! -e "$work/unlike/store/partition" ] || fail "$1: it was partitioned"
    rm -rf "$work/unlike" "$work/other"
}
other() { # sed script
    cp -r "$work/more" "$work/other"
    sed -i "$1" "$work/other/edge-types.csv" "$work/other/node-types.csv"
}
other 's/venue/journal/'
expect 65 'node type 2 is journal, expected venue|expected a node type venue' by_file \
    --on "$work/other" --directory "$work/filed-other"
unlike 'node type 2 is journal, expected venue' "$work/other"
other 's/cites/quotes/'
unlike 'relation 1 is quotes from paper to paper, expected cites from paper to paper' "$work/other"
sed 's/random_dim: 6/random_dim: 5/' "$work/papers.yaml" >"$work/narrow.yaml"
unlike '7 feature columns of type author, expected 8; 7 feature columns of type paper, expected 8' \
    "$work/narrow.yaml"
sed '/add_reverse/d' "$work/papers.yaml" >"$work/ways.yaml"
unlike '3 relations, expected 6' "$work/ways.yaml"
run plain "$work/papers.yaml" --set ingest.relations=false --set train-step.model=sage --set epochs=1 >/dev/null
expect 78 'in a graph with relations needs ingest.target_type' \
    "$bin/graphmill" infer "$work/plain" --on "$work/papers.yaml" --directory "$work/unlike"

# Features of each type are scaled with the values of the model's graph, whatever their own values
# are.
run scaled "$work/papers.yaml" --set ingest.standardise=true --set ingest.normalise_rows=true \
    --set epochs=1 >/dev/null
"$bin/graphmill" infer "$work/scaled" --on "$work/papers" --directory "$work/scaled-same" --quiet
cmp "$work/scaled/outputs/predictions.csv" "$work/scaled-same/outputs/predictions.csv" ||
    fail 'scaled features differ on the same graph'
"$bin/graphmill" infer "$work/scaled" --on "$work/more" --directory "$work/scaled-new" --quiet
grep '^type,' "$work/scaled-new/model/feature_statistics.csv" | tr '\n' ' ' >"$work/types"
[ "$(cat "$work/types")" = 'type,author type,paper type,venue ' ] ||
    fail "statistics of $(cat "$work/types")"
"$bin/graphmill" verify "$work/scaled-new" >"$work/verified" ||
    fail "verify: $(cat "$work/verified")"
sed -i '/^type,venue/,$d' "$work/scaled-new/model/feature_statistics.csv"
expect 65 'feature_statistics.csv: expected a line .least,. and a number of type venue' run less \
    "$work/papers.yaml" \
    --set ingest.standardise=true --set ingest.normalise_rows=true \
    --set "ingest.feature_statistics=$work/scaled-new/model/feature_statistics.csv"
