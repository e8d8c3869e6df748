"""Checks held-out edges of a graph with relations, from the files of a run alone:
typed_link_checks.py FOLDER RUN

Scores are DistMult of the embeddings and model.safetensors; ranks are filtered, among the nodes of
the type of each end.
"""
import csv
import json
import sys

from link_checks import read_rows, read_step

folder, run = sys.argv[1:]


def table(path):
    with open(path) as file:
        return list(csv.DictReader(file))


types = [(int(row["first_id"]), int(row["count"])) for row in table(f"{folder}/node-types.csv")]
names = [row["name"] for row in table(f"{folder}/node-types.csv")]
ends = [(names.index(row["source"]), names.index(row["target"])) for row in table(f"{folder}/edge-types.csv")]
known = {(int(row["src"]), int(row["dst"]), int(row["etype"])) for row in table(f"{folder}/edges.csv")}
tensors, _, shapes = read_step(f"{run}/outputs/model.safetensors")
learnt, width = tensors["decoder.rel_emb.weight"], shapes["decoder.rel_emb.weight"][1]
weight = [learnt[i : i + width] for i in range(0, len(learnt), width)]
rows = read_rows(f"{run}/outputs/embeddings.npy")
assert len(weight) == len(ends), f"{len(weight)} relations are learnt, expected {len(ends)}"
assert len(rows) == sum(count for _, count in types), f"{len(rows)} rows"


def score(s, t, r):
    return sum(a * b * c for a, b, c in zip(rows[s], weight[r], rows[t]))


lines, reciprocal = table(f"{run}/outputs/predictions.csv"), {"valid": [], "test": []}
assert {int(line["type"]) for line in lines} == set(range(len(ends))), "held-out edges are not of all relations"
for line in lines:
    s, t, r = (int(line[key]) for key in ("source", "target", "type"))
    own = score(s, t, r)
    assert (s, t, r) in known, f"{s} -> {t} of {r} is no edge"
    assert abs(own - float(line["score"])) <= 1e-4 * (1 + abs(own)), f"{s} -> {t} of {r}: score {line['score']}, expected {own}"
    for column, side in (("source_rank", 0), ("rank", 1)):
        first, count = types[ends[r][side]]
        pairs = [(s, n, r) if side else (n, t, r) for n in range(first, first + count)]
        assert (s, t, r) in pairs, f"{s} -> {t} of {r}: an end is not of the relation's type"
        others = [score(*pair) for pair in pairs if pair not in known and pair[0] != pair[1]]  # no node with itself
        near = sum(abs(other - own) < 1e-5 for other in others)  # left to rounding
        expected = 1 + sum(other > own for other in others)
        assert abs(float(line[column]) - expected) <= near, f"{s} -> {t} of {r}: {column} {line[column]}, expected {expected}"
        reciprocal[line["split"]].append(1 / float(line[column]))
with open(f"{run}/outputs/metrics.json") as file:
    metrics = json.load(file)
for split, values in reciprocal.items():
    mean = sum(values) / len(values)
    assert abs(mean - metrics[split]["mrr"]) < 1e-5, f"MRR of {split}: {mean}, {metrics[split]['mrr']} in the metrics"
