#!/usr/bin/env bash
# Arrays of a run: the predictions follow from the logits, and an exported training step has all of
# its inputs and outputs.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
pipeline=$source_folder/pipelines/karate.yaml
answer=$(run karate "$pipeline" --set checkpoint.keep=0 --set partition.parts=3)
export_to() { "$bin/graphmill" export "$work/karate" --output "$@" >/dev/null; }
export_to "$work/logits.npy" --what logits
export_to "$work/features.npy" --what features
export_to "$work/step.safetensors" --what step --round 3
export_to "$work/again.safetensors" --what step --round 3 --slot 0
cmp "$work/step.safetensors" "$work/again.safetensors" || fail "the same step, other bytes"
python3 - "$work" "$source_folder" <<'PYTHON' || fail "see above"
import ast, csv, json, math, struct, sys
work, tree = sys.argv[1:]

def npy(path):
    data = open(path, "rb").read()
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    rows, cols = header["shape"]
    assert header["descr"] == "<f4", header
    values = struct.unpack("<%df" % (rows * cols), data[10 + size:])
    return [values[i * cols:(i + 1) * cols] for i in range(rows)]

logits = npy(work + "/logits.npy")
lines = list(csv.DictReader(open(work + "/karate/outputs/predictions.csv")))
assert len(lines) == len(logits) == 34
for i, (line, row) in enumerate(zip(lines, logits)):
    assert int(line["node"]) == i
    best = max(range(len(row)), key=lambda c: row[c])
    share = math.exp(row[best]) / sum(math.exp(x) for x in row)
    assert best == int(line["prediction"]) and abs(share - float(line["probability"])) < 1e-5, (i, line, row)

data = open(work + "/step.safetensors", "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + size])
texts = header.pop("__metadata__")
def tensor(name):
    entry = header[name]
    begin, end = entry["data_offsets"]
    letter = {"F32": "f", "I64": "q"}[entry["dtype"]]
    raw = data[8 + size + begin:8 + size + end]
    return struct.unpack("<%d%s" % (len(raw) // struct.calcsize(letter), letter), raw)
node, hop_end, edge = tensor("mini_batch.node"), tensor("mini_batch.hop_end"), tensor("mini_batch.edge_index")
features, labels = tensor("features"), tensor("labels")
assert sorted(set(node)) == sorted(node) and hop_end[-1] == len(node) and len(labels) == hop_end[0]
all_features = npy(work + "/features.npy")
dim = len(all_features[0])
for i, n in enumerate(node):
    assert features[i * dim:(i + 1) * dim] == all_features[n]
karate = set()
for line in open(tree + "/tests/data/karate/edges.csv"):
    ends = line.strip().split(",")
    if ends[0].isdigit():
        karate |= {(int(ends[0]), int(ends[1])), (int(ends[1]), int(ends[0]))}
half = len(edge) // 2
assert header["mini_batch.edge_index"]["shape"] == [2, half] and half > 0
for source, destination in zip(edge[:half], edge[half:]):
    assert (node[source], node[destination]) in karate and destination < hop_end[-2]
truth = {int(line["node"]): int(line["label"]) for line in lines}
assert [truth[n] for n in node[:hop_end[0]]] == list(labels)
names = [n[8:] for n in header if n.startswith("weights.")]
assert names and sorted(names) == sorted(n[9:] for n in header if n.startswith("gradient."))
assert all(header["weights." + n]["shape"] == header["gradient." + n]["shape"] for n in names)
assert any(any(tensor("gradient." + n)) for n in names)
assert texts["round"] == "3" and int(texts["seeds"]) == len(labels) and float(texts["loss"]) > 0
PYTHON

expect 78 'the run has rounds 0 to 29' "$bin/graphmill" export "$work/karate" --what step \
    --round 30 --output "$work/none"
expect 64 'expected model, embeddings, logits, features, embedding, step, assignment, report, .*metrics or tensorboard' "$bin/graphmill" export "$work/karate" --what nothing
run pruned "$pipeline" >/dev/null
expect 65 'round 3 slot 0: pruned, or not made yet \(checkpoint.keep: 0 keeps every record\)' \
    "$bin/graphmill" export "$work/pruned" --what step --round 3 --output "$work/none"
[ ! -e "$work/none" ] || fail "a refused export left a file"
