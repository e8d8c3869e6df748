#!/usr/bin/env bash
# Negative pairs given by files, in a graph with relations: ranks among them are computed again from
# the outputs, mini-batches contain them, the same bytes for any workers and by replay; nodes of
# other types are named before anything is partitioned.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
folder=$work/papers
papers_graph "$folder" 150
rm "$folder"/{train,valid,test,node-label}.csv # none is read

# 100 authors, 150 papers from 100 on, 3 venues from 250 on. Every fifth edge is held out. A line
# has other targets of its relation.
python3 - "$folder" "$work" <<'MAKE'
import random, sys
random.seed(5)
folder, work = sys.argv[1:]
lines = open(f"{folder}/edges.csv").read().split()
edges = list(dict.fromkeys(tuple(map(int, line.split(","))) for line in lines[1:]))
targets = {0: range(100, 250), 1: range(100, 250), 2: range(250, 253)}
split = {"valid": edges[0::10], "test": edges[5::10], "train": [edge for i, edge in enumerate(edges) if i % 5]}
write = lambda path, head, rows: open(path, "w").write("".join(",".join(map(str, row)) + "\n" for row in head + rows))
write(f"{folder}/edges.csv", [("src", "dst", "etype")], split["train"])
for name, of in split.items():
    write(f"{work}/{name}.csv", [("source", "target", "type")], of)
    given = [edge + tuple(random.choice(targets[edge[2]]) for _ in range(random.randint(3, 20))) for edge in of]
    random.shuffle(given)
    write(f"{work}/{name}_negatives.csv", [], given[: len(given) // 2] if name == "train" else given)
MAKE

file=$work/given.yaml
{
    papers_pipeline "$folder" 3 3 'missing_features: random' 'random_dim: 8' \
        'task: link_prediction' 'edge_split: given' \
        'valid_edges: valid.csv' 'test_edges: test.csv' 'train_negatives: train_negatives.csv' \
        'valid_negatives: valid_negatives.csv' 'test_negatives: test_negatives.csv'
    cat <<'YAML'
sample:
  fanouts: [4, 3]
  batch_size: 100
  batches_per_round: 2
  negatives: 2
  evaluation_negatives: 2
  negative: given
train-step:
  model: rgcn
  hidden: 16
  dropout: 0.2
  decoder: distmult
aggregate:
  learning_rate: 0.02
checkpoint:
  keep: 0
infer:
  ranking: given
YAML
} >"$file"

run one "$file" --workers 1 --threads 1 >/dev/null
before=$(outcome one)
run five "$file" --workers 5 --threads 2 >/dev/null
as_before five '5 workers, 2 threads'
run little "$file" --memory 192M >/dev/null
as_before little 'little memory'
for unit in ingest partition "sample --round 0 --slot 1" "train-step --round 2 --slot 0" infer; do
    # shellcheck disable=SC2086
    said=$("$bin/graphmill" replay "$work/one" $unit) || fail "replay of $unit: $said"
    [[ $said == MATCH* ]] || fail "replay of $unit said $said"
done

# Computes the rank of each line again, among the nodes of its line except the end itself; and
# checks mini-batches.
"$bin/graphmill" export "$work/one" --what step --round 2 --output "$work/step.safetensors" \
    >/dev/null
python3 - "$source_folder/tests/pipeline" "$work" >"$work/said" 2>&1 <<'CHECK' || fail "$(tail -1 "$work/said")"
import csv, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from link_checks import read_rows, read_step
work = sys.argv[2]
given = {}
for split in ("train", "valid", "test"):
    for line in csv.reader(open(f"{work}/{split}_negatives.csv")):
        s, t, r, *nodes = map(int, line)
        given[split, s, t, r] = nodes
rows = read_rows(f"{work}/one/outputs/embeddings.npy")
tensors, _, _ = read_step(f"{work}/step.safetensors")
model, _, _ = read_step(f"{work}/one/outputs/model.safetensors")
flat = list(model["decoder.rel_emb.weight"])
width = len(rows[0])
weight = [flat[i : i + width] for i in range(0, len(flat), width)] if not hasattr(flat[0], "__len__") else flat
score = lambda s, t, r: sum(a * b * c for a, b, c in zip(rows[s], weight[r], rows[t]))
lines = list(csv.DictReader(open(f"{work}/one/outputs/predictions.csv")))
assert len(lines) > 100 and {line["type"] for line in lines} == {"0", "1", "2"}, len(lines)
for line in lines:
    s, t, r = (int(line[key]) for key in ("source", "target", "type"))
    own, others = score(s, t, r), [score(s, n, r) for n in given[line["split"], s, t, r] if n != t]
    assert abs(own - float(line["score"])) < 1e-4, line
    least, most = (1 + sum(other > own + slack for other in others) for slack in (1e-5, -1e-5))
    assert least <= float(line["rank"]) <= most, (line, least, most)

# Seeds are numbered through the types. The negatives of an edge with a line are those of the line,
# one after another; of other edges nodes of the type of its target.
seeds = []
for kind in ("author", "paper", "venue"):
    seeds += tensors[f"mini_batch.node.{kind}"][: tensors[f"mini_batch.hop_end.{kind}"][0]]
source, target = ([seeds[i] for i in tensors[f"pair_{end}"]] for end in ("source", "target"))
count, listed, others = len(source), 0, 0
each = len(target) // count - 1
first_of, end_of = {0: 100, 1: 100, 2: 250}, {0: 250, 1: 250, 2: 253}
assert each == 2 and count >= 80, (each, count)
for i, relation in enumerate(tensors["pair_type"]):
    own = target[count + i * each : count + (i + 1) * each]
    line = given.get(("train", source[i], target[i], relation))
    assert all(first_of[relation] <= node < end_of[relation] for node in own), (relation, own)
    others += line is None
    if line is not None:
        assert any(own == [line[(first + k) % len(line)] for k in range(each)] for first in range(len(line))), (own, line)
        listed += 1
assert listed > 20 and others > 20, (listed, others)
CHECK

# Nodes of other types, and nodes at the other end, before anything is partitioned.
bad() { # PATTERN STATUS [settings]
    local pattern=$1 status=$2
    shift 2
    expect "$status" "$pattern" run bad "$file" "$@"
    [ ! -e "$work/bad/store/partition" ] || fail "$pattern: something was partitioned"
}
first=$(grep -nm1 '^[0-9]*,[0-9]*,0,' "$work/test_negatives.csv" | cut -d: -f1) # an edge of writes
sed "${first}s/,0,.*/,0,251/" "$work/test_negatives.csv" >"$work/edited.csv"
bad "edited.csv:$first: negative 251 of relation writes: expected a node of type paper, or of type author as another source, found one of type venue" 65 \
    --set ingest.test_negatives="$work/edited.csv"
sed "${first}s/,0,.*/,0,120,7/" "$work/test_negatives.csv" >"$work/edited.csv"
bad "edited.csv:$first: negative 7: expected a node of type paper as the first of the line, found one of type author" 65 \
    --set ingest.test_negatives="$work/edited.csv"
bad 'ingest.valid_negatives: the nodes of the edge from .* of relation .* but infer.ranked_end is source, .* expected `infer.ranked_end: target`' 65 \
    --set infer.ranked_end=source
bad 'ingest.train_negatives: the nodes of the edge from .* but sample.corrupt is both, .* expected `sample.corrupt: target`, or nodes of type' 65 \
    --set sample.corrupt=both
