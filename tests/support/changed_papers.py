# changed_papers.py FOLDER: writes rows of features for the papers of a graph of
# tests/pipeline/library.sh to FOLDER. changed_papers.py FOLDER UPDATE... OUT: writes the graph
# after all updates to OUT. An update is a folder of files of `graphmill update`. Held-out pairs,
# held-valid.csv and held-test.csv, and given negatives, negatives-train.csv and so on, are updated
# with it.
import os, struct, sys

RELATIONS = ["writes", "cites", "in"]
TYPES = ["author", "paper", "venue"]
ENDS = ("src", "dst", "etype")


def row_of(node):
    return [(node * 7 + c) % 11 / 4 for c in range(4)]


def lines(path):
    return [line.split(",") for line in open(path).read().split("\n") if line] if os.path.exists(path) else []


def write(path, rows):
    with open(path, "w") as out:
        out.writelines(",".join(map(str, row)) + "\n" for row in rows)


def write_npy(path, rows):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        for row in rows:
            out.write(struct.pack("<%df" % len(row), *row))


def relation(word):
    word = word.split(":")[1] if ":" in word else word
    return RELATIONS[int(word)] if word.isdigit() else word


def read_edges(path):
    """Returns each edge as (source, target, relation, other columns ...)."""
    table = lines(path)
    if not table:
        return [], []
    head = table[0]
    more = [i for i, name in enumerate(head) if name not in ENDS]
    at = [head.index(name) for name in ENDS]
    edges = [(r[at[0]], r[at[1]], relation(r[at[2]])) + tuple(r[i] for i in more) for r in table[1:]]
    return [head[i] for i in more], edges


folder, updates, out = sys.argv[1], sys.argv[2:-1], sys.argv[-1]
kind = {}
for name, first, count in lines(folder + "/node-types.csv")[1:]:
    kind.update((str(v), name) for v in range(int(first), int(first) + int(count)))
nodes = {t: [v for v in kind if kind[v] == t] for t in TYPES}
label = {str(v): line[0] for v, line in enumerate(lines(folder + "/node-label.csv"))}
split = {line[0]: s for s in ("train", "valid", "test") for line in lines(f"{folder}/{s}.csv")}
rows = {v: row_of(int(v)) for v in nodes["paper"]}
columns, edges = read_edges(folder + "/edges.csv")
held = {s: lines(f"{folder}/held-{s}.csv") for s in ("valid", "test")}
negatives = {s: lines(f"{folder}/negatives-{s}.csv") for s in ("train", "valid", "test")}


def drop(is_gone):
    """Removes edges, and pairs and lines of removed edges."""
    global edges
    edges = [e for e in edges if not is_gone(*e[:3])]
    for s in held:
        held[s] = held[s][:1] + [p for p in held[s][1:] if not is_gone(p[0], p[1], relation(p[2]))]
    for s in negatives:
        negatives[s] = [p for p in negatives[s] if not is_gone(p[0], p[1], relation(p[2]))]


def remove_node(node):
    nodes[kind[node]].remove(node)
    drop(lambda source, target, _: node in (source, target))
    for s in negatives:
        left = [p[:3] + [v for v in p[3:] if v != node] for p in negatives[s]]
        negatives[s] = [p for p in left if len(p) > 3]


def apply(update):
    for line in lines(update + "/remove-nodes.csv"):
        remove_node(line[0])
    gone = {(s, t, relation(r)) for s, t, r in lines(update + "/remove-edges.csv")[1:]}
    drop(lambda *edge: edge in gone)
    for line in lines(update + "/add-nodes.csv")[1:]:
        nodes[line[1]].append(line[0])
        kind[line[0]] = line[1]
        label[line[0]] = line[3] if len(line) > 3 and line[3] else "-1"
        if len(line) > 2 and line[2]:
            split[line[0]] = line[2]
    for line in lines(update + "/features.csv"):
        rows[line[0]] = [float(x) for x in line[1:]]
    edges.extend(read_edges(update + "/add-edges.csv")[1])


def write_graph():
    os.mkdir(out)
    order = [v for t in TYPES for v in nodes[t]]
    first = 0
    sizes = []
    for t in TYPES:
        sizes.append((t, first, len(nodes[t])))
        first += len(nodes[t])
    write(out + "/meta.json", [['{"num_nodes": %d' % len(order), ' "directed": true', ' "num_classes": 3}']])
    write(out + "/node-types.csv", [("name", "first_id", "count")] + sizes)
    write(out + "/edge-types.csv", lines(folder + "/edge-types.csv"))
    write(out + "/node-ids.csv", [[v] for v in order])
    write(out + "/edges.csv", [ENDS + tuple(columns)] + [e[:2] + (RELATIONS.index(e[2]),) + e[3:] for e in edges])
    if label:
        write(out + "/node-label.csv", [[label.get(v, "-1")] for v in order])
    for s in ("train", "valid", "test"):
        if split:
            write(f"{out}/{s}.csv", [[v] for v in order if split.get(v) == s])
        if negatives[s]:
            write(f"{out}/negatives-{s}.csv", negatives[s])
    for s in held:
        if held[s]:
            write(f"{out}/held-{s}.csv", held[s])
    write_npy(out + "/paper-feat.npy", [rows[v] for v in nodes["paper"]])


if updates:
    for update in updates:
        apply(update)
    write_graph()
else:
    write_npy(folder + "/paper-feat.npy", [rows[v] for v in nodes["paper"]])
