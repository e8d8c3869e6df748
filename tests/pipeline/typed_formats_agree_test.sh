#!/usr/bin/env bash
# One small graph of three node types and four relations in every format that has types: the same
# records, hash for hash. Then each is broken, and the error is named.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
/usr/bin/python3 - <<'PYTHON' || fail "see above"
import json, os
import numpy as np

rng = np.random.default_rng(7)
types = {"author": 12, "paper": 20, "venue": 3}
first = dict(zip(types, np.cumsum([0] + list(types.values()))))
relations = [("author", "writes", "paper"), ("paper", "cites", "paper"), ("paper", "in", "venue"), ("venue", "hosts", "author")]
edges = {r: np.unique(rng.integers(0, [types[r[0]], types[r[2]]], (30, 2)), axis=0) for r in relations}
x = {"author": np.round(rng.random((12, 4)), 3).astype(np.float32), "paper": np.round(rng.random((20, 6)), 3).astype(np.float32)}
y = rng.integers(0, 3, 20)
order = rng.permutation(20)
split = {"train": np.sort(order[:10]), "valid": np.sort(order[10:14]), "test": np.sort(order[14:])}

def table(path, rows, separator=",", header=None):
    with open(path, "w") as f:
        if header:
            f.write(header + "\n")
        f.writelines(separator.join(str(v) for v in row) + "\n" for row in rows)

# the plain folder, with which the others are compared
os.mkdir("plain")
json.dump({"num_nodes": 35, "directed": True}, open("plain/meta.json", "w"))
table("plain/node-types.csv", [(t, types[t], first[t]) for t in types], header="name,count,first_id")
table("plain/edge-types.csv", [(r[1], r[0], r[2]) for r in relations], header="name,src_type,dst_type")
table("plain/edges.csv", [(s + first[r[0]], d + first[r[2]], i) for i, r in enumerate(relations) for s, d in edges[r]], header="src,dst,etype")
for t in x:
    np.save(f"plain/{t}-feat.npy", x[t])
table("plain/node-label.csv", [(y[i - 12] if 12 <= i < 32 else -1,) for i in range(35)])
for s in split:
    table(f"plain/{s}.csv", [(i + 12,) for i in split[s]])

# GraphBolt
def bolt(name, change=lambda text: text):
    os.makedirs(name)
    text = "dataset_name: bolt\ngraph:\n  nodes:\n"
    text += "".join(f"    - type: {t}\n      num: {n}\n" for t, n in types.items()) + "  edges:\n"
    for i, r in enumerate(relations):
        if i % 2:
            np.save(f"{name}/{r[1]}.npy", edges[r].T)
        else:
            table(f"{name}/{r[1]}.csv", edges[r])
        text += f'    - type: "{":".join(r)}"\n      format: {"numpy" if i % 2 else "csv"}\n      path: {r[1]}.{"npy" if i % 2 else "csv"}\n'
    text += "feature_data:\n"
    for t in reversed(x):
        np.save(f"{name}/{t}.npy", x[t])
        text += f"  - domain: node\n    type: {t}\n    name: feat\n    format: numpy\n    path: {t}.npy\n"
    text += "tasks:\n  - name: node_classification\n    num_classes: 3\n"
    for s, key in (("train", "train_set"), ("valid", "validation_set"), ("test", "test_set")):
        np.save(f"{name}/{s}.npy", split[s])
        np.save(f"{name}/{s}-label.npy", y[split[s]])
        text += f"    {key}:\n      - type: paper\n        data:\n"
        text += f"          - {{name: seeds, format: numpy, path: {s}.npy}}\n          - {{name: labels, format: numpy, path: {s}-label.npy}}\n"
    open(name + "/metadata.yaml", "w").write(change(text))
bolt("bolt")
bolt("bolt-end", lambda t: t.replace("paper:in:venue", "paper:in:place"))
bolt("bolt-form", lambda t: t.replace('"paper:in:venue"', "in"))
bolt("bolt-twice", lambda t: t.replace("type: venue\n", "type: paper\n"))
bolt("bolt-relation-twice", lambda t: t.replace("paper:in:venue", "author:writes:paper"))
bolt("bolt-seed-type", lambda t: t.replace("      - type: paper\n", "      - type: page\n"))
bolt("bolt-no-seed-type", lambda t: t.replace("      - type: paper\n", "      - type: null\n"))
bolt("bolt-feature-type", lambda t: t.replace("    type: author\n    name", "    type: writer\n    name"))
bolt("bolt-feature-twice", lambda t: t.replace("    type: author\n    name", "    type: paper\n    name"))
bolt("bolt-name", lambda t: t.replace("    - type: venue\n      num: 3\n", "    - num: 3\n"))
bolt("bolt-few", lambda t: t.replace("num: 12", "num: 5"))
bolt("bolt-wrong-format", lambda t: t.replace("format: csv", "format: numpy"))

# DistDGL's chunks, two of each type
def chunked(name, change=lambda meta: None):
    os.makedirs(name + "/edges")
    half = lambda rows: (rows[: len(rows) // 2], rows[len(rows) // 2 :])
    keys = [":".join(r) for r in relations]
    meta = {"graph_name": "g", "node_type": list(types), "edge_type": keys,
            "num_nodes_per_chunk": [[n // 2, n - n // 2] for n in types.values()],
            "num_edges_per_chunk": [[len(c) for c in half(edges[r])] for r in relations], "edges": {}, "node_data": {}}
    for i, (r, key) in enumerate(zip(relations, keys)):
        files = []
        for c, rows in enumerate(half(edges[r])):
            files.append(f"edges/{r[1]}-{c}.{'npy' if i == 1 else 'txt'}")
            np.save(f"{name}/{files[-1]}", rows) if i == 1 else table(f"{name}/{files[-1]}", rows, " ")
        meta["edges"][key] = {"format": {"name": "numpy"} if i == 1 else {"name": "csv", "delimiter": " "}, "data": files}
    def arrays(t, array, value):
        paths = []
        for c, rows in enumerate(half(value)):
            np.save(f"{name}/{t}-{array}-{c}.npy", rows)
            paths.append(f"{t}-{array}-{c}.npy")
        meta["node_data"].setdefault(t, {})[array] = {"format": {"name": "numpy"}, "data": paths}
    for t in x:
        arrays(t, "feat", x[t])
    arrays("paper", "label", y)
    for s, array in (("train", "train_mask"), ("valid", "val_mask"), ("test", "test_mask")):
        arrays("paper", array, np.isin(np.arange(20), split[s]))
    change(meta)
    json.dump(meta, open(name + "/metadata.json", "w"))
chunked("chunks")
chunked("chunks-no-types", lambda m: m.pop("node_type"))
chunked("chunks-no-counts", lambda m: m.pop("num_nodes_per_chunk"))
chunked("chunks-counts", lambda m: m["num_nodes_per_chunk"].pop())
chunked("chunks-count", lambda m: m["num_nodes_per_chunk"].__setitem__(0, [6, "six"]))
chunked("chunks-relation", lambda m: m["edge_type"].__setitem__(0, "writes"))
chunked("chunks-no-files", lambda m: m["edges"].pop("author:writes:paper"))
chunked("chunks-format", lambda m: m["edges"]["author:writes:paper"].update(format={"name": "parquet"}))
chunked("chunks-no-format", lambda m: m["edges"]["author:writes:paper"].pop("format"))
chunked("chunks-delimiter", lambda m: m["edges"]["author:writes:paper"]["format"].update(delimiter="|"))
chunked("chunks-path", lambda m: m["edges"]["author:writes:paper"].update(data=[5]))
chunked("chunks-npy", lambda m: m["edges"]["author:writes:paper"].update(format={"name": "numpy"}))
chunked("chunks-edges", lambda m: m["num_edges_per_chunk"].__setitem__(0, [1, 1]))
chunked("chunks-node-type", lambda m: m["node_data"].update(page={"feat": m["node_data"]["paper"]["feat"]}))
chunked("chunks-rows", lambda m: m["num_nodes_per_chunk"].__setitem__(1, [9, 11]))
chunked("chunks-mask", lambda m: m["node_data"]["paper"].update(train_mask=m["node_data"]["paper"]["label"]))
chunked("chunks-three", lambda m: m["num_nodes_per_chunk"].__setitem__(1, [5, 5, 10]))
open("chunks-path/metadata.json", "a").close()
os.makedirs("chunks-cut")
open("chunks-cut/metadata.json", "w").write(open("chunks/metadata.json").read()[:200])

# CSVDataset: with line numbers as ids, and with names
def csv(name, named=False, change=lambda meta: meta, nodes=lambda t, lines: lines, edge=lambda r, lines: lines):
    os.makedirs(name)
    call = lambda t, i: f"{t[0]}{i}" if named else str(i)
    meta = "dataset_name: g\nnode_data:\n"
    for t, n in types.items():
        meta += f"  - file_name: {t}.csv\n    ntype: {t}\n"
        lines = ["node_id,age" + (",feat" if t in x else "") + (",label,train_mask,val_mask,test_mask" if t == "paper" else "")]
        for i in range(n):
            row = [call(t, i), "7"]
            row += ['"' + ", ".join(repr(float(v)) for v in x[t][i]) + '"'] if t in x else []
            row += [str(y[i])] + [str(bool(i in split[s])) for s in split] if t == "paper" else []
            lines.append(",".join(row))
        open(f"{name}/{t}.csv", "w").write("\n".join(nodes(t, lines)) + "\n")
    meta += "edge_data:\n"
    for r in relations:
        meta += f"  - file_name: {r[1]}.csv\n    etype: [{', '.join(r)}]\n"
        lines = ["src_id,dst_id,since"] + [f"{call(r[0], a)},{call(r[2], b)},2001" for a, b in edges[r]]
        open(f"{name}/{r[1]}.csv", "w").write("\n".join(edge(r, lines)) + "\n")
    open(name + "/meta.yaml", "w").write(change(meta))
def line(number, of, by):
    return lambda t, lines: [by if k == number and of in (t, t[1]) else text for k, text in enumerate(lines)]
csv("csv")
csv("csv-named", named=True)
csv("csv-etype", change=lambda m: m.replace("[author, writes, paper]", "writes"))
csv("csv-end", change=lambda m: m.replace("[author, writes, paper]", "[author, writes, page]"))
csv("csv-graphs", change=lambda m: m + "graph_data:\n  file_name: graphs.csv\n")
csv("csv-separator", change=lambda m: m + 'separator: "|"\n')
csv("csv-no-nodes", change=lambda m: m.replace("node_data", "nodes"))
csv("csv-no-edges", change=lambda m: m.replace("edge_data", "edges"))
csv("csv-no-file", change=lambda m: m.replace("file_name: venue.csv", "name: venue.csv"))
csv("csv-absent", change=lambda m: m.replace("file_name: venue.csv", "file_name: places.csv"))
csv("csv-id-twice", nodes=line(3, "author", '0,7,"1,2,3,4"'))
csv("csv-header", nodes=line(0, "venue", "id,age"))
csv("csv-columns", nodes=line(2, "venue", "1,2,3"))
csv("csv-feat", nodes=line(2, "author", '1,7,"1,2,3"'))
csv("csv-feat-word", nodes=line(2, "author", '1,7,"1,2,3,x"'))
csv("csv-label", nodes=line(2, "paper", '1,7,"1,2,3,4,5,6",red,True,False,False'))
csv("csv-mask", nodes=line(2, "paper", '1,7,"1,2,3,4,5,6",1,yes,False,False'))
csv("csv-empty", nodes=lambda t, lines: lines if t != "venue" else lines[:1])
csv("csv-unknown", edge=line(2, "writes", "0,99,1"))
csv("csv-edge-header", edge=line(0, "writes", "a,b,c"))
csv("csv-edge-columns", edge=line(1, "writes", "0,1"))
csv("csv-graph-id", nodes=lambda t, lines: lines if t != "venue" else ["node_id,graph_id", "0,0", "1,0", "2,1"])

# OGB, as text and as arrays
def zipped(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    table(path[:-3], rows)
    os.system(f"gzip -f {path[:-3]}")
def mag(name, change=lambda folder: None, splits=("time",)):
    raw = name + "/raw/"
    zipped(raw + "num-node-dict.csv.gz", [types.keys(), types.values()])
    zipped(raw + "triplet-type-list.csv.gz", relations)
    for r in relations:
        zipped(f"{raw}relations/{'___'.join(r)}/edge.csv.gz", edges[r])
        zipped(f"{raw}relations/{'___'.join(r)}/num-edge-list.csv.gz", [[len(edges[r])]])
    for t in x:
        zipped(f"{raw}node-feat/{t}/node-feat.csv.gz", [[repr(float(v)) for v in row] for row in x[t]])
    zipped(raw + "node-label/paper/node-label.csv.gz", y[:, None])
    for k, one in enumerate(splits):
        for s in split:
            zipped(f"{name}/split/{one}/paper/{s}.csv.gz", split[s if not k else {"train": "test", "test": "train"}.get(s, s)][:, None])
    change(raw)
mag("mag")
mag("mag-two", splits=("time", "reversed"))
mag("mag-counts", lambda f: zipped(f + "num-node-dict.csv.gz", [types.keys(), [1, 2]]))
mag("mag-count", lambda f: zipped(f + "num-node-dict.csv.gz", [types.keys(), [12, "x", 3]]))
mag("mag-triplet", lambda f: zipped(f + "triplet-type-list.csv.gz", [["author", "writes"]]))
mag("mag-unknown", lambda f: zipped(f + "triplet-type-list.csv.gz", [["author", "writes", "page"]]))
mag("mag-no-triplets", lambda f: os.remove(f + "triplet-type-list.csv.gz"))
mag("mag-no-edges", lambda f: os.remove(f + "relations/author___writes___paper/edge.csv.gz"))
mag("mag-edge-count", lambda f: zipped(f + "relations/author___writes___paper/num-edge-list.csv.gz", [[3]]))
mag("mag-end", lambda f: zipped(f + "relations/author___writes___paper/edge.csv.gz", [[0, 0], [0, 20]]))
mag("mag-feat", lambda f: zipped(f + "node-feat/author/node-feat.csv.gz", [[1, 2]] * 11))
mag("mag-label", lambda f: zipped(f + "node-label/paper/node-label.csv.gz", [[1]] * 21))
def arrays(name, change=lambda folder: None):
    raw = name + "/raw/"
    os.makedirs(raw)
    np.savez(raw + "num_nodes_dict.npz", **{t: np.array([n]) for t, n in types.items()})
    np.savez_compressed(raw + "edge_index_dict.npz", **{"___".join(r): edges[r].T for r in relations})
    np.savez(raw + "node_feat.npz", **x)
    np.savez(raw + "node-label.npz", paper=y[:, None])
    for s in split:
        zipped(f"{name}/split/time/paper/{s}.csv.gz", split[s][:, None])
    change(raw)
arrays("mag-arrays")
arrays("arrays-no-edges", lambda f: os.remove(f + "edge_index_dict.npz"))
arrays("arrays-name", lambda f: np.savez(f + "edge_index_dict.npz", writes=edges[relations[0]].T))
arrays("arrays-count", lambda f: np.savez(f + "num_nodes_dict.npz", **{t: np.array([n, n]) for t, n in types.items()}))
arrays("arrays-label", lambda f: np.savez(f + "node-label.npz", paper=y[:-1]))
PYTHON

. "$source_folder/tests/support/format_runs.sh"
relations='  relations: true\n  missing_features: degree\n'
lines_of_bad=$relations kinds='edge_chunk feature_chunk node_labels node_splits'
ingest plain folder plain "$relations"
[ "$(wc -l <plain.found)" -ge 5 ] || fail "too few records: $(cat plain.found)"

ingest bolt graphbolt bolt "$relations"
agree bolt plain
bad 'bolt-end/metadata.yaml:[0-9]*: expected a relation between existing node types, found .paper:in:place.' graphbolt bolt-end
bad 'metadata.yaml:[0-9]*: expected a relation as source:name:target, with the types of both ends, found .in.' graphbolt bolt-form
bad 'metadata.yaml:[0-9]*: expected each node type once, found .paper.' graphbolt bolt-twice
bad 'metadata.yaml:[0-9]*: expected each relation once, found .author:writes:paper.' graphbolt bolt-relation-twice
bad 'metadata.yaml:[0-9]*: expected one of the node types of the graph, found .page.' graphbolt bolt-seed-type
bad 'metadata.yaml:[0-9]*: expected a node type, because there are several, found .none.' graphbolt bolt-no-seed-type
bad 'metadata.yaml:[0-9]*: expected one of the node types of the graph, found .writer.' graphbolt bolt-feature-type
bad 'metadata.yaml:[0-9]*: expected features called feat once for each node type' graphbolt bolt-feature-twice
bad 'metadata.yaml:[0-9]*: expected a `type:` of each item of `nodes:`, as there are several' graphbolt bolt-name
bad 'writes.csv:[0-9]*: source: expected a node of type author, which has 5, numbered from 0, found' graphbolt bolt-few
bad 'metadata.yaml:[0-9]*: expected `format: numpy` of a file .npy, `format: csv` of another' graphbolt bolt-wrong-format
bad 'author.npy: features of type author: expected 6 columns as earlier types have, found 4; write `relations: true`' graphbolt bolt '  split: given\n'

ingest chunks distdgl chunks "$relations"
agree chunks plain
bad 'metadata.json: "node_type": expected a list of names' distdgl chunks-no-types
bad '"num_nodes_per_chunk": expected for each type a list of counts, one a chunk, found nothing' \
    distdgl chunks-no-counts
bad '"num_nodes_per_chunk": expected a list as long as that of types' distdgl chunks-counts
bad '"num_nodes_per_chunk": expected for each type a list of counts' distdgl chunks-count
bad '"edge_type": expected a list of relations as source:name:target' distdgl chunks-relation
bad '"edges": expected files for each relation of edge_type' distdgl chunks-no-files
bad '"author:writes:paper": expected csv or numpy, found parquet .duckdb' distdgl chunks-format
bad '"author:writes:paper": expected {"format": {"name": "csv" or "numpy"}' distdgl chunks-no-format
bad '"author:writes:paper": expected a delimiter that is a blank, a comma or a tab' distdgl \
    chunks-delimiter
bad '"author:writes:paper": expected paths of files below "data"' distdgl chunks-path
bad '"author:writes:paper": expected files .npy, as the format is numpy, found edges/writes-0.txt' \
    distdgl chunks-npy
bad '"author:writes:paper": expected 2 edges as num_edges_per_chunk says, found [0-9]*' distdgl \
    chunks-edges
bad 'metadata.json: expected one of the node types of the graph, found .page.' distdgl \
    chunks-node-type
bad 'paper-label-0.npy: expected 9 rows, one for each node, found 10' distdgl chunks-rows
bad 'paper-label-0.npy:[0-9]*: expected 0 or 1, whether the node is in the split, found 2' distdgl \
    chunks-mask
bad '"[a-z_]*": expected one file, or as many as num_nodes_per_chunk has counts' distdgl \
    chunks-three
bad 'chunks-cut/metadata.json:1:200: expected JSON, found what is not valid JSON' distdgl chunks-cut
bad 'expected metadata.json, found no such file' distdgl plain

ingest csv dgl_csv csv "$relations"
agree csv plain
ingest csv_named dgl_csv csv-named "$relations"
agree csv_named plain
bad 'meta.yaml:[0-9]*: expected `etype:` with the node type of sources, a name, and the node type of targets' dgl_csv csv-etype
bad 'meta.yaml:[0-9]*: expected a relation between existing node types, found .author:writes:page.' dgl_csv csv-end
bad 'meta.yaml:[0-9]*: expected a data set of one graph; many, of which each has a label, go into a folder' dgl_csv csv-graphs
bad 'meta.yaml:[0-9]*: expected a `separator:` that is a comma, a tab or a blank' dgl_csv \
    csv-separator
bad 'meta.yaml:1: expected `node_data:` with a list of 1 to 128 files' dgl_csv csv-no-nodes
bad 'meta.yaml:1: expected `edge_data:` with a list of 1 to 128 files' dgl_csv csv-no-edges
bad 'meta.yaml:[0-9]*: expected `file_name:` with the name of a file' dgl_csv csv-no-file
bad 'places.csv' dgl_csv csv-absent
bad "author.csv:4: '0' is the id of an earlier line already: expected one line a node" dgl_csv \
    csv-id-twice
bad "venue.csv:1: expected a header of at most 256 columns with node_id, found 'id,age'" dgl_csv \
    csv-header
bad 'venue.csv:3: expected 2 columns as the header has, found 3' dgl_csv csv-columns
bad 'author.csv:3: expected 4 feature columns, found 3' dgl_csv csv-feat
bad "author.csv:3: feature in column 4: expected a finite number, found 'x'" dgl_csv csv-feat-word
bad "paper.csv:3: label in column 1: expected a number, found 'red'" dgl_csv csv-label
bad "paper.csv:3: expected a mask of 0 and 1, or False and True, found 'yes'" dgl_csv csv-mask
bad 'venue.csv: expected a header and a line a node, found none' dgl_csv csv-empty
bad "writes.csv:3: dst_id: expected an id of .*paper.csv, found '99'" dgl_csv csv-unknown
bad "writes.csv:1: expected a header with src_id and dst_id, found 'a,b,c'" dgl_csv csv-edge-header
bad 'writes.csv:2: expected 3 columns, found 2' dgl_csv csv-edge-columns
bad "venue.csv:4: graph_id: expected one graph, '0' as in the first line, found '1'" dgl_csv \
    csv-graph-id
bad 'expected meta.yaml, found no such file' dgl_csv plain

ingest mag ogb mag "$relations"
agree mag plain
ingest mag_chosen ogb mag-two "$relations  split_name: time\n"
agree mag_chosen plain
ingest mag_other ogb mag-two "$relations  split_name: reversed\n"
! cmp -s mag_other.found plain.found || fail "split_name chooses nothing"
# Arrays are in the order of their names, which gives another order of relations: every record
# exists, with other numbers of relations.
ingest mag_arrays ogb mag-arrays "$relations"
cmp <(grep -v edge_chunk mag_arrays.found) <(grep -v edge_chunk plain.found) ||
    fail "arrays have other nodes"
bad 'expected one folder of splits, found .*: write .split_name: ' ogb mag-two
bad "ingest.split_name is 'space', expected one of the folders in it: reversed, time" ogb mag-two \
    "$relations  split_name: space\n"
bad 'num-node-dict.csv.gz:2: expected a line of 1 to 16 types and a line with as many numbers, found 3 and 2' ogb mag-counts
bad "num-node-dict.csv.gz:2: expected at most 16 types, each with a name and a number of nodes, found 'paper'" ogb mag-count
bad "triplet-type-list.csv.gz:1: expected source type, name and target type, found 'author,writes'" ogb mag-triplet
bad 'triplet-type-list.csv.gz:1: expected a relation between existing node types, found .author:writes:page.' ogb mag-unknown
bad 'mag-no-triplets/raw: expected triplet-type-list.csv.gz, found no such file' ogb mag-no-triplets
bad 'author___writes___paper: expected edge.csv.gz, found no such file' ogb mag-no-edges
bad 'num-edge-list.csv.gz: expected [0-9]*, the number of edges beside it, found 3' ogb \
    mag-edge-count
bad 'edge.csv.gz:2: target: expected a node of type paper, which has 20, numbered from 0, found 20' ogb mag-end
bad 'node-feat.csv.gz:12: expected 12 lines, one for each node, found the end of the file' ogb \
    mag-feat
bad 'node-label.csv.gz:21: expected 20 lines, one for each node, found more' ogb mag-label
bad 'arrays-no-edges/raw: expected edge_index_dict.npz, found no such file' ogb arrays-no-edges
bad 'edge_index_dict.npz: expected arrays called source___name___target, found writes' ogb \
    arrays-name
bad 'author.npy: expected at most 1 elements, found 2' ogb arrays-count
bad "status 65: $work/arrays-label/raw/node-label.npz/paper.npy: expected 20 rows, one for each node, found 19" ogb arrays-label

# auto distinguishes them, and outputs have the ids of the files
for name in bolt:graphbolt chunks:distdgl csv:dgl_csv; do
    ingest "auto_${name%:*}" auto "${name%:*}" "$relations"
    agree "auto_${name%:*}" plain
    grep -q "ingest.format is auto: .*so it is read as ${name#*:}" \
        "runs/auto_${name%:*}/logs/ingest.log" || fail "auto does not say what it saw: $name"
done
"$bin/graphmill" run csv_named.yaml --directory runs/csv_named --quiet >/dev/null ||
    fail "no run of named nodes"
[ "$(sed -n 2p runs/csv_named/outputs/predictions.csv | cut -d, -f1)" = paper:p0 ] ||
    fail "ids are lost: $(head -2 runs/csv_named/outputs/predictions.csv)"

# init writes a file that runs for each of them, with the types recognised.
for name in plain bolt chunks csv mag mag-arrays; do
    "$bin/graphmill" init "$name" --output "init-$name.yaml" >init.out 2>init.err ||
        fail "init $name: $(cat init.err)"
    grep -q '^  relations: true' "init-$name.yaml" ||
        fail "init does not see the types of $name: $(cat "init-$name.yaml")"
    ! grep -q link_prediction "init-$name.yaml" ||
        fail "init does not see the labels of $name: $(cat "init-$name.yaml")"
    "$bin/graphmill" run "init-$name.yaml" --directory "runs/init-$name" --set epochs=1 \
        --quiet >run.out 2>run.err ||
        fail "the file of init $name does not run: $(tail -3 run.err) $(cat "init-$name.yaml")"
done
