#!/usr/bin/env bash
# Graph and partition in the formats of DGL's distributed tools and of GraphBolt, read back: the
# same dataset by the hashes of its records, for a graph of one type with edge columns and string
# ids, and for one with relations; the parts are the same.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"

# Prints the hashes of the records of the dataset of $work/RUN: records RUN KIND...
records() {
    local kind
    for kind in "${@:2}"; do
        "$bin/graphmill" verify "$work/$1" --list |
            awk -v k="$kind" \
            '$2 == k && $4 ~ /^dataset\// {sub(/dataset\/[^\/]*\//, "", $4); print $2, $3, $4, $1}'
    done
}
# Exports a run and reads it again: again RUN FORM MORE_OF_INGEST KIND...
again() {
    local run=$1 form=$2 more=$3
    shift 3
    "$bin/graphmill" export "$work/$run" --what "$form" --output "$work/$run-$form" >"$work/said" \
        || fail "$run is not exported as $form"
    [ "$(cat "$work/said")" = "$work/$run-$form" ] || fail "said $(cat "$work/said")"
    printf 'name: again\ningest: {format: %s, path: %s%s}\npartition: {parts: 2}\n' "$form" \
        "$work/$run-$form" "$more" >"$work/again.yaml"
    "$bin/graphmill" partition "$work/again.yaml" --directory "$work/$run-$form-run" >"$work/said" \
        2>&1 || fail "$run as $form: $(cat "$work/said")"
    diff <(records "$run" "$@") <(records "$run-$form-run" "$@") ||
        fail "$run as $form is another dataset"
    grep -q edge_chunk <<<"$(records "$run" "$@")" || fail "nothing was compared"
}

# One type, in both directions; the exported graph is directed, with the same edges.
ring_graph "$work/ring"
run ring "$work/ring/g.yaml" >/dev/null
"$bin/graphmill" export "$work/ring" --what assignment --output "$work/parts" >/dev/null
again ring distdgl '' edge_chunk feature_chunk node_labels node_splits
again ring graphbolt '' edge_chunk feature_chunk node_labels node_splits
cmp "$work/parts" "$work/ring-distdgl/partition/_N.txt" || fail "other parts for DGL"
[ "$(cat "$work/ring-distdgl/ids/_N.csv")" = "$(cut -d, -f1 "$work/ring/outputs/predictions.csv" |
    tail -n +2)" ] || fail "other ids"
/usr/bin/python3 - "$work" <<'PYTHON' || fail "see above"
import json, sys
import numpy as np
work = sys.argv[1]
parts = np.loadtxt(work + "/parts", int)
assert np.array_equal(np.load(work + "/ring-graphbolt/features/_N-part.npy"), parts[:, None])
assert json.load(open(work + "/ring-distdgl/partition/partition_meta.json")) == {"algo_name": "metis", "num_parts": 3, "version": "1.0.0"}
meta = json.load(open(work + "/ring-distdgl/metadata.json"))
ids = open(work + "/ring-distdgl/ids/_N.csv").read().split()
told = {tuple(line.split(",")) for line in open(work + "/ring/edges.csv").read().split()}
found = set()
for part, path in enumerate(meta["edges"]["_N:_E:_N"]["data"]):
    for source, target in np.loadtxt(f"{work}/ring-distdgl/{path}", int):
        assert parts[target] == part, f"{path}: an edge of another part"
        found.add((ids[source], ids[target]))
assert found == told | {(b, a) for a, b in told}, "other edges"
mask = np.load(work + "/ring-distdgl/node_data/_N-train_mask.npy")
assert mask.dtype == bool and mask.sum() == 36, mask
PYTHON
grep -q 'dgl.add_self_loop' "$work/ring-distdgl/README.txt" ||
    fail "nobody says what DGL's GCN needs"

# With relations.
papers_graph "$work/papers" 30
{ papers_pipeline "$work/papers" 1 1 'missing_features: degree'; \
    printf 'sample: {fanouts: [3]}\ntrain-step: {model: rgcn, hidden: 4}\n'; } >"$work/papers.yaml"
run papers "$work/papers.yaml" >/dev/null
for form in distdgl graphbolt; do
    again papers $form ', relations: true, target_type: paper' feature_chunk node_labels \
        node_splits edge_chunk
done

# Columns of edges are next to them, in their order.
sed -i '1s/$/,time/; 2,$s/^\([0-9]*\),\([0-9]*\),.*/&,1562112000\1000\2/' "$work/papers/edges.csv"
run timed "$work/papers.yaml" >/dev/null
for form in distdgl graphbolt; do "$bin/graphmill" export "$work/timed" --what $form \
    --output "$work/timed-$form" >/dev/null; done
/usr/bin/python3 - "$work" <<'PYTHON' || fail "see above"
import json, sys
import numpy as np
work = sys.argv[1]
first = {"author": 0, "paper": 20, "venue": 50}
meta = json.load(open(work + "/timed-distdgl/metadata.json"))
assert meta["num_nodes_per_type"] == [20, 30, 3] and len(meta["edge_type"]) == 6, meta
for relation, count in zip(meta["edge_type"], meta["num_edges_per_type"]):
    source, name, target = relation.split(":")
    ends = np.concatenate([np.loadtxt(f"{work}/timed-distdgl/{path}", int, ndmin=2).reshape(-1, 2) for path in meta["edges"][relation]["data"]])
    times = np.concatenate([np.load(f"{work}/timed-distdgl/{path}") for path in meta["edge_data"][relation]["time"]["data"]])
    assert len(ends) == len(times) == count > 0
    whole = ends + [first[source], first[target]]
    told = whole[:, ::-1] if name.startswith("rev_") else whole
    assert times.dtype == np.int64 and times.tolist() == [int(f"1562112000{a}000{b}") for a, b in told], relation
    stem = relation.replace(":", ".")
    assert np.array_equal(np.load(f"{work}/timed-graphbolt/edges/{stem}.npy"), ends.T)
    assert np.array_equal(np.load(f"{work}/timed-graphbolt/features/{stem}-time.npy"), times)
PYTHON

# Existing files stay, and a failure leaves nothing behind.
expect 78 'is there already: name a folder that is not' "$bin/graphmill" export "$work/papers" \
    --what distdgl --output "$work/papers"
mkdir "$work/empty"
expect 78 'is there already' "$bin/graphmill" export "$work/papers" --what graphbolt \
    --output "$work/empty"
expect 74 'cannot be made' "$bin/graphmill" export "$work/papers" --what graphbolt \
    --output "$work/none/here"
[ -z "$(find "$work" -name '*.partial-*')" ] ||
    fail "left behind: $(find "$work" -name '*.partial-*')"
