"""Checks link prediction slowly from a run's exports: link_checks.py step FILE | ranks FOLDER |
triples FOLDER INPUT.

  step     FILE is an exported step (sage, bilinear decoder, binary cross-entropy, no dropout): no
           seed edge is among the sampled ones, and loss and gradients are those of the formula, by
           central differences.
  triples  FOLDER has outputs (distmult by edge type, both ends ranked among all nodes, filtered) of
           the folder INPUT: scores and ranks are those of the embeddings, without other known
           triples.
  ranks    FOLDER has outputs (dot decoder, ranked among all nodes but the source, not filtered):
           each rank is that of its score.
"""
import array
import json
import math
import random
import struct
import sys


def read_step(path):
    with open(path, "rb") as file:
        head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    tensors = {}
    for name, about in head.items():
        if name != "__metadata__":
            begin, end = about["data_offsets"]
            values = array.array("f" if about["dtype"] == "F32" else "q")
            values.frombytes(data[begin:end])
            tensors[name] = list(values)
    return tensors, head["__metadata__"], {name: about.get("shape") for name, about in head.items()}


def product(matrix, vector):
    width = len(vector)
    return [sum(matrix[row * width + i] * vector[i] for i in range(width)) for row in range(len(matrix) // width)]


class Step:
    def __init__(self, path):
        self.tensor, self.about, shape = read_step(path)
        edges = shape["mini_batch.edge_index"][1]
        ends = self.tensor["mini_batch.edge_index"]
        self.source, self.target = ends[:edges], ends[edges:]
        self.hop_end = self.tensor["mini_batch.hop_end"]
        if max(self.target) >= self.hop_end[1]:
            self.source, self.target = self.target, self.source
        self.row = {}
        for source, target in zip(self.source, self.target):
            self.row.setdefault(target, []).append(source)
        width = shape["features"][1]
        features = self.tensor["features"]
        self.features = [features[i:i + width] for i in range(0, len(features), width)]
        self.first = [self.mean(self.features, i) for i in range(self.hop_end[1])]
        self.pair_source, self.pair_target = self.tensor["pair_source"], self.tensor["pair_target"]

    def mean(self, rows, node):
        near = self.row.get(node, [])
        return [sum(rows[j][c] for j in near) / max(len(near), 1) for c in range(len(rows[0]))]

    def layer(self, weights, number, mean, own):
        name = f"convs.{number}.lin_"
        parts = zip(product(weights[name + "l.weight"], mean), product(weights[name + "r.weight"], own), weights[name + "l.bias"])
        return [a + b + c for a, b, c in parts]

    def loss(self, weights):
        hidden = [[max(0.0, x) for x in self.layer(weights, 0, self.first[i], self.features[i])]
                  for i in range(self.hop_end[1])]
        seed = [self.layer(weights, 1, self.mean(hidden, i), hidden[i]) for i in range(self.hop_end[0])]
        count, each, total = len(self.pair_source), len(self.pair_target) // len(self.pair_source) - 1, 0.0
        for i, source in enumerate(self.pair_source):
            others = self.pair_target[count + i * each:count + (i + 1) * each]
            for k, target in enumerate([self.pair_target[i]] + others):
                score = weights["decoder.bias"][0] + sum(
                    a * b for a, b in zip(seed[source], product(weights["decoder.weight"], seed[target])))
                total += math.log1p(math.exp(-abs(score))) + max(0.0, score if k else -score)
        return total / len(self.pair_target)


def check_step(path):
    step = Step(path)
    sampled = set(zip(step.source, step.target))
    leaks = [(s, t) for s, t in zip(step.pair_source, step.pair_target) if (s, t) in sampled or (t, s) in sampled]
    assert not leaks, f"seed edges are among the sampled ones: {leaks[:3]}"
    weights = {name[8:]: values for name, values in step.tensor.items() if name.startswith("weights.")}
    loss = step.loss(weights)
    assert abs(loss - float(step.about["loss"])) < 1e-4, f"loss {loss}, expected {step.about['loss']}"
    random.seed(1)
    for name, values in sorted(weights.items()):
        at, move = random.randrange(len(values)), 1e-3
        value = values[at]
        values[at] = value + move
        above = step.loss(weights)
        values[at] = value - move
        slope = (above - step.loss(weights)) / (2 * move)
        values[at] = value
        found = step.tensor["gradient." + name][at]
        assert abs(slope - found) < 1e-4 + 1e-2 * abs(slope), f"gradient of {name}[{at}]: {found}, expected {slope}"


def read_rows(path):
    with open(path, "rb") as file:
        file.read(8)
        head = file.read(struct.unpack("<H", file.read(2))[0]).decode()
        shape = [int(x) for x in head.split("(")[1].split(")")[0].split(",") if x.strip()]
        values = array.array("f")
        values.frombytes(file.read())
    return [values[i * shape[1]:(i + 1) * shape[1]] for i in range(shape[0])]


def check_triples(folder, source_folder):
    rows = read_rows(folder + "/embeddings.npy")
    tensors, _, shapes = read_step(folder + "/model.safetensors")
    width = shapes["decoder.rel_emb.weight"][1]
    relations = [tensors["decoder.rel_emb.weight"][i:i + width] for i in range(0, len(tensors["decoder.rel_emb.weight"]), width)]
    known = set()
    for name in ("edges", "valid-edges", "test-edges"):
        for line in open(f"{source_folder}/{name}.csv").read().split("\n")[1:-1]:
            known.add(tuple(int(x) for x in line.split(",")))
    lines = open(folder + "/predictions.csv").read().split("\n")
    assert lines[0] == "source,target,type,split,score,rank,source_rank", lines[0]
    wrong = count = 0
    for line in lines[1:-1:5]:
        source, target, kind, _, score, rank, source_rank = line.split(",")
        source, target, kind = int(source), int(target), int(kind)
        for stays, other, found in ((source, target, rank), (target, source, source_rank)):
            query = [a * b for a, b in zip(rows[stays], relations[kind])]
            scores = [sum(a * b for a, b in zip(query, row)) for row in rows]
            own = scores[other]
            assert abs(own - float(score)) < 1e-3 * (1 + abs(own)), f"{line}: the score is {own}"
            left = [s for i, s in enumerate(scores)
                    if i != other and ((stays, i, kind) if other == target and stays == source else (i, stays, kind)) not in known]
            near = sum(abs(s - own) < 1e-5 * (1 + abs(own)) for s in left)
            count += 1
            wrong += abs(1 + sum(s > own for s in left) - float(found)) > near
    assert count and not wrong, f"{wrong} of {count} ranks are wrong"


def check_ranks(folder):
    rows = read_rows(folder + "/embeddings.npy")
    wrong = lines = 0
    for line in open(folder + "/predictions.csv").read().split("\n")[1:-1:7]:
        source, target, _, score, rank = line.split(",")
        scores = [sum(a * b for a, b in zip(rows[int(source)], row)) for row in rows]
        own = scores[int(target)]
        assert abs(own - float(score)) < 1e-3 * (1 + abs(own)), f"{line}: the score is {own}"
        others = [s for i, s in enumerate(scores) if i not in (int(source), int(target))]
        near = sum(abs(s - own) < 1e-5 * (1 + abs(own)) for s in others)
        above = sum(s > own for s in others)
        lines += 1
        wrong += abs(1 + above - float(rank)) > near
    assert lines and not wrong, f"{wrong} of {lines} ranks are wrong"


if __name__ == "__main__":
    {"step": check_step, "ranks": check_ranks, "triples": check_triples}[sys.argv[1]](*sys.argv[2:])
