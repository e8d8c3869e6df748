#!/usr/bin/env bash
# The reads of the mini-batches of a run for each node equal those that a slow, simple program
# counts from the exported steps, for every form of batch, with the ids of the input. Only kept
# batches count; if none is kept, the message names the setting that keeps them.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"

cat >"$work/count.py" <<'PYTHON'
# count.py FOLDER ANSWER PARTS TABLE: checks table and answer against the steps in FOLDER, by number
# of node.
import csv, glob, json, sys
import numpy as np

def read(path):
    raw = open(path, "rb").read()
    size = int.from_bytes(raw[:8], "little")
    head, body = json.loads(raw[8:8 + size]), raw[8 + size:]
    kinds = {"I64": np.int64, "F32": np.float32}
    tensor = {k: np.frombuffer(body[v["data_offsets"][0]:v["data_offsets"][1]], kinds[v["dtype"]]).reshape(v["shape"])
              for k, v in head.items() if k != "__metadata__"}
    return head["__metadata__"]["form"], tensor

# Returns the node of each row of a mini-batch.
def row_nodes(form, hop_end):
    return np.concatenate([np.arange(n) for n in hop_end[:-1]]) if form == "layered" else np.arange(hop_end[-1])

# Returns lists of edges (source, target), by position in the batch, to be processed one after
# another; the nodes; and which of them are seeds.
def plain(form, t):
    rows = row_nodes(form, t["mini_batch.hop_end"])
    links = [(int(s), int(rows[r])) for s, r in t["mini_batch.edge_index"].T]
    passes = len(t["mini_batch.hop_end"]) - 1 if form == "subgraph" else 1
    return passes * [links], links, t["mini_batch.node"], range(t["mini_batch.hop_end"][0])

# papers_graph: each relation and then each reverse; an edge counts from the hop at which its target
# was known.
def relations(t):
    ends = [("author", "paper"), ("paper", "paper"), ("paper", "venue")]
    ends += [(b, a) for a, b in ends]
    names = ["author", "paper", "venue"]
    node = [t[f"mini_batch.node.{name}"] for name in names]
    hop_end = {name: t[f"mini_batch.hop_end.{name}"] for name in names}
    first = dict(zip(names, np.cumsum([0] + [len(part) for part in node])))
    links = [(int(first[s] + u), int(first[d] + v), int(v), d) for r, (s, d) in enumerate(ends)
             if f"mini_batch.edge_index.{r}" in t for u, v in t[f"mini_batch.edge_index.{r}"].T]
    hops = [[(u, v) for u, v, at, d in links if at < hop_end[d][hop]] for hop in range(len(hop_end["paper"]) - 1)]
    seeds = [int(first[name] + i) for name in names for i in range(hop_end[name][0])]
    return hops, [(u, v) for u, v, _, _ in links], np.concatenate(node), seeds

folder, answer, parts, table = sys.argv[1:]
part = np.loadtxt(parts, int)
n = len(part)
reads, remote, edges = (np.zeros(n, int) for _ in range(3))
steps = sorted(glob.glob(folder + "/*.safetensors"))
for path in steps:
    form, t = read(path)
    turns, links, node, seeds = relations(t) if form == "relations" else plain(form, t)
    home = {i: part[node[i]] for i in seeds}
    for turn in turns:
        for source, target in turn:
            if target in home:
                home.setdefault(source, home[target])
    for i, v in enumerate(node):
        reads[v] += 1
        remote[v] += i in home and home[i] != part[v]
    for _, target in links:
        edges[node[target]] += 1
found = list(csv.reader(open(table)))
assert found[0] == ["node", "reads", "remote", "edges"], found[0]
assert np.array_equal(np.array([row[1:] for row in found[1:]], int), np.stack([reads, remote, edges], 1)), "other counts"
said = json.load(open(answer))
assert said["batches"] == len(steps) > 0 and said["reads"] == reads.sum() and said["remote"] == remote.sum(), said
assert remote.sum() > 0 or form == "subgraph", "nothing was remote"
of_part = [{"reads": int(reads[part == p].sum()), "remote": int(remote[part == p].sum())} for p in range(part.max() + 1)]
assert said["parts"] == of_part, said["parts"]
assert abs(said["most_by_mean"] - max(p["reads"] for p in of_part) * len(of_part) / reads.sum()) < 1e-9, said
PYTHON
# Trains, exports loads and all steps, and compares: counted NAME FILE SLOTS [options]
counted() {
    local name=$1 file=$2 slots=$3 rounds round slot
    shift 3
    rounds=$(run "$name" "$file" --set checkpoint.keep=0 "$@" | json rounds)
    mkdir "$work/$name-steps"
    for ((round = 0; round < rounds; round++)); do
        for ((slot = 0; slot < slots; slot++)); do
            "$bin/graphmill" export "$work/$name" --what step --round $round --slot $slot \
                --output "$work/$name-steps/$round-$slot.safetensors" >/dev/null
        done
    done
    "$bin/graphmill" export "$work/$name" --what loads --json --output "$work/$name.csv" \
        >"$work/$name.json" 2>"$work/$name.said"
    "$bin/graphmill" export "$work/$name" --what assignment --output "$work/$name.parts" >/dev/null
    grep -q "mini-batches of rounds 0 to $((rounds - 1)): " "$work/$name.said" ||
        fail "$name said $(cat "$work/$name.said")"
    /usr/bin/python3 "$work/count.py" "$work/$name-steps" "$work/$name.json" "$work/$name.parts" \
        "$work/$name.csv" || fail "$name: see above"
}

ring_graph "$work/ring"
counted nested "$work/ring/g.yaml" 1
[ "$(cut -d, -f1 "$work/nested.csv" | tail -n +2)" = \
    "$(cut -d, -f1 "$work/nested/outputs/predictions.csv" | tail -n +2)" ] || fail "other ids"
counted slots "$work/ring/g.yaml" 3 --set sample.batch_size=4 --set sample.batches_per_round=3
counted layered "$work/ring/g.yaml" 1 --set sample.sampler=ladies
counted subgraph "$work/ring/g.yaml" 1 --set sample.sampler=graphsaint_node \
    --set sample.batch_size=20
# Pruned batches are not counted; if none is kept, the setting is named, and nothing is written.
run kept "$work/ring/g.yaml" --set epochs=6 --set checkpoint.keep=2 >/dev/null
"$bin/graphmill" export "$work/kept" --what loads --json --output "$work/kept.csv" \
    >"$work/kept.json" 2>/dev/null
[ "$(json first_round <"$work/kept.json")" -gt 0 ] ||
    fail "pruned rounds are counted: $(cat "$work/kept.json")"
run none "$work/ring/g.yaml" --set epochs=6 --set checkpoint.keep=1 >/dev/null
expect 65 'keeps no mini-batch any more \(checkpoint.keep: 0 keeps every one\)' "$bin/graphmill" \
    export "$work/none" --what loads --output "$work/none.csv"
[ ! -e "$work/none.csv" ] || fail "a table of nothing was written"

# Disjoint: a node may be in a batch several times.
awk -F, 'BEGIN {print "source target weight time"} {print substr($1, 2), substr($2, 2), 1, NR % 7}' "$work/ring/edges.csv" >"$work/ring/timed"
sed -i 's/^n//' "$work/ring/labels.csv" "$work/ring/rows.csv"
sed 's/edges.csv/timed/; s/direction: undirected/direction: as_given/' "$work/ring/g.yaml" \
    >"$work/ring/timed.yaml"
counted disjoint "$work/ring/timed.yaml" 1 --set sample.sampler=temporal_neighbor

papers_graph "$work/papers" 30
{ papers_pipeline "$work/papers" 1 2 'missing_features: degree'; \
    printf 'sample: {fanouts: [2, 2], batch_size: 6}\ntrain-step: {model: rgcn, hidden: 4}\n'; } \
    >"$work/papers.yaml"
counted relations "$work/papers.yaml" 1
