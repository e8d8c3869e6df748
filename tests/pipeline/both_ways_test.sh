#!/usr/bin/env bash
# A graph without anything to learn: uniform random pairs, each listed in both directions, in every
# format that lists edges. Links are held out in both directions, so the mean test AUC of ten seeds
# is that of guessing. If one direction stayed in training, a model that repeats the training edges
# would have 0.8.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
mkdir data
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source_folder/pipelines/python
/usr/bin/python3 -c 'import numpy' 2>/dev/null || {
    echo 'skipped: no numpy'
    exit 77
}
(cd data && /usr/bin/python3 -) <<'PYTHON'
import json
from pathlib import Path
from types import SimpleNamespace
import numpy as np
import graphmill

NODES, HALF = 300, 2000
draw = np.random.default_rng(11)
pairs = set()
while len(pairs) < HALF:
    a, b = (int(x) for x in draw.integers(0, NODES, 2))
    if a != b:
        pairs.add((min(a, b), max(a, b)))
pairs = np.array(sorted(pairs))
both = np.concatenate([pairs, pairs[:, ::-1]])[draw.permutation(2 * HALF)]
source, target = both.T


def write(path, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def lines(*columns):
    return "".join(",".join(map(str, row)) + "\n" for row in zip(*columns))


write("csv/edges.csv", lines(source, target))
write("timed/edges.csv", "src,dst,time\n" + lines(source, target, np.minimum(source, target) * NODES + np.maximum(source, target)))
write("matrix.mtx", f"%%MatrixMarket matrix coordinate pattern general\n{NODES} {NODES} {2 * HALF}\n"
      + "".join(f"{a + 1} {b + 1}\n" for a, b in both))
np.savez("coo.npz", row=source, col=target, data=np.ones(2 * HALF), shape=(NODES, NODES), format=b"coo")
Path("graphbolt").mkdir()
write("graphbolt/metadata.yaml", f"graph:\n  nodes:\n    - num: {NODES}\n  edges:\n    - format: csv\n      path: edges.csv\n")
write("graphbolt/edges.csv", lines(source, target))
graphmill.save(SimpleNamespace(num_nodes=NODES, edge_index=both.T), "saved")
assert json.loads(Path("saved/meta.json").read_text())["directed"] is None
graphmill.save(SimpleNamespace(num_nodes=NODES, edge_index=pairs.T), "once")
assert json.loads(Path("once/meta.json").read_text())["directed"] is True
write("folder/meta.json", json.dumps({"num_nodes": NODES, "directed": True}))
write("folder/edges.csv", "src,dst\n" + lines(source, target))
write("ogb/raw/num-node-list.csv", f"{NODES}\n")
write("ogb/raw/num-edge-list.csv", f"{2 * HALF}\n")
write("ogb/raw/edge.csv", lines(source, target))
write("ogb/raw/node-label.csv", "0\n" * NODES)
write("ogb/split/none/train.csv", "0\n")
write("ogb/split/none/valid.csv", "1\n")
write("ogb/split/none/test.csv", "2\n")
# One relation with both directions; and two relations, each the reverse of the other under a name
# that does not say so.
for name, kind in (("typed", np.zeros(2 * HALF, int)), ("pair", (source > target).astype(int))):
    write(f"{name}/meta.json", json.dumps({"num_nodes": NODES, "directed": True}))
    write(f"{name}/node-types.csv", f"name,first_id,count\nperson,0,{NODES}\n")
    write(f"{name}/edge-types.csv", "id,name,source,target\n" + "".join(f"{i},{r},person,person\n" for i, r in enumerate(["likes", "liked_by"][:kind.max() + 1])))
    write(f"{name}/edges.csv", "src,dst,etype\n" + lines(source, target, kind))
side = np.stack([draw.integers(0, 120, 3000), draw.integers(120, NODES, 3000)])
side = np.unique(side, axis=1)
write("sides/meta.json", json.dumps({"num_nodes": NODES, "directed": True}))
write("sides/node-types.csv", f"name,first_id,count\nuser,0,120\nitem,120,{NODES - 120}\n")
write("sides/edge-types.csv", "id,name,source,target\n0,buys,user,item\n1,bought_by,item,user\n")
write("sides/edges.csv", "src,dst,etype\n" + lines(*side, np.zeros(side.shape[1], int)) + lines(*side[::-1], np.ones(side.shape[1], int)))
PYTHON
pipeline() { # NAME INGEST...
    cat >"$1.yaml" <<YAML
name: $1
epochs: 40
ingest: {task: link_prediction, features: none, ${*:2}}
sample: {fanouts: [], batch_size: 512, negatives: 4, evaluation_negatives: 20, corrupt: both}
train-step: {features: false, embedding: 32, hidden: 32, decoder: dot, dropout: 0, layers: [{kind: mlp}]}
aggregate: {embedding_rate: 0.02}
checkpoint: {metric: roc_auc, every_epochs: 40, keep: 1}
infer: {weights: last, candidates: 10}
YAML
}
# No held-out edge of NAME has its reverse in training: all EDGES of the input but the listed ones
# are trained on.
no_reverse() { # NAME EDGES
    local trained held
    trained=$(sed -n 's/.* links: \([0-9]*\) stored edges to train on.*/\1/p' \
        "$work/$1/logs/ingest.log" | tail -1)
    awk -F, 'NR > 1 {held[$1 "," $2] = 1} END {for (e in held) {split(e, n, ","); if (!((n[2] "," n[1]) in held)) exit 1}}' \
        "$work/$1/outputs/predictions.csv" ||
        fail "$1: the edge back of a held-out edge is not held out"
    held=$(($(wc -l <"$work/$1/outputs/predictions.csv") - 1))
    [ $((trained + held)) -eq "$2" ] ||
        fail "$1: $trained edges to train on and $held held out, of $2"
}
seeds=${BOTH_WAYS_SEEDS:-10}
mean_auc() { # NAME EDGES
    local sum=0 seed auc
    for seed in $(seq "$seeds"); do
        rm -rf "${work:?}/$1"
        auc=$(measure "$(run "$1" "$1.yaml" --set seed="$seed")" test roc_auc)
        sum=$(awk -v s="$sum" -v a="$auc" 'BEGIN {print s + a}')
        [ "$seed" -gt 1 ] || no_reverse "$1" "$2"
    done
    awk -v s="$sum" -v n="$seeds" 'BEGIN {print s / n}'
}
# Layers that read neighbours: messages reveal edges, too.
typed_pipeline() {
    pipeline "$1" "${@:2}, relations: true"
    sed -i 's/fanouts: \[\]/fanouts: [10]/; s/, layers: .*/, model: rgcn}/; s/^epochs: 40/epochs: 20/' "$1.yaml"
}
pipeline csv 'format: edge_list, path: data/csv/edges.csv'
pipeline npz 'format: npz, path: data/coo.npz'
pipeline graphbolt 'format: graphbolt, path: data/graphbolt'
pipeline saved 'format: folder, path: data/saved'
pipeline folder 'format: folder, path: data/folder'
pipeline ogb 'format: ogb, path: data/ogb'
pipeline matrix 'format: matrix_market, path: data/matrix.mtx'
typed_pipeline typed 'format: folder, path: data/typed'
typed_pipeline pair 'format: folder, path: data/pair'
for name in ${BOTH_WAYS_FORMATS:-csv npz graphbolt saved folder ogb matrix typed pair}; do
    mean=$(mean_auc $name 4000)
    echo "$name: mean test AUC of $seeds seeds: $mean"
    awk -v m="$mean" 'BEGIN {exit !(m >= 0.47 && m <= 0.53)}' || fail "$name: mean test AUC is $mean, expected 0.47 to 0.53"
    grep -q 'an edge and its edge back are held out together' "$work/$name/logs/ingest.log" || fail "$name: the log does not say that both directions are held out"
done

# Two types of nodes; leave_one_out; times, which are the same in both directions.
sed 's/^epochs: 40/epochs: 1/; s/corrupt: both/corrupt: target/' csv.yaml >quick.yaml
typed_pipeline sides 'format: folder, path: data/sides'
sed -i 's/^epochs: 20/epochs: 1/; s/corrupt: both/corrupt: target/' sides.yaml
run sides sides.yaml >/dev/null
no_reverse sides "$(($(wc -l <data/sides/edges.csv) - 1))"
run one quick.yaml --set ingest.edge_split=leave_one_out >/dev/null
no_reverse one 4000
run timed quick.yaml --set ingest.path=data/timed/edges.csv \
    --set ingest.edge_split='time 80/10/10' >/dev/null
no_reverse timed 4000

# A user who wants the plain directed protocol gets it, and is told what it measures.
auc=$(measure "$(run apart csv.yaml --set ingest.hold_out_reverse=never)" test roc_auc)
awk -v a="$auc" 'BEGIN {exit !(a > 0.6)}' ||
    fail "never: the training edges give nothing away, test AUC $auc"
grep -qE '[0-9]+ of the [0-9]+ held-out edges join two nodes that a training edge joins, too' \
    "$work/apart/logs/ingest.log" || fail 'never: the log does not count edges back'
awk -F, 'NR > 1 {held[$1 "," $2] = 1} END {for (e in held) {split(e, n, ","); alone += !((n[2] "," n[1]) in held)} exit !(alone > 300)}' \
    "$work/apart/outputs/predictions.csv" || fail 'never: edges back are held out'
