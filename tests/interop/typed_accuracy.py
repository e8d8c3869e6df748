"""Test accuracy of PyG's R-GCN and HGT on a folder of a graph with relations, for the rows of tests/bench/accuracy.

  typed_accuracy.py FOLDER [--model rgcn] [--seeds 5] [--epochs 200] [--hidden 64] [--heads 4] [--dropout 0.5] [--rate 0.01]
                    [--decay 5e-4]

The whole graph in each step, with a reverse of each relation; types without features have ln(1 + in-degree), ln(1 + out-degree)
(`missing_features: degree`). Rows of each type through a matrix, two layers with ReLU and dropout between them, Adam with weight
decay on all tensors; the epoch of the best validation accuracy. graphmill's settings for the same: pipelines/acm.yaml with
`sample.fanouts=-1,-1`.
"""
import argparse
import csv
import os

import numpy
import torch
from torch_geometric.nn import Linear
from torch_geometric.nn.module_dict import ModuleDict

from typed import KINDS, Relational


class Shape:
    """What typed.py's layers ask of a step."""

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
            self.edges[target, "rev_" + r["name"], source] = ends.flip(0)
        self.x = {t: self.features(folder, t, count) for t, (_, count) in spans.items()}

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


class Model(torch.nn.Module):
    def __init__(self, graph, options):
        super().__init__()
        hidden, classes = options.hidden, int(graph.label.max()) + 1
        self.graph, self.options = graph, options
        self.lin_dict = ModuleDict({t: Linear(x.shape[1], hidden) for t, x in graph.x.items()})
        shape, dims = Shape(graph.types, list(graph.edges), options), dict.fromkeys(graph.types, hidden)
        ends = options.model == "hgt"
        convs = [KINDS[options.model](shape, dims, hidden if hop == 0 or ends else classes, hop == 1) for hop in range(2)]
        self.convs = torch.nn.ModuleList(convs)
        self.lin = Linear(hidden, classes) if ends else None

    def between(self, x):
        return {t: torch.nn.functional.dropout(rows.relu(), self.options.dropout, self.training) for t, rows in x.items()}

    def forward(self):
        x = {t: self.lin_dict[t](rows) for t, rows in self.graph.x.items()}
        if self.options.projection == "relu":
            x = {t: rows.relu() for t, rows in x.items()}
        x = self.between(self.convs[0](x, self.graph.edges))
        x = self.convs[1](x, self.graph.edges)
        if self.lin is not None:
            return self.lin(self.between(x)[self.graph.target])
        return x[self.graph.target]


def train(graph, options, seed):
    torch.manual_seed(seed)
    model = Model(graph, options)
    model()  # lazy layers
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate, weight_decay=options.decay)
    best, found = -1.0, 0.0
    for _ in range(options.epochs):
        model.train()
        optimizer.zero_grad()
        own = graph.split["train"]
        torch.nn.functional.cross_entropy(model()[own], graph.label[own]).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            right = model().argmax(1) == graph.label
        valid = right[graph.split["valid"]].float().mean().item()
        if valid > best:
            best, found = valid, right[graph.split["test"]].float().mean().item()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--model", choices=sorted(KINDS), default="rgcn")
    parser.add_argument("--projection", choices=["linear", "relu"], default="linear")
    for name, value in {"seeds": 5, "epochs": 200, "hidden": 64, "heads": 4, "dropout": 0.5, "rate": 0.01, "decay": 5e-4}.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    options = parser.parse_args()
    graph = Graph(options.folder)
    found = [train(graph, options, seed) for seed in range(options.seeds)]
    print(f"{options.model}: {numpy.mean(found):.4f} +- {numpy.std(found):.4f} of {len(found)} seeds:", *(f"{f:.4f}" for f in found))


if __name__ == "__main__":
    main()
