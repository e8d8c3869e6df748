"""Test accuracy of PyG's R-GCN and HGT on a graph with relations, for the rows of
tests/bench/accuracy.

  typed_accuracy.py FOLDER [--model rgcn] [--seeds 5] [--first-seed 0] [--epochs 100]
                    [--hidden 64] [--heads 8] [--dropout 0.5] [--rate 0.005] [--decay 1e-3]
                    [--projection linear] [--norm none] [--beside RUN]

Each step uses all neighbours, with a reverse of each relation. Types without features have ln(1 +
in-degree), ln(1 + out-degree) (`missing_features: degree`), and all columns have mean 0 and
variance 1 (`standardise: true`). The rows of each type pass a matrix, then two layers with ReLU
(R-GCN) and dropout after them; Adam with weight decay on all tensors; the epoch of the best
validation accuracy. graphmill's settings for the same are pipelines/acm.yaml, and for HGT
pipelines/acm-hgt.yaml (`--model hgt --projection relu --norm layer`). Prints mean and deviation
over the seeds.

`--beside RUN` checks instead that both learn the same: RUN has `train-step.dropout=0` and
`checkpoint.keep=0`; PyG begins with its first weights, and the loss of each epoch must be that of
the run.
"""
import argparse
import copy
import csv
import json
import os
import sys
import tempfile

import numpy
import torch
from safetensors.torch import load_file
from torch_geometric.nn import Linear
from torch_geometric.nn.module_dict import ModuleDict

from typed import KINDS, Relational, graphmill

BESIDE_LIMIT = 1e-3  # rounding grows from epoch to epoch


class Shape:
    """The parts of a step that typed.py's layers use."""

    def __init__(self, types, relations, options):
        self.types, self.relations = types, relations
        self.number = {"heads": options.heads, "bases": 0, "blocks": 0, "hidden": options.hidden}
        self.text = {"kind": options.model, "aggr": "mean", "relation_aggr": "sum"}


class Graph:
    def __init__(self, folder):
        def rows(name):
            with open(os.path.join(folder, name)) as file:
                return list(csv.DictReader(file))

        def integers(name):
            return torch.from_numpy(numpy.loadtxt(os.path.join(folder, name), dtype=numpy.int64))

        spans = {r["name"]: (int(r["first_id"]), int(r["count"])) for r in rows("node-types.csv")}
        self.types = list(spans)
        self.split = {name: integers(f"{name}.csv") for name in ("train", "valid", "test")}
        self.target = next(t for t, (first, count) in spans.items() if first <= self.split["train"][0] < first + count)
        first, count = spans[self.target]
        self.label = integers("node-label.csv")[first: first + count]
        self.split = {name: ids - first for name, ids in self.split.items()}
        edge = numpy.loadtxt(os.path.join(folder, "edges.csv"), delimiter=",", skiprows=1, dtype=numpy.int64).T
        self.edges = {}
        for r in rows("edge-types.csv"):
            source, target = r.get("src_type") or r["source"], r.get("dst_type") or r["target"]
            own = numpy.unique(edge[:2, edge[2] == int(r.get("etype") or r["id"])], axis=1)
            ends = torch.from_numpy(own - numpy.array([[spans[source][0]], [spans[target][0]]]))
            self.edges[source, r["name"], target] = ends
        self.edges |= {(target, "rev_" + name, source): ends.flip(0) for (source, name, target), ends in self.edges.items()}
        self.x = {t: standardised(self.features(folder, t, count)) for t, (_, count) in spans.items()}

    def around(self, own):
        """Returns this graph without what two layers do not read for the target nodes `own`,
        whose rows are `rows`."""
        read = {t: torch.zeros(len(x), dtype=torch.bool) for t, x in self.x.items()}
        read[self.target][own] = True
        for _ in range(2):
            into = {r: edge[:, read[r[2]][edge[1]]] for r, edge in self.edges.items()}
            for (source, _, _), edge in into.items():
                read[source][edge[0]] = True
        number = {t: mask.cumsum(0) - 1 for t, mask in read.items()}
        part = copy.copy(self)
        part.x = {t: x[read[t]] for t, x in self.x.items()}
        part.edges = {r: torch.stack([number[r[0]][edge[0]], number[r[2]][edge[1]]]) for r, edge in into.items()}
        part.rows, part.label = number[self.target][own], self.label[own]
        return part

    def features(self, folder, name, count):
        path = os.path.join(folder, f"{name}-feat")
        if os.path.exists(f"{path}.npy"):
            return torch.from_numpy(numpy.load(f"{path}.npy")).float()
        if os.path.exists(f"{path}_indptr.npy"):
            start, column, value = (torch.from_numpy(numpy.load(f"{path}_{part}.npy")) for part in ("indptr", "indices", "values"))
            return torch.sparse_csr_tensor(start.long(), column.long(), value.float()).to_dense()
        degree = torch.zeros(count, 2)
        for (source, _, target), edge in self.edges.items():
            if target == name:
                degree[:, 0] += torch.bincount(edge[1], minlength=count)
            if source == name:
                degree[:, 1] += torch.bincount(edge[0], minlength=count)
        return torch.log1p(degree)


def standardised(x):
    deviation = x.std(0, unbiased=False)
    return (x - x.mean(0)) / torch.where(deviation > 0, deviation, 1)


class Model(torch.nn.Module):
    """The layers with the names in graphmill's files."""

    def __init__(self, graph, options):
        super().__init__()
        hidden, classes = options.hidden, int(graph.label.max()) + 1
        self.options = options
        self.lin_dict = ModuleDict({t: Linear(x.shape[1], hidden) for t, x in graph.x.items()})
        shape, dims = Shape(graph.types, list(graph.edges), options), dict.fromkeys(graph.types, hidden)
        ends = options.model == "hgt"
        layers = [KINDS[options.model](shape, dims, hidden if hop == 0 or ends else classes, hop == 1) for hop in range(2)]
        self.layers = [layer.forward for layer in layers]
        self.convs = torch.nn.ModuleList(layer.conv if isinstance(layer, Relational) else layer for layer in layers)
        if isinstance(layers[0], Relational) and layers[0].root:
            self.roots = torch.nn.ModuleList(layer.root for layer in layers)
        self.lin = Linear(hidden, classes) if ends else None
        norm = {"none": torch.nn.Identity, "layer": torch.nn.LayerNorm}[options.norm]
        self.norms = torch.nn.ModuleList(ModuleDict({t: norm(hidden) for t in graph.types}) for _ in range(2 if ends else 1))

    def between(self, x, hop):
        """Returns what follows a layer that is not the last."""
        x = {t: self.norms[hop][t](rows) for t, rows in x.items()}
        if self.lin is None:  # HGT has gelu inside
            x = {t: rows.relu() for t, rows in x.items()}
        return {t: torch.nn.functional.dropout(rows, self.options.dropout, self.training) for t, rows in x.items()}

    def forward(self, graph):
        x = {t: self.lin_dict[t](rows) for t, rows in graph.x.items()}
        if self.options.projection == "relu":
            x = {t: rows.relu() for t, rows in x.items()}
        x = self.between(self.layers[0](x, graph.edges), 0)
        x = self.layers[1](x, graph.edges)
        if self.lin is not None:
            x = {graph.target: self.lin(self.between(x, 1)[graph.target])}
        return x[graph.target][graph.rows]


def accuracy(model, graph):
    model.eval()
    with torch.no_grad():
        return (model(graph).argmax(1) == graph.label).float().mean().item()


def begin(part, options):
    model = Model(part["train"], options)
    model(part["train"])  # lazy layers
    return model, torch.optim.Adam(model.parameters(), lr=options.rate, weight_decay=options.decay)


def step(model, optimizer, part):
    model.train()
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(part["train"]), part["train"].label)
    loss.backward()
    optimizer.step()
    return loss.item()


def train(part, options, seed):
    torch.manual_seed(seed)
    model, optimizer = begin(part, options)
    best, found = -1.0, 0.0
    for _ in range(options.epochs):
        step(model, optimizer, part)
        valid = accuracy(model, part["valid"])
        if valid > best:
            best, found = valid, accuracy(model, part["test"])
    return found


def beside(part, options):
    """Checks, from the first weights of a run without dropout, that the loss of each epoch stays
    that of the run."""
    with open(os.path.join(options.beside, "metrics.jsonl")) as file:
        ours = [row["loss"] for row in map(json.loads, file) if "round" in row]
    with tempfile.TemporaryDirectory(prefix="graphmill-interop-") as work:
        path = os.path.join(work, "step.safetensors")
        graphmill("export", options.beside, "--what", "step", "--round", 0, "--slot", 0, "--output", path)
        weights = {name[len("weights."):]: t for name, t in load_file(path).items() if name.startswith("weights.")}
    options.dropout = 0.0
    model, optimizer = begin(part, options)
    model.load_state_dict(weights, strict=True)
    theirs = [step(model, optimizer, part) for _ in ours]
    worst = max(abs(a - b) / b for a, b in zip(ours, theirs))
    print(f"{options.model}: loss {ours[0]:.6f} and {theirs[0]:.6f} at first, {ours[-1]:.6f} and {theirs[-1]:.6f} after {len(ours)} epochs;"
          f" largest relative difference {worst:.1e}")
    sys.exit(not worst <= BESIDE_LIMIT)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--model", choices=sorted(KINDS), default="rgcn")
    parser.add_argument("--projection", choices=["linear", "relu"], default="linear")
    parser.add_argument("--norm", choices=["none", "layer"], default="none")
    defaults = {"seeds": 5, "first-seed": 0, "epochs": 100, "hidden": 64, "heads": 8, "dropout": 0.5, "rate": 0.005, "decay": 1e-3}
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    parser.add_argument("--beside", metavar="RUN")
    options = parser.parse_args()
    graph = Graph(options.folder)
    part = {name: graph.around(own) for name, own in graph.split.items()}
    if options.beside:
        beside(part, options)
    found = []
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        found.append(train(part, options, seed))
        print(f"seed {seed}: {found[-1]:.4f}", file=sys.stderr, flush=True)
    print(f"{options.model}: {numpy.mean(found):.4f} +- {numpy.std(found):.4f} of {len(found)} seeds:", *(f"{f:.4f}" for f in found))


if __name__ == "__main__":
    main()
