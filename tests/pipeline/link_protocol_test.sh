#!/usr/bin/env bash
# The protocol of link metrics: the source is no candidate for its own target; leave_one_out tests
# no pair that is in training; a split by time tests each kept interaction; and candidates of a
# bipartite graph are of the right side.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
/usr/bin/python3 - <<'PYTHON'
import random
random.seed(5)
def write(name, head, rows):
    open(name, "w").write("".join(",".join(map(str, row)) + "\n" for row in [head] + rows))
edges = set()
while len(edges) < 600:                      # two communities
    a, b = random.randrange(100), random.randrange(100)
    if a != b and (a // 50 == b // 50 or random.random() < 0.1):
        edges.add((min(a, b), max(a, b)))
write("friends.csv", ("src", "dst"), sorted(edges))
rows = []
for user in range(40):                       # the last interaction of each repeats an earlier one, of some the last two do
    items = random.sample(range(100, 140), 6)
    items += [random.choice(items[:4])] if user % 4 else random.sample(items[:3], 2)
    rows += [(user, item, 1000 * k + random.randrange(900)) for k, item in enumerate(items)]
random.shuffle(rows)
write("buys.csv", ("user", "item", "time"), rows)
PYTHON
pipeline() { # NAME EPOCHS INGEST SAMPLE TRAIN_STEP
    cat >"$1.yaml" <<YAML
name: $1
epochs: $2
ingest: {format: edge_list, task: link_prediction, features: degree+random, $3}
sample: {fanouts: [10], batch_size: 128, $4}
train-step: {model: sage, hidden: 16, decoder: dot, dropout: 0}
checkpoint: {metric: roc_auc}
infer: {weights: last, ranking: all}
YAML
    run "$1" "$1.yaml" "${@:5}" >/dev/null
}
pipeline friends 10 'path: friends.csv, direction: undirected' 'negatives: 2'
pipeline one 1 \
    'path: buys.csv, edge_columns: "source: user; target: item; time: time", edge_split: leave_one_out, direction: as_given' 'negatives: 2'
pipeline kept 1 \
    'path: buys.csv, edge_columns: "source: user; target: item; time: time", edge_split: time 60/20/20, duplicates: keep, direction: as_given' 'negatives: 2'
/usr/bin/python3 - "$source_folder/tests/pipeline" <<'PYTHON' || fail 'see above'
import collections, csv, sys
sys.path.insert(0, sys.argv[1])
from link_checks import read_rows

def predictions(name):
    return [p for p in csv.DictReader(open(f"{name}/outputs/predictions.csv"))]

def score(a, b):
    return sum(x * y for x, y in zip(a, b))

# Filtered ranks among all nodes except the source.
rows, near = read_rows("friends/outputs/embeddings.npy"), collections.defaultdict(set)
for line in list(open("friends.csv"))[1:]:
    a, b = map(int, line.split(","))
    near[a].add(b)
    near[b].add(a)
wrong = above_self = 0
for p in predictions("friends"):
    s, t = int(p["source"]), int(p["target"])
    scores = [score(row, rows[s]) for row in rows]
    others = [x for i, x in enumerate(scores) if i != s and i not in near[s]]
    rank = 1 + sum(x > scores[t] for x in others) + sum(x == scores[t] for x in others) / 2
    close = sum(abs(x - scores[t]) < 1e-5 * (1 + abs(x)) for x in others)
    wrong += abs(rank - float(p["rank"])) > close + 0.01
    above_self += scores[s] > scores[t]
assert not wrong, f"{wrong} ranks are not those of the other nodes"
assert above_self > 30, f"only {above_self} sources score above their targets: the test shows nothing"

# Test pairs are in no other split.
by = collections.defaultdict(list)
for user, item, time in list(csv.reader(open("buys.csv")))[1:]:
    by[user].append((int(time), item))
held = {(p["source"], p["target"]): p["split"] for p in predictions("one")}
tests = [pair for pair, split in held.items() if split == "test"]
assert len(tests) == 30, f"{len(tests)} users have a test pair, expected the 30 whose last interaction but one is new"
for user, item in tests:
    assert item not in [i for _, i in sorted(by[user])[:-2]], f"user {user} had item {item} before"

# Each kept interaction is an example, with as many candidates as there are items.
times = sorted(int(t) for events in by.values() for t, _ in events)
end = times[-(-len(times) * 60 // 100) - 1]
late = sum(t > end for t in times)
assert len(predictions("kept")) == late, f"{len(predictions('kept'))} interactions are held out, expected {late}"
items = {i for events in by.values() for _, i in events}
assert all(float(p["rank"]) <= len(items) for p in predictions("kept") + predictions("one")), "a user is a candidate in the place of an item"
PYTHON
said() { grep -qE "$2" "$work/$1/logs/ingest.log" ||
    fail "$1: the log does not say '$2': $(tail -4 "$work/$1/logs/ingest.log")"; }
said one '10 nodes with three edges or more hold out nothing'
said one 'all edges go from 40 nodes to [0-9]+ others'
said kept '[1-9][0-9]* of the [0-9]+ held-out edges join two nodes that a training edge joins, too'
run merged kept.yaml --set ingest.duplicates=remove --set ingest.edge_split='time 10/10/80' \
    >/dev/null
said merged '[1-9][0-9]* more edges are held out and are no examples'
