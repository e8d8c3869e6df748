#!/usr/bin/env bash
# Splits of OGB sets in files of torch: the records are those of text files, for nodes, nodes by
# type and links; errors in such a file are named, and nothing in it is run.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
/usr/bin/python3 - <<'PYTHON' || fail "see above"
import io, os, pickle, shutil, sys, types, zipfile
import numpy as np

# The side of torch.save(): a pickle with stand-ins for its classes, and the elements next to it.
torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
sys.modules.update({"torch": torch, "torch._utils": utils})
class LongStorage: pass
LongStorage.__module__ = "torch"
torch.LongStorage = LongStorage
def _rebuild_tensor_v2(*_): pass
_rebuild_tensor_v2.__module__ = "torch._utils"
utils._rebuild_tensor_v2 = _rebuild_tensor_v2
class Storage:
    def __init__(self, array): self.array = array
class Tensor:
    def __init__(self, array): self.array = array
    def __reduce__(self):
        strides = tuple(s // 8 for s in self.array.strides)
        return _rebuild_tensor_v2, (Storage(self.array), 0, self.array.shape, strides, False, {})

def save(path, value):
    stored = []
    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            if not isinstance(value, Storage):
                return None
            stored.append(value.array)
            return "storage", LongStorage, str(len(stored) - 1), "cpu", value.array.size
    file = io.BytesIO()
    Pickler(file, 2).dump(value)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("any/data.pkl", file.getvalue())
        for i, array in enumerate(stored):
            archive.writestr(f"any/data/{i}", array.tobytes("A"))
        archive.writestr("any/byteorder", "little")
tensors = lambda value: {k: tensors(v) for k, v in value.items()} if isinstance(value, dict) else Tensor(np.asarray(value, np.int64))
arrays = lambda value: {k: arrays(v) for k, v in value.items()} if isinstance(value, dict) else np.asarray(value, np.int64)

rng = np.random.default_rng(6)
nodes = 60
pairs = sorted({tuple(sorted(p)) for p in rng.integers(0, nodes, (300, 2)).tolist() if p[0] != p[1]})
pairs = np.array(pairs)[rng.permutation(len(pairs))]
order = rng.permutation(nodes)
split = {"train": order[:30], "valid": order[30:45], "test": order[45:]}
def table(path, rows):
    np.savetxt(path, rows, "%d", ",")
def raw(name, edges, write):
    os.makedirs(name + "/raw")
    os.makedirs(name + "/split/random")
    table(name + "/raw/edge.csv", edges)
    table(name + "/raw/num-node-list.csv", [nodes])
    table(name + "/raw/num-edge-list.csv", [len(edges)])
    table(name + "/raw/node-label.csv", np.arange(nodes) % 3)
    table(name + "/raw/node-feat.csv", np.stack([np.arange(nodes), np.arange(nodes) ** 2 % 7], 1))
    write(name + "/split/random/")
def text(folder):
    for s in split:
        table(f"{folder}{s}.csv", split[s])
def each(form):
    def write(folder):
        for s in split:
            save(f"{folder}{s}.pt", form(split[s]))
    return write
raw("text", pairs, text)
raw("arrays", pairs, lambda folder: save(folder + "split_dict.pt", arrays(split)))
raw("tensors", pairs, lambda folder: save(folder + "split_dict.pt", tensors(split)))
raw("files", pairs, each(tensors))
raw("plain", pairs, lambda folder: pickle.dump(arrays(split), open(folder + "split_dict.pt", "wb"), 2))

# by type
def typed(name, write):
    os.makedirs(name + "/raw/relations/a___to___b")
    os.makedirs(name + "/raw/node-label/a")
    os.makedirs(name + "/split/random/a")
    open(name + "/raw/num-node-dict.csv", "w").write("a,b\n20,30\n")
    open(name + "/raw/triplet-type-list.csv", "w").write("a,to,b\n")
    table(name + "/raw/relations/a___to___b/edge.csv", pairs[:100] // [3, 2])
    table(name + "/raw/node-label/a/node-label.csv", np.arange(20) % 2)
    write(name + "/split/random/")
of_a = {"train": np.arange(10), "valid": np.arange(10, 15), "test": np.arange(15, 20)}
def typed_text(folder):
    for s in of_a:
        table(f"{folder}a/{s}.csv", of_a[s])
typed("typed-text", typed_text)
typed("typed-torch", lambda folder: save(folder + "split_dict.pt", tensors({s: {"a": of_a[s]} for s in of_a})))

# links
held = {"valid": pairs[:20], "test": pairs[20:60]}
negative = {s: rng.integers(0, nodes, (len(held[s]), 7)) for s in held}
for s in held:
    table(s + "_edges.csv", held[s])
    table(s + "_negatives.csv", np.concatenate([held[s], negative[s]], 1))
def links(form):
    def write(folder):
        for s in held:
            save(f"{folder}{s}.pt", form(held[s], negative[s]))
        save(folder + "train.pt", {"edge": Tensor(pairs[60:])})
    return write
raw("links-none", pairs[60:], lambda folder: None)
raw("links-edge", pairs[60:], links(lambda e, n: tensors({"edge": e, "edge_neg": n[:, :2].copy(), "weight": e[:, 0].copy(), "year": e[:, 1].copy()})))
raw("links-turned", pairs[60:], links(lambda e, n: {"edge": Tensor(np.asfortranarray(e))}))
raw("links-ends", pairs[60:], links(lambda e, n: tensors({"source_node": e[:, 0].copy(), "target_node": e[:, 1].copy(), "target_node_neg": n})))
raw("links-triples", pairs[60:], links(lambda e, n: arrays({"head": e[:, 0], "relation": (e[:, 0] + e[:, 1]) % 4, "tail": e[:, 1], "tail_neg": n})))
table("links-triples/raw/edge_reltype.csv", pairs[60:].sum(1) % 4)
open("typed_valid.csv", "w").write("".join(f"{a},{b},{(a + b) % 4}\n" for a, b in held["valid"]))
open("typed_test.csv", "w").write("".join(f"{a},{b},{(a + b) % 4}\n" for a, b in held["test"]))
for s in held:
    table(f"typed_{s}_negatives.csv", np.concatenate([held[s], held[s].sum(1)[:, None] % 4, negative[s]], 1))

# broken
class Call:
    def __reduce__(self): return os.system, ("touch was-run",)
def broken(name, write):
    shutil.copytree("text", name)
    for s in split:
        os.remove(f"{name}/split/random/{s}.csv")
    write(name + "/split/random/")
broken("call", lambda folder: save(folder + "train.pt", {"a": Call()}))
broken("no-torch", lambda folder: open(folder + "train.pt", "w").write("0\n1\n"))
broken("links-for-nodes", lambda folder: save(folder + "train.pt", tensors({"edge": pairs})))
broken("outside", lambda folder: save(folder + "valid.pt", Tensor(np.array([1, 60]))))
broken("both", lambda folder: (save(folder + "train.pt", tensors([1])), open(folder + "train.csv", "w").write("1\n")))
broken("both-torch", lambda folder: (save(folder + "train.pt", tensors([1])), save(folder + "split_dict.pt", tensors(split))))
broken("matrix", lambda folder: save(folder + "train.pt", Tensor(np.zeros((2, 2), np.int64))))
def broken_links(name, value):
    raw(name, pairs[60:], lambda folder: save(folder + "test.pt", value))
broken_links("links-wide", tensors({"edge": pairs[:3] * 0 + 1, "x": [1]}) | {"edge": Tensor(np.zeros((2, 3), np.int64))})
broken_links("links-rows", tensors({"source_node": [1, 2], "target_node": [3]}))
broken_links("links-other", tensors({"ends": [1, 2]}))
broken_links("links-outside", tensors({"edge": [[0, 99]]}))
broken_links("links-leak", tensors({"edge": pairs[60:61]}))
PYTHON

pipeline() { # name, path, more lines of the ingest section
    printf 'name: %s\nepochs: 1\ningest:\n  format: ogb\n  direction: undirected\n  path: %s\n%bpartition:\n  parts: 2\nsample:\n  fanouts: [3, 3]\n' \
        "$1" "$work/$2" "${3:-}" >"$1.yaml"
}
mkdir runs
ingest() { # name, path, more
    pipeline "$@"
    "$bin/graphmill" partition "$1.yaml" --directory "runs/$1" >"$1.out" 2>"$1.err" ||
        fail "$1: $(tail -3 "$1.err")"
}
agree() { # name, other name, kinds...
    local name=$1 other=$2
    shift 2
    records "$name" "$@" >"$name.found"
    records "$other" "$@" >"$name.expected"
    [ "$(wc -l <"$name.expected")" -ge "$#" ] ||
        fail "too few records of $other: $(cat "$name.expected")"
    cmp -s "$name.found" "$name.expected" ||
        fail "$name is another dataset: $(diff "$name.found" "$name.expected")"
}
ingest text text
for name in arrays tensors files plain; do
    ingest $name $name
    agree $name text edge_chunk feature_chunk node_labels node_splits
done
typed='  relations: true\n  missing_features: degree\n  add_reverse: true\n'
ingest typed_text typed-text "$typed"
! grep 'was not read' typed_text.err ||
    fail "folders of types are taken for files that nobody reads"
ingest typed_torch typed-torch "$typed"
agree typed_torch typed_text edge_chunk node_labels node_splits

# a file of torch is part of the name of the dataset
dataset() { grep -o 'dataset=[^ ]*' "$1.err" | head -1; }
[ "$(dataset arrays)" != "$(dataset tensors)" ] || fail "the dataset is named without its splits"

links='  task: link_prediction\n  edge_split: given\n'
files="  valid_edges: $work/valid_edges.csv\n  test_edges: $work/test_edges.csv\n"
ingest links_text links-none "$links$files"
ingest links_edge links-edge "$links"
agree links_edge links_text edge_chunk edge_splits
grep -q 'valid.pt/edge_neg is not used' runs/links_edge/logs/ingest.log ||
    fail "edge_neg is left out without a word"
ingest links_turned links-turned "$links"
agree links_turned links_text edge_chunk edge_splits
ingest links_ends_text links-none \
    "$links$files  valid_negatives: $work/valid_negatives.csv\n  test_negatives: $work/test_negatives.csv\n"
ingest links_ends links-ends "$links"
agree links_ends links_ends_text edge_chunk edge_splits
ingest links_triples_text links-triples \
    "$links  valid_edges: $work/typed_valid.csv\n  test_edges: $work/typed_test.csv\n  valid_negatives: $work/typed_valid_negatives.csv\n  test_negatives: $work/typed_test_negatives.csv\n"
ingest links_triples links-triples "$links"
agree links_triples links_triples_text edge_chunk edge_splits
ingest links_drawn links-edge '  task: link_prediction\n'
grep -q 'test.pt is not used: write .edge_split: given' runs/links_drawn/logs/ingest.log ||
    fail "splits are left out without a word"

# ranks among the nodes of the split itself
pipeline ranked links-ends "$links"
printf 'infer:\n  ranking: given\n' >>ranked.yaml
"$bin/graphmill" run ranked.yaml --directory runs/ranked --quiet >ranked.out ||
    fail "no ranks among given nodes"
grep -q '"mrr"' runs/ranked/outputs/metrics.json ||
    fail "no mrr: $(cat runs/ranked/outputs/metrics.json)"

bad() { # pattern, path, more
    pipeline bad "$2" "${3:-}"
    expect 65 "$1" "$bin/graphmill" partition bad.yaml --directory runs/bad --quiet
}
bad 'split/random/train.pt: data.pkl: byte [0-9]*: expected a dictionary of NumPy arrays or tensors, found posix.system, which is not run' call
[ ! -e was-run ] && [ ! -e runs/bad/was-run ] || fail "a file of torch was run"
bad 'split/random/train.pt: byte 0: expected a pickle of protocol 2 to 5' no-torch
bad 'train.pt: expected an array of nodes for this split.*found another dictionary: write .task: link_prediction. below .ingest:. for one of links' links-for-nodes
bad 'split/random/valid.pt/array:1: .*60' outside
bad 'expected one of .*train.csv and .*train.pt, found both: remove one' both
bad 'expected one of .*split_dict.pt and .*train.pt, found both: remove one' both-torch
bad 'train.pt/array.npy: expected 1 dimension, found 2' matrix
bad 'test.pt/edge: expected a shape .edges, 2., found rows of 3' links-wide "$links"
bad 'test.pt/target_node: expected 2 rows, as many as .*test.pt/source_node has, found 1' \
    links-rows "$links"
bad 'test.pt: expected arrays edge, source_node and target_node, or head and tail for ingest.edge_split: given' links-other "$links"
bad 'test.pt/edge:0: .*99' links-outside "$links"
bad 'test.pt/edge:0: ' links-leak "$links"
bad 'links-none: expected test.pt or split_dict.pt in a folder of split/ for ingest.edge_split: given, found none' links-none "$links"
pipeline bad links-edge "$links"
printf 'infer:\n  ranking: given\n' >>bad.yaml
expect 65 'valid.pt: expected an array target_node_neg or tail_neg for infer.ranking: given, found none' \
    "$bin/graphmill" partition bad.yaml --directory runs/bad --quiet
pipeline bad typed-torch "$links$typed"
expect 78 'the splits of links of several node types are not read' "$bin/graphmill" partition \
    bad.yaml --directory runs/bad --quiet
sed -i 's/format: ogb/format: folder/' bad.yaml
expect 78 'ingest.edge_split is given, but ingest.test_edges is empty' "$bin/graphmill" partition \
    bad.yaml --directory runs/bad --quiet
sed -i "s/format: folder/format: auto/; s#path: .*#path: $work/valid_edges.csv#" bad.yaml
expect 78 'ingest.edge_split is given, but ingest.test_edges is empty' "$bin/graphmill" partition \
    bad.yaml --directory runs/bad --quiet
