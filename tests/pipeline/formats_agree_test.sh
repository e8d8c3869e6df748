#!/usr/bin/env bash
# One small graph in every format that has arrays or numbered nodes: the same edges, features,
# labels and splits, by their hashes. Then each is broken, and the error is named.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
/usr/bin/python3 - <<'PYTHON' || fail "see above"
import json, os
import numpy as np

rng = np.random.default_rng(5)
nodes, dim, classes = 40, 6, 3
pairs = sorted({tuple(sorted(p)) for p in rng.integers(0, nodes, (120, 2)).tolist() if p[0] != p[1]})
low, high = np.array(pairs).T
weight = rng.integers(1, 9, len(pairs))
x = np.round(rng.random((nodes, dim)) * (rng.random((nodes, dim)) < 0.4), 3).astype(np.float32)
y = rng.integers(0, classes, nodes)
order = rng.permutation(nodes)
split = {"train": np.sort(order[:20]), "valid": np.sort(order[20:28]), "test": np.sort(order[28:])}
np.savez("truth.npz", low=low, high=high, weight=weight)

def folder(name, edges, directed):
    os.mkdir(name)
    json.dump({"num_nodes": nodes, "directed": directed, "num_classes": classes}, open(name + "/meta.json", "w"))
    np.save(name + "/edges.npy", edges)
    np.save(name + "/node-feat.npy", x)
    np.save(name + "/node-label.npy", y)
    for s in split:
        np.save(f"{name}/{s}.npy", split[s])

folder("columns", np.stack([low, high]).astype(np.int64), False)
folder("rows", np.stack([low, high], 1).astype(np.uint16), False)
np.save("rows/node-feat.npy", np.asfortranarray(x))
folder("turned", np.asfortranarray(np.stack([low, high], 1)), False)

def csr(rows, cols, data):
    order = np.lexsort((cols, rows))
    indptr = np.zeros(nodes + 1, np.int32)
    np.add.at(indptr, rows + 1, 1)
    return data[order], cols[order].astype(np.int32), np.cumsum(indptr).astype(np.int32)

both = np.concatenate([low, high]), np.concatenate([high, low])
ones = np.ones(2 * len(low), np.float32)
data, indices, indptr = csr(*both, ones)
shape = np.array([nodes, nodes])
r, c = np.nonzero(x)
fdata, findices, findptr = csr(r, c, x[r, c])
np.savez_compressed("citations.npz", adj_data=data, adj_indices=indices, adj_indptr=indptr, adj_shape=shape, attr_data=fdata,
                    attr_indices=findices, attr_indptr=findptr, attr_shape=np.array(x.shape), labels=y,
                    node_names=np.array(["n%d" % i for i in range(nodes)], dtype=object))
np.savez("dense.npz", adj_indices=indices, adj_indptr=indptr, adj_shape=shape, attr_matrix=x, labels=y)
masks = {s: np.zeros((2, nodes), bool) for s in split}
for s in split:
    masks[s][0, split[s]] = True
np.savez("tasks.npz", edges=np.stack([low, high], 1), node_features=x, node_labels=y, train_masks=masks["train"],
         val_masks=masks["valid"], test_masks=masks["test"])
np.savez_compressed("csr.npz", data=data, indices=indices, indptr=indptr, shape=shape, format=np.array("csr".encode()))
np.savez("csc.npz", data=data, indices=indices, indptr=indptr, shape=shape, format=np.array("csc".encode()))
np.savez("coo.npz", row=both[0], col=both[1], data=ones, shape=shape, format=np.array("coo".encode()))
wdata, windices, windptr = csr(*both, np.concatenate([weight, weight]).astype(np.float64))
np.savez("weighted.npz", data=wdata, indices=windices, indptr=windptr, shape=shape, format=np.array("csr".encode()))

os.mkdir("saint")
np.savez("saint/adj_full.npz", data=data, indices=indices, indptr=indptr, shape=shape, format=np.array("csr".encode()))
np.save("saint/feats.npy", x.astype(np.float64))
json.dump({str(i): int(y[i]) for i in reversed(range(nodes))}, open("saint/class_map.json", "w"))
json.dump({"tr": split["train"].tolist(), "va": split["valid"].tolist(), "te": split["test"].tolist()}, open("saint/role.json", "w"))

def ogb(name, change, label=None, text=False):
    os.makedirs(name + "/raw")
    os.makedirs(name + "/split/time")
    data = {"edge_index": np.stack([low, high]), "num_nodes_list": np.array([nodes]), "num_edges_list": np.array([len(low)]),
            "node_feat": x, "node_year": np.zeros((nodes, 1), np.int64)}
    change(data)
    np.savez_compressed(name + "/raw/data.npz", **data)
    np.savez(name + "/raw/node-label.npz", **(label or {"node_label": y.astype(np.float32)[:, None]}))
    for s in split:
        np.savetxt(f"{name}/split/time/{s}.csv.gz", split[s], "%d")
    if text:
        open(name + "/raw/edge.csv", "w").write("0,1\n")
os.makedirs("ogb-text/raw")
os.makedirs("ogb-text/split/time")
np.savetxt("ogb-text/raw/edge.csv.gz", np.stack([low, high], 1), "%d", ",")
np.savetxt("ogb-text/raw/edge_reltype.csv.gz", weight % 3, "%d")
np.savetxt("ogb-text/raw/edge_weight.csv.gz", weight / 4)
np.savetxt("ogb-text/raw/edge-feat.csv.gz", np.stack([weight, -weight], 1), "%d", ",")
np.savetxt("ogb-text/raw/node-feat.csv.gz", x, "%r", ",")
np.savetxt("ogb-text/raw/num-node-list.csv.gz", [nodes], "%d")
np.savetxt("ogb-text/raw/num-edge-list.csv.gz", [len(low)], "%d")
labels_with_nan = np.where(np.arange(nodes) == split["test"][0], np.nan, y)
np.savetxt("ogb-text/raw/node-label.csv.gz", labels_with_nan)
for s in split:
    np.savetxt(f"ogb-text/split/time/{s}.csv.gz", split[s][s == "test":], "%d")
ogb("ogb-binary", lambda d: None)
ogb("ogb-columns", lambda d: d.update(edge_reltype=(weight % 3)[:, None], edge_weight=weight / 4,
                                      edge_feat=np.stack([weight, -weight], 1).astype(np.float32)), {"node_label": labels_with_nan})
np.savetxt("ogb-columns/split/time/test.csv.gz", split["test"][1:], "%d")
ogb("ogb-two", lambda d: None, text=True)
ogb("ogb-no-edges", lambda d: d.pop("edge_index"))
ogb("ogb-no-count", lambda d: d.pop("num_nodes_list"))
ogb("ogb-count", lambda d: d.update(num_edges_list=np.array([7])))
ogb("ogb-graphs", lambda d: d.update(num_nodes_list=np.array([20, 20])))
ogb("ogb-outside", lambda d: d.update(edge_index=d["edge_index"] + 40))
ogb("ogb-flat", lambda d: d.update(edge_index=d["edge_index"].ravel()))
ogb("ogb-rows", lambda d: d.update(node_feat=x[:-1]))
ogb("ogb-types", lambda d: d.update(edge_reltype=weight + 600))
ogb("ogb-weights", lambda d: d.update(edge_weight=weight[:-1]))
ogb("ogb-label", lambda d: None, {"labels": y})
ogb("ogb-labels", lambda d: None, {"node_label": y[:-1]})

import copy
os.makedirs("bolt/set")
np.save("bolt/edges.npy", np.stack(both))
np.savetxt("bolt/edges.csv", np.stack(both, 1), "%d", ",")
np.save("bolt/feat.npy", x)
meta = {"dataset_name": "bolt", "graph": {"nodes": [{"num": nodes}], "edges": [{"format": "numpy", "path": "edges.npy"}]},
        "feature_data": [{"domain": "node", "type": None, "name": "other", "format": "torch", "path": "other.pt"},
                         {"domain": "node", "type": None, "name": "feat", "format": "numpy", "in_memory": True, "path": "feat.npy"}],
        "tasks": [{"name": "node_classification", "num_classes": classes}]}
for s, key in (("train", "train_set"), ("valid", "validation_set"), ("test", "test_set")):
    np.save(f"bolt/set/{s}.npy", split[s])
    np.save(f"bolt/set/{s}-label.npy", y[split[s]])
    meta["tasks"][0][key] = [{"type": None, "data": [{"name": "seeds", "format": "numpy", "in_memory": True, "path": f"set/{s}.npy"},
                                                     {"name": "labels", "format": "numpy", "path": f"set/{s}-label.npy"}]}]
def put_yaml(value, file, indent=0):
    pad = "  " * indent
    for key, item in value.items():
        if isinstance(item, dict):
            print(f"{pad}{key}:", file=file)
            put_yaml(item, file, indent + 1)
        elif isinstance(item, list):
            print(f"{pad}{key}:", file=file)
            for one in item:
                print(f"{pad}  -", file=file)
                put_yaml(one, file, indent + 2)
        else:
            print(f"{pad}{key}: {'null' if item is None else str(item).lower() if isinstance(item, bool) else item}", file=file)
def bolt(name, change):
    changed = copy.deepcopy(meta)
    change(changed)
    if not os.path.exists(name):
        os.system(f"cp -r bolt {name}")
    put_yaml(changed, open(name + "/metadata.yaml", "w"))
bolt("bolt", lambda m: None)
bolt("bolt-csv", lambda m: (m["graph"]["edges"][0].update(format="csv", path="edges.csv"), [d.update(name="seed_nodes") for k in ("train_set", "validation_set", "test_set") for d in m["tasks"][0][k][0]["data"][:1]]))
bolt("bolt-typed", lambda m: m["graph"]["nodes"].append({"type": "b", "num": 3}))
bolt("bolt-torch", lambda m: m["feature_data"][1].update(format="torch"))
bolt("bolt-num", lambda m: m["graph"]["nodes"][0].update(num="many"))
bolt("bolt-list", lambda m: m.update(tasks="none"))
bolt("bolt-seeds", lambda m: m["tasks"][0]["test_set"][0]["data"].pop(0))
bolt("bolt-graph", lambda m: m.pop("graph"))
bolt("bolt-path", lambda m: m["feature_data"][1].pop("path"))
bolt("bolt-short", lambda m: m["tasks"][0]["test_set"][0]["data"][1].update(path="set/train-label.npy"))
bolt("bolt-few", lambda m: m["graph"]["nodes"][0].update(num=30))

# OGB: by its name, many graphs, a choice of splits
ogb("ogbn_products", lambda d: None)
ogb("ogbn-arxiv", lambda d: None)
sizes = [12, 4, 14, 10]
place = np.repeat(np.arange(4), sizes)
begin = np.cumsum([0] + sizes)
inside = [(a, b) for a, b in pairs if place[a] == place[b]]
per_graph = [[(a - begin[g], b - begin[g]) for a, b in inside if place[a] == g] for g in range(4)]
def molecules(name, change=lambda folder: None):
    os.makedirs(name + "/raw")
    os.makedirs(name + "/split/scaffold")
    np.savetxt(name + "/raw/num-node-list.csv.gz", sizes, "%d")
    np.savetxt(name + "/raw/num-edge-list.csv.gz", [len(g) for g in per_graph], "%d")
    np.savetxt(name + "/raw/edge.csv.gz", [e for g in per_graph for e in g], "%d", ",")
    np.savetxt(name + "/raw/node-feat.csv.gz", x, "%r", ",")
    np.savetxt(name + "/raw/graph-label.csv.gz", [0, 1, 0, 1], "%d")
    for s, g in (("train", [0, 1]), ("valid", [2]), ("test", [3])):
        np.savetxt(f"{name}/split/scaffold/{s}.csv.gz", g, "%d")
    change(name + "/raw/")
molecules("ogbg_molsmall")
molecules("molecules-outside", lambda f: np.savetxt(f + "edge.csv.gz", [(0, 11)] * len(per_graph[0]) + [(0, 99)] * (len(inside) - len(per_graph[0])), "%d", ","))
molecules("molecules-behind", lambda f: np.savetxt(f + "edge.csv.gz", [e for g in per_graph for e in g] + [(0, 1)], "%d", ","))
molecules("molecules-counts", lambda f: np.savetxt(f + "num-edge-list.csv.gz", [1, 2], "%d"))
molecules("molecules-count", lambda f: np.savetxt(f + "num-node-list.csv.gz", [12, -1, 14, 10], "%d"))
def molecule_arrays(name, label="graph_label", **change):
    os.makedirs(name + "/raw")
    os.makedirs(name + "/split/scaffold")
    data = {"edge_index": np.array([e for g in per_graph for e in g]).T, "num_nodes_list": np.array(sizes),
            "num_edges_list": np.array([len(g) for g in per_graph]), "node_feat": x}
    np.savez_compressed(name + "/raw/data.npz", **{**data, **change})
    np.savez(name + "/raw/graph-label.npz", **{label: np.array([[0], [1], [0], [1]])})
    for s, g in (("train", [0, 1]), ("valid", [2]), ("test", [3])):
        np.savetxt(f"{name}/split/scaffold/{s}.csv.gz", g, "%d")
molecule_arrays("ogbg_arrays")
molecule_arrays("arrays-outside", edge_index=np.array([(0, 99)] * len(inside)).T)
molecule_arrays("arrays-counts", num_edges_list=np.array([1, 2]))
molecule_arrays("arrays-count", num_nodes_list=np.array([12, -1, 14, 10]))
molecule_arrays("arrays-edges", edge_index=np.array([e for g in per_graph for e in g][:-1]).T)
molecule_arrays("arrays-label", label="labels")
folder("graphs", np.array(inside).T, False)
np.save("graphs/node-graph.npy", place)
np.save("graphs/graph-label.npy", np.array([0, 1, 0, 1]))
for s, g in (("train", [0, 1]), ("valid", [2]), ("test", [3])):
    np.save(f"graphs/{s}.npy", np.array(g))
masks3 = {s: np.stack([np.roll(m[0], 1), m[0]]) for s, m in masks.items()}
np.savez("tasks-second.npz", edges=np.stack([low, high], 1), node_features=x, node_labels=y, train_masks=masks3["train"],
         val_masks=masks3["valid"], test_masks=masks3["test"])

# LINQS and GraphML
os.mkdir("linqs")
cites = "".join(f"n{b}\tn{a}\n" for a, b in pairs)
def linqs(name, papers, citations):
    os.makedirs(name, exist_ok=True)
    open(name + "/small.content", "w").write(papers)
    open(name + "/small.cites", "w").write(citations)
names = ["blue", "green", "red"]
content = lambda change=lambda i, row: row: "".join("\t".join(change(i, [f"n{i}"] + [repr(float(v)) for v in x[i]] + [names[y[i]]])) + "\n" for i in range(nodes))
linqs("linqs", content(), cites)
linqs("linqs-dangling", content(), cites + "n0\tsomebody\n")
linqs("linqs-strangers", content(), "a\tb\n")
linqs("linqs-twice", content(lambda i, row: ["n0"] + row[1:] if i == 3 else row), cites)
linqs("linqs-short", content(lambda i, row: row[:-2] + row[-1:] if i == 3 else row), cites)
linqs("linqs-word", content(lambda i, row: row[:2] + ["x"] + row[3:] if i == 3 else row), cites)
linqs("linqs-alone", "n0\n", cites)
linqs("linqs-empty", "", cites)
linqs("linqs-three", content(), "n0\tn1\tn2\n")
linqs("linqs-two", content(), cites)
open("linqs-two/other.content", "w").close()
linqs("linqs-no-cites", content(), cites)
os.remove("linqs-no-cites/small.cites")

def graphml(name, change=lambda text: text, weights=None):
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    text += ' <key id="l" for="node" attr.name="label" attr.type="string"/>\n <key id="z" for="node" attr.name="colour" attr.type="string"><default>grey</default></key>\n'
    text += "".join(f' <key id="f{c}" for="node" attr.name="feat_{c}" attr.type="double">{"<default>0</default>" if c % 2 else ""}</key>\n' for c in range(dim))
    text += "".join(f' <key id="{s}" for="node" attr.name="{m}" attr.type="boolean"><default>false</default></key>\n' for s, m in (("train", "train_mask"), ("valid", "val_mask"), ("test", "test_mask")))
    if weights is not None:
        text += ' <key id="w" for="edge" attr.name="weight" attr.type="int"/>\n'
    text += ' <graph edgedefault="undirected">\n'
    for (a, b), w in zip(pairs[:5], weight):
        text += f'  <edge source="n{a}" target="n{b}">' + (f'<data key="w">{w}</data>' if weights is not None else "") + "</edge>\n"
    for i in range(nodes):
        text += f'  <node id="n{i}"><data key="l">{names[y[i]]}</data><data key="z">&lt;red&gt;</data>'
        text += "".join(f'<data key="f{c}">{float(v)!r}</data>' for c, v in enumerate(x[i]) if v or c % 2 == 0)
        text += "".join(f'<data key="{s}">true</data>' for s in split if i in split[s]) + "</node>\n"
    for (a, b), w in list(zip(pairs, weight))[5:]:
        text += f'  <edge source="n{a}" target="n{b}">' + (f'<data key="w">{w}</data>' if weights is not None else "") + "</edge>\n"
    open(name + ".graphml", "w").write(change(text + " </graph>\n</graphml>\n"))
graphml("small")
graphml("weighted", weights=weight)
graphml("doctype", lambda t: t.replace("<graphml ", '<!DOCTYPE graphml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>\n<graphml ', 1))
graphml("cut", lambda t: t[: len(t) // 2])
graphml("second", lambda t: t.replace(" </graph>\n", ' </graph>\n <graph edgedefault="directed"/>\n'))
graphml("nested", lambda t: t.replace('<node id="n7">', '<node id="n7"><graph edgedefault="directed"/>'))
graphml("direction", lambda t: t.replace(' edgedefault="undirected"', ""))
graphml("mixed", lambda t: t.replace('<edge source="n', '<edge directed="true" source="n', 1))
graphml("hyper", lambda t: t.replace("  <node", "  <hyperedge/>\n  <node", 1))
graphml("twice", lambda t: t.replace('id="n7"', 'id="n6"'))
graphml("nameless", lambda t: t.replace(' id="n7"', ""))
graphml("stranger", lambda t: t.replace('target="n', 'target="m', 1))
graphml("endless", lambda t: t.replace(' target="n', ' end="n', 1))
graphml("keyless", lambda t: t.replace('<data key="z">', '<data key="y">', 1))
graphml("number", lambda t: t.replace('<data key="f0">', '<data key="f0">x', 1))
graphml("mask", lambda t: t.replace('<data key="train">true', '<data key="train">yes', 1))
graphml("valueless", lambda t: t.replace('<data key="f0">', '<data key="z">', 1))
graphml("labels", lambda t: t.replace('attr.name="colour"', 'attr.name="class"'))
graphml("key-twice", lambda t: t.replace('<key id="z"', '<key id="l"'))
graphml("key-late", lambda t: t.replace("  <node", '  <key id="late" attr.name="x"/>\n  <node', 1))
graphml("nodeless", lambda t: t[: t.index("  <edge")] + " </graph>\n</graphml>\n")
graphml("long", lambda t: t.replace('<data key="l">', '<data key="l">' + "x" * 5000, 1))
graphml("deep", lambda t: t.replace('<data key="z">', '<data key="z">' + "<a>" * 70 + "</a>" * 70, 1))

with open("graph.mtx", "w") as f:
    f.write("%%MatrixMarket matrix coordinate pattern symmetric\n% a comment\n%d %d %d\n" .replace("%d %d %d", f"{nodes} {nodes} {len(low)}"))
    f.writelines(f"{b + 1} {a + 1}\n" for a, b in pairs)
with open("weighted.mtx", "w") as f:
    f.write(f"%%MatrixMarket matrix coordinate integer general\n{nodes} {nodes} {2 * len(low)}\n")
    f.writelines(f"{a + 1} {b + 1} {w}\n{b + 1}\t{a + 1}  {w}\n" for (a, b), w in zip(pairs, weight))
neighbors = [[] for _ in range(nodes)]
for (a, b), w in zip(pairs, weight):
    neighbors[a].append((b + 1, w))
    neighbors[b].append((a + 1, w))
with open("graph.metis", "w") as f:
    f.write(f"% a comment\n{nodes} {len(low)}\n" + "".join(" ".join(str(n) for n, _ in line) + "\n" for line in neighbors))
with open("weighted.metis", "w") as f:
    f.write(f"{nodes} {len(low)} 011 2\n" + "".join("7 8 " + " ".join(f"{n} {w}" for n, w in line) + "\n" for line in neighbors))
with open("labels.csv", "w") as f:
    f.writelines(f"{i + 1},{y[i]}\n" for i in range(nodes))
with open("features.csv", "w") as f:
    f.writelines(f"{i + 1}," + ",".join(repr(float(v)) for v in x[i]) + "\n" for i in range(nodes))
for s in split:
    open(s + ".csv", "w").writelines(f"{i + 1}\n" for i in split[s])
PYTHON
gzip -k graph.mtx small.graphml
zstd -q graph.mtx

. "$source_folder/tests/support/format_runs.sh"
all='edge_chunk feature_chunk node_labels node_splits'
beside="  labels: $work/labels.csv\n  features: $work/features.csv\n  train: $work/train.csv\n  valid: $work/valid.csv\n  test: $work/test.csv\n"
ingest columns folder columns
records columns $all >expected.all
records columns edge_chunk >expected.edges
records columns edge_chunk feature_chunk node_labels >expected.unsplit
[ "$(wc -l <expected.all)" -ge 4 ] || fail "too few records: $(cat expected.all)"

agree() { # name, expected, kinds...
    local name=$1 expected=$2
    shift 2
    records "$name" "$@" >"$name.found"
    cmp -s "$name.found" "expected.$expected" ||
        fail "$name is another dataset: $(diff "$name.found" "expected.$expected")"
}
ingest rows folder rows
agree rows all $all
ingest turned folder turned
agree turned all $all
ingest citations npz citations.npz '  split: random 60/20/20\n'
agree citations unsplit edge_chunk feature_chunk node_labels
ingest dense npz dense.npz '  split: random 60/20/20\n'
agree dense unsplit edge_chunk feature_chunk node_labels
ingest tasks npz tasks.npz
agree tasks all $all
ingest saint graphsaint saint
agree saint all $all
ingest bolt graphbolt bolt
agree bolt all $all
ingest bolt_csv graphbolt bolt-csv
agree bolt_csv all $all
ingest ogb_binary ogb ogb-binary '  direction: undirected\n'
agree ogb_binary all $all
ingest ogb_text ogb ogb-text '  direction: as_given\n'
ingest ogb_columns ogb ogb-columns '  direction: as_given\n'
records ogb_text $all >expected.columns
grep -q edge_chunk expected.columns && ! cmp -s expected.columns expected.all ||
    fail "the columns of OGB are lost"
agree ogb_columns columns $all
ingest market matrix_market graph.mtx "$beside"
agree market all $all
ingest market_gz matrix_market graph.mtx.gz "$beside"
agree market_gz all $all
ingest market_zstd matrix_market graph.mtx.zst "$beside"
agree market_zstd all $all
ingest metis metis graph.metis "$beside"
agree metis all $all
ingest ogb_products ogb ogbn_products
agree ogb_products all $all
ingest ogb_arxiv ogb ogbn-arxiv
ingest ogb_as_given ogb ogb-binary '  direction: as_given\n'
cmp <(records ogb_arxiv edge_chunk) <(records ogb_as_given edge_chunk) ||
    fail "edges of ogbn-arxiv go one way"
graphs='  task: graph_classification\n'
ingest graphs folder graphs "$graphs"
ingest molecules ogb ogbg_molsmall "$graphs"
cmp <(records molecules $all graph_index) <(records graphs $all graph_index) ||
    fail "graphs of OGB are others"
ingest arrays ogb ogbg_arrays "$graphs"
cmp <(records arrays $all graph_index) <(records graphs $all graph_index) ||
    fail "graphs of OGB's arrays are others"
ingest second npz tasks-second.npz '  split_name: 1\n'
agree second all $all
ingest first npz tasks-second.npz
! cmp -s <(records first node_splits) <(records second node_splits) ||
    fail "split_name chooses nothing"
ingest bolt_task graphbolt bolt '  split_name: node_classification\n'
agree bolt_task all $all
ingest linqs linqs linqs '  direction: undirected\n  split: random 60/20/20\n'
agree linqs unsplit edge_chunk feature_chunk node_labels
ingest linqs_dangling linqs linqs-dangling '  direction: undirected\n  split: random 60/20/20\n'
agree linqs_dangling unsplit edge_chunk feature_chunk node_labels
grep -q '1 citations are of papers without a line in .*small.content, the first in line' \
    runs/linqs_dangling/logs/ingest.log || fail "a dangling citation is not named"
ingest graphml graphml small.graphml
agree graphml all $all
ingest graphml_gz graphml small.graphml.gz
agree graphml_gz all $all

# auto chooses the intended format, gives the same dataset id, and says why
as_auto() { # name, format, path, more
    ingest "auto-$1" auto "$3" "${4:-}"
    local meant found
    meant=$(grep -o 'dataset=[^ ]*' "$1.err" | head -1)
    found=$(grep -o 'dataset=[^ ]*' "auto-$1.err" | head -1)
    [ -n "$meant" ] && [ "${found/auto-/}" = "$meant" ] ||
        fail "auto is not $2: $(cat "auto-$1.err")"
    grep -q "ingest.format is auto: .*so it is read as $2" "runs/auto-$1/logs/ingest.log" ||
        fail "auto does not say why: $(cat "runs/auto-$1/logs/ingest.log")"
}
as_auto rows folder rows
as_auto tasks npz tasks.npz
as_auto saint graphsaint saint
as_auto bolt graphbolt bolt
as_auto ogb_binary ogb ogb-binary '  direction: undirected\n'
as_auto market matrix_market graph.mtx "$beside"
as_auto market_gz matrix_market graph.mtx.gz "$beside"
as_auto market_zstd matrix_market graph.mtx.zst "$beside"
as_auto metis metis graph.metis "$beside"
as_auto linqs linqs linqs '  direction: undirected\n  split: random 60/20/20\n'
as_auto graphml graphml small.graphml
as_auto graphml_gz graphml small.graphml.gz
links='  task: link_prediction\n'
ingest link_columns folder columns "$links"
for name in csr csc coo; do
    ingest link_$name npz $name.npz "$links  direction: undirected\n"
    cmp <(records link_$name edge_chunk) <(records link_columns edge_chunk) ||
        fail "$name has other edges"
done
for name in npz:weighted.npz matrix_market:weighted.mtx metis:weighted.metis; do
    more=$beside
    [ "${name%%:*}" != npz ] || more="$links"
    ingest "weighted_${name%%:*}" "${name%%:*}" "${name#*:}" "$more  direction: as_given\n"
done
cmp <(records weighted_matrix_market edge_chunk) <(records weighted_metis edge_chunk) &&
    fail "as_given lists an edge of METIS once"
ingest weighted_both metis weighted.metis "$beside"
cmp <(records weighted_matrix_market edge_chunk) <(records weighted_both edge_chunk) ||
    fail "weights of METIS and of a matrix differ"
ingest weighted_graphml graphml weighted.graphml
cmp <(records weighted_matrix_market edge_chunk) <(records weighted_graphml edge_chunk) ||
    fail "weights of GraphML and of a matrix differ"

# Predictions have the numbers of the input, from 1.
"$bin/graphmill" run market.yaml --directory runs/market --quiet >/dev/null
[ "$(sed -n 2p runs/market/outputs/predictions.csv | cut -d, -f1)" = 1 ] ||
    fail "the first node of a matrix is not called 1"

# --- what is broken ---
text() { printf "$1" >broken; }
market='%%%%MatrixMarket matrix coordinate pattern general\n'
text ''; bad 'broken: expected a matrix, found an empty file' matrix_market broken "$beside"
text '%%%%MatrixMarket matrix array real general\n'; bad \
    "broken:1: expected a sparse matrix .*'array'" matrix_market broken "$beside"
text '%%%%MatrixMarket matrix coordinate complex general\n'; bad \
    "broken:1: expected values that are real.*'complex'" matrix_market broken "$beside"
text '%%%%MatrixMarket matrix coordinate real hermitian\n'; bad \
    "broken:1: expected a matrix that is general.*'hermitian'" matrix_market broken "$beside"
text '1 2\n'; bad "broken:1: expected '%%MatrixMarket" matrix_market broken "$beside"
text "${market}3 4 1\n"; bad 'broken:2: expected as many rows as columns.*3 x 4' matrix_market \
    broken "$beside"
text "${market}3 3\n"; bad "broken:2: expected rows, columns and entries, found '3 3'" \
    matrix_market broken "$beside"
text "$market"; bad 'broken: expected a line with rows' matrix_market broken "$beside"
text "${market}3 3 1\n1 4\n"; bad 'broken:3: expected nodes from 1 to 3, found 1 and 4' matrix_market broken "$beside"
text "${market}3 3 1\n0 1\n"; bad 'broken:3: expected nodes from 1 to 3, found 0 and 1' matrix_market broken "$beside"
text "${market}3 3 1\n1 2 5\n"; bad 'broken:3: expected 2 fields as the header says, found 3' matrix_market broken "$beside"
text "${market}3 3 1\n1 x\n"; bad "broken:3: expected row and column, found '1 x'" matrix_market broken "$beside"
text "${market}3 3 2\n1 2\n"; bad 'broken: expected 2 entries, found 1' matrix_market broken "$beside"
text "${market}3 3 1\n1 2\n2 3\n"; bad 'broken:4: expected 1 entries, found more' matrix_market broken "$beside"
text '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 nan\n'; bad "broken:3: expected a number, found 'nan'" matrix_market broken "$beside"
text '3 2\n2\n1 3\n2\n'; bad "labels.csv:4: expected one of the 3 nodes of the graph, found .4" metis broken "$beside"
text '3 2\n2\n1 3\n'; bad 'broken: expected 3 lines of nodes, found 2' metis broken "$beside"
text '3 2\n2\n1 3\n2\n1\n'; bad 'broken:5: expected 3 lines of nodes, found more' metis broken \
    "$beside"
text '3 3\n2\n1 3\n2\n'; bad 'broken: expected 3 edges, each at both its ends, found 4 ends' metis \
    broken "$beside"
text '3 2\n2 3\n1 3\n\n'; bad \
    'broken: expected each edge in the lines of both its ends, found one' metis broken "$beside"
text '2 1 1\n2 5\n1 6\n'; bad 'both its ends, with the same weight' metis broken "$beside"
text '2 1 1\n2\n1 6\n'; bad "broken:2: expected a weight after each neighbour, found '2'" metis broken "$beside"
text '2 1\n1\n2\n'; bad 'broken:2: expected neighbours of node 1, which are other nodes from 1 to 2, found 1' metis broken "$beside"
text '2 1 21\n'; bad 'broken:1: expected three digits 0 or 1' metis broken "$beside"
text 'x\n'; bad 'broken:1: expected the numbers of nodes and edges' metis broken "$beside"
bad 'expected one of .*ogb-two/raw/edge.csv and .*ogb-two/raw/data.npz, found both' ogb ogb-two
bad 'ogb-no-edges/raw/data.npz: expected an array edge_index, found none' ogb ogb-no-edges
bad 'ogb-no-count/raw/data.npz: expected an array num_nodes_list, found none' ogb ogb-no-count
bad "status 65: $work/ogb-count/raw/data.npz/edge_index.npy: expected 7 edges as num_edges_list says, found" ogb ogb-count
bad 'data.npz/num_nodes_list.npy: expected one number .a data set of one graph., found 2' ogb \
    ogb-graphs
bad 'data.npz/edge_index.npy:0: source .* is out of range' ogb ogb-outside
bad 'data.npz/edge_index.npy: expected the shape \[2, edges\] or \[edges, 2\], found 1 dimensions' \
    ogb ogb-flat
bad 'data.npz/node_feat.npy: expected .*40' ogb ogb-rows
bad 'data.npz/edge-type.npy: row 0: expected an edge type from 0 to 511, found 60' ogb ogb-types
bad 'data.npz/edge-weight.npy: expected .* rows, one for each edge, found' ogb ogb-weights
bad 'ogb-label/raw/node-label.npz: expected an array node_label, found none' ogb ogb-label
bad "status 65: $work/ogb-labels/raw/node-label.npz/node_label.npy: expected 40 rows of labels, one for each node, found 39" ogb ogb-labels
text 'no archive\n'; bad 'broken: expected an archive of NumPy arrays' npz broken
/usr/bin/python3 - <<'PYTHON'
import json, shutil
import numpy as np
d = dict(np.load("csr.npz"))
np.savez("no-shape.npz", **{k: v for k, v in d.items() if k != "shape"})
np.savez("oblong.npz", **{**d, "shape": np.array([40, 41])})
np.savez("bsr.npz", **{**d, "format": np.array(b"bsr")})
np.savez("short.npz", **{**d, "indptr": d["indptr"][:-1]})
falling = d["indptr"].copy()
falling[3] = falling[5] + 1
np.savez("falling.npz", **{**d, "indptr": falling})
np.savez("outside.npz", **{**d, "indices": d["indices"] + 40})
np.savez("floats.npz", **{**d, "indices": d["indices"].astype(np.float32)})
np.savez("others.npz", a=np.zeros(3))
t = dict(np.load("tasks.npz"))
np.savez("mask.npz", **{**t, "train_masks": t["train_masks"].astype(np.int8) * 2})
np.savez("mask-short.npz", **{**t, "train_masks": t["train_masks"][:, :-1]})
np.savez("three.npz", **{**t, "edges": np.zeros((5, 3), np.int64)})
whole = open("tasks.npz", "rb").read()
open("cut.npz", "wb").write(whole[: len(whole) // 2])
flipped = bytearray(open("citations.npz", "rb").read())
flipped[len(flipped) // 2] ^= 255
open("flipped.npz", "wb").write(flipped)
for name in ("labels", "lists", "keys", "roles", "role-item", "outside"):
    shutil.copytree("saint", "saint-" + name)
np.savez("saint-outside/adj_full.npz", **{**d, "indices": d["indices"] + 40})
json.dump({"0": "x"}, open("saint-labels/class_map.json", "w"))
json.dump({"0": [0, 1], "1": [1]}, open("saint-lists/class_map.json", "w"))
json.dump({"99": 1}, open("saint-keys/class_map.json", "w"))
json.dump({"tr": 5}, open("saint-roles/role.json", "w"))
json.dump({"tr": [1, "a"]}, open("saint-role-item/role.json", "w"))
PYTHON
bad 'no-shape.npz: expected an array shape, found none' npz no-shape.npz "$links"
bad 'oblong.npz: shape: expected as many rows as columns, the nodes, found 40 x 41' npz oblong.npz \
    "$links"
bad "bsr.npz: format: expected csr, csc or coo, found 'bsr'" npz bsr.npz "$links"
bad "status 65: $work/short.npz/indptr.npy: expected 1 dimension of 41 elements, found 40" npz \
    short.npz "$links"
bad 'indptr.npy: row [0-9]*: expected starts that never fall' npz falling.npz "$links"
bad 'indices.npy:[0-9]*: target [0-9]* is out of range: expected a node id from 0 to 39' npz \
    outside.npz "$links"
bad 'indices.npy: expected integers' npz floats.npz "$links"
bad 'others.npz: expected the arrays of a scipy matrix' npz others.npz "$links"
bad 'train_masks.npy: node [0-9]*: expected 0 or 1, found 2' npz mask.npz
bad "status 65: $work/mask-short.npz/train_masks.npy: expected a mask of 40 nodes" npz \
    mask-short.npz
bad 'edges.npy: expected the shape \[2, edges\] or \[edges, 2\]' npz three.npz
bad 'cut.npz: expected an archive of NumPy arrays .numpy.savez., found something else, or one that is cut off' npz cut.npz
bad 'flipped.npz: .*the archive is damaged' npz flipped.npz
bad "status 65: $work/saint-outside/adj_full.npz/indices.npy:[0-9]*: target" graphsaint \
    saint-outside
bad 'class_map.json: "0": expected numbers' graphsaint saint-labels
bad 'class_map.json: "1": expected 2 labels as the first node has, found 1' graphsaint saint-lists
bad 'class_map.json: expected nodes from 0 to 39 as keys, found .99' graphsaint saint-keys
bad 'role.json: "tr": expected a list of nodes' graphsaint saint-roles
bad 'role.json: "tr": item 1: expected a node' graphsaint saint-role-item
expect 65 'adj_full.npz, found no such file' "$bin/graphmill" partition bad.yaml \
    --set ingest.path="$work/columns" --directory runs/bad --quiet
bad 'metadata.yaml:[0-9]*: expected a `type:` of each item of `nodes:`, as there are several' \
    graphbolt bolt-typed
bad 'metadata.yaml:[0-9]*: expected `format: numpy` .of a file of torch' graphbolt bolt-torch
bad 'metadata.yaml:[0-9]*: expected `num:` with the number of nodes' graphbolt bolt-num
bad 'metadata.yaml:[0-9]*: expected a list below `tasks:`' graphbolt bolt-list
bad 'metadata.yaml:[0-9]*: expected `data:` with an item `name: seeds`' graphbolt bolt-seeds
bad 'metadata.yaml:1: expected `nodes:` below `graph:`' graphbolt bolt-graph
bad 'metadata.yaml:[0-9]*: expected a `path:` beside `format:`' graphbolt bolt-path
bad 'train-label.npy: expected 12 rows, one for each seed, found 20' graphbolt bolt-short
bad 'edges.npy:[0-9]*: target: expected a node of type node, which has 30, numbered from 0, found' \
    graphbolt bolt-few
bad 'expected metadata.yaml, found no such file' graphbolt columns

# auto: nothing identifies the format, or two things do
mkdir empty both
cp rows/*.npy rows/meta.json both
cp bolt/metadata.yaml both
bad 'empty: ingest.format is auto, and nothing in this folder shows its format: expected meta.json' auto empty
bad 'meta.json says folder and metadata.yaml says graphbolt: write `format: folder` or `format: graphbolt`' auto both
bad 'edges.npy: expected a table of edges, found a NumPy array .npy.: .*edges are edges.npy beside meta.json in a folder' auto rows/edges.npy
pipeline bad auto rows "  labels: $work/labels.csv\n"
expect 78 'which does not read it: remove the line, or take a format that reads it .edge_list,matrix_market,metis.' "$bin/graphmill" partition bad.yaml --directory runs/bad --quiet
bad 'meta.json is not there: expected {"num_nodes": ..., "directed": ...} in it' folder saint

# LINQS and GraphML
bad "small.cites:1: expected ids of .*small.content, found none in any of 1 lines" linqs \
    linqs-strangers "$links"
bad "small.content:4: 'n0' is the id of an earlier line already: expected one line a paper" linqs \
    linqs-twice "$links"
bad 'small.content:4: expected 6 numbers between id and class as the first line has, found 5' \
    linqs linqs-short "$links"
bad "small.content:4: feature in column 3: expected a finite number, found 'x'" linqs linqs-word \
    "$links"
bad 'small.content:1: expected an id, at least one number and a class, found 1 columns' linqs \
    linqs-alone "$links"
bad 'small.content: expected a line a paper, found none' linqs linqs-empty "$links"
bad 'small.cites:1: expected two ids, of the cited paper and of the citing one, found 3 columns' \
    linqs linqs-three "$links"
bad 'linqs-two: expected one file \*.content, found' linqs linqs-two "$links"
bad 'linqs-no-cites: expected a file \*.cites, found none' linqs linqs-no-cites "$links"
bad 'doctype.graphml:2: expected no DOCTYPE, which could define entities, found one: remove it' \
    graphml doctype.graphml
bad 'cut.graphml is no XML: line [0-9]*, column' graphml cut.graphml
bad 'second.graphml:[0-9]*: expected one graph in the file, found a second' graphml second.graphml
bad 'nested.graphml:[0-9]*: expected no graph within a node or an edge' graphml nested.graphml
bad 'direction.graphml:[0-9]*: expected edgedefault="directed" or "undirected" of <graph>' graphml \
    direction.graphml
bad 'mixed.graphml:[0-9]*: expected edges that are all directed, or all undirected' graphml \
    mixed.graphml
bad 'hyper.graphml:[0-9]*: expected edges between two nodes, found a hyperedge' graphml \
    hyper.graphml
bad 'twice.graphml:[0-9]*: expected each id of a node once, found .n6.' graphml twice.graphml
bad 'nameless.graphml:[0-9]*: expected an id of <node>' graphml nameless.graphml
bad 'stranger.graphml:[0-9]*: expected the id of a <node> as the end of an edge, found .m' graphml \
    stranger.graphml
bad 'endless.graphml:[0-9]*: expected source and target of <edge>' graphml endless.graphml
bad 'keyless.graphml:[0-9]*: expected the id of a <key> as key of <data>, found .y.' graphml \
    keyless.graphml
bad 'number.graphml:[0-9]*: feat_0: expected a finite number, found .x' graphml number.graphml
bad 'mask.graphml:[0-9]*: expected true or false, whether the node is in the split, found .yes.' \
    graphml mask.graphml
bad 'valueless.graphml:[0-9]*: expected a value of each feature in each node, or a <default> of its key, found none of feat_0' graphml valueless.graphml
bad 'labels.graphml: expected one key of nodes called label, class or y, found several: name the one of the classes by `label_columns: NAME`' graphml labels.graphml
bad 'key-twice.graphml:[0-9]*: expected each id of a key once, found .l.' graphml key-twice.graphml
bad 'key-late.graphml:[0-9]*: expected <key> before <graph>' graphml key-late.graphml
bad 'nodeless.graphml: expected <graphml> with a <graph> with nodes, found none' graphml \
    nodeless.graphml
bad 'long.graphml:[0-9]*: expected a value of at most 4096 bytes' graphml long.graphml
bad 'deep.graphml:[0-9]*: expected at most 64 elements in each other, found more' graphml \
    deep.graphml

# OGB's graphs, and the choice of a split
bad 'edge.csv.gz:[0-9]*: target: expected a node of graph [0-9], which has [0-9]*, numbered from 0, found 99' ogb molecules-outside "$graphs"
bad 'edge.csv.gz:[0-9]*: expected no edge after those of the last of 4 graphs' ogb molecules-behind "$graphs"
bad 'expected as many counts of edges as of nodes, one a graph, found 2 and 4' ogb molecules-counts "$graphs"
bad 'num-node-list.csv.gz:2: expected a count, found -1' ogb molecules-count "$graphs"
bad "status 65: $work/arrays-outside/raw/data.npz/edge_index.npy:0: target: expected a node of graph 0, which has 12, numbered from 0, found 99" ogb arrays-outside "$graphs"
bad 'expected as many counts of edges as of nodes, one a graph, found 2 and 4' ogb arrays-counts \
    "$graphs"
bad 'arrays-count/raw/data.npz/num_nodes_list.npy:1: expected a count, found -1' ogb arrays-count \
    "$graphs"
bad 'arrays-edges/raw/data.npz/edge_index.npy: expected [0-9]* edges as num_edges_list says, found [0-9]*' ogb arrays-edges "$graphs"
bad 'arrays-label/raw/graph-label.npz: expected an array graph_label, found none' ogb arrays-label "$graphs"
bad 'expected one number .a data set of one graph., found 4; write .task: graph_classification. below .ingest:. for a data set of many graphs' ogb ogbg_molsmall
bad "ingest.split_name is 'first', expected of npz the number of a row of the masks" npz tasks-second.npz '  split_name: first\n'
bad "train_masks.npy: ingest.split_name is '2', expected a row from 0 to 1" npz tasks-second.npz '  split_name: 2\n'
bad 'metadata.yaml:[0-9]*: expected a task called as ingest.split_name says, found none' graphbolt bolt '  split_name: links\n'

# init writes a file that runs for each of them, with the direction that the input states.
mkdir init
init_runs() { # path, what the written file says...
    local name=${1//[\/.]/-} said
    "$bin/graphmill" init "$1" --output "init/$name.yaml" >init.out 2>init.err ||
        fail "init $1: $(cat init.err)"
    for said in "${@:2}"; do grep -qF -- "$said" "init/$name.yaml" ||
        fail "init $1 does not say '$said': $(cat "init/$name.yaml")"; done
    "$bin/graphmill" run "init/$name.yaml" --directory "runs/init-$name" --set epochs=1 \
        --quiet >run.out 2>run.err ||
        fail "the file of init $1 does not run: $(tail -3 run.err) $(cat "init/$name.yaml")"
}
init_runs columns 'format: folder' 'meta.json says directed: false'
init_runs graphs 'task: graph_classification' 'model: gin'
init_runs citations.npz 'format: npz' 'split: random 60/20/20'
init_runs tasks.npz 'format: npz'
init_runs weighted.npz 'task: link_prediction' 'edge_split: random 85/5/10'
init_runs saint 'format: graphsaint'
init_runs bolt 'format: graphbolt'
init_runs ogb-binary 'format: ogb'
init_runs ogbg_molsmall 'task: graph_classification'
init_runs linqs 'format: linqs' 'split: random 60/20/20'
init_runs small.graphml 'label_columns: "label"' 'edgedefault is undirected'
init_runs graph.mtx '# as the input says: the first line says symmetric' 'task: link_prediction'
init_runs weighted.mtx 'the first line says general'
init_runs graph.metis 'a METIS graph is undirected'
! grep -q 'split: random' init/tasks-npz.yaml ||
    fail "a split of its own is not used: $(cat init/tasks-npz.yaml)"
grep -q 'direction=undirected' <<<"$("$bin/graphmill" partition init/graph-mtx.yaml \
    --directory runs/init-direction 2>&1)" || fail "symmetric is not undirected"
expect 64 'so it is read as matrix_market: expected NODES beside a table of edges alone' \
    "$bin/graphmill" init graph.mtx labels.csv
# A table states its direction in a comment.
printf '%% asym unweighted\n1 2\n2 3\n3 1\n' >out.konect
printf '# Undirected graph: ../snap.txt\n1 2\n2 3\n3 1\n' >snap.txt
"$bin/graphmill" init out.konect --output init/konect.yaml >/dev/null 2>&1 &&
    grep -q 'direction: as_given *# the file says `% asym`' init/konect.yaml ||
    fail "KONECT: $(cat init/konect.yaml)"
"$bin/graphmill" init snap.txt --output init/snap.yaml >/dev/null 2>&1 &&
    grep -q 'direction: undirected *# the file says `# Undirected graph`' init/snap.yaml ||
    fail "SNAP: $(cat init/snap.yaml)"
