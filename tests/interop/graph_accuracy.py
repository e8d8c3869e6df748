"""Test accuracy of PyG's GIN on a folder of many graphs, for the row of tests/bench/accuracy.

  graph_accuracy.py FOLDER [--seeds 10] [--first-seed 0] [--epochs 30] [--hidden 32] [--layers 3]
                    [--batch 64] [--rate 0.005] [--norm batch] [--inner same] [--beside RUN]

FOLDER is made by tests/support/make_graphs.py, and the settings are those of pipelines/shapes.yaml:
GIN with batch norm, the sum of the nodes' rows and a matrix after it, mini-batches of graphs in
another order each epoch, Adam; the epoch of the best validation accuracy. Prints mean and deviation
over the seeds.

`--beside RUN` checks instead that both learn the same: RUN has all training graphs in one
mini-batch (`sample.batch_size=100000`), no dropout and `checkpoint.keep=0`; PyG begins with its
first weights, and the loss of each of the first epochs must be that of the run.
"""
import argparse
import json
import os
import sys
import tempfile

import numpy
import torch
from safetensors import safe_open
from safetensors.torch import load_file

import models
from graphs import Pooled
from interop import graphmill, read_folder_edges

BESIDE_LIMIT, BESIDE_EPOCHS = 1e-3, 10  # with a batch norm rounding grows fast from epoch to epoch


class Graphs:
    """A folder, divided into graphs."""

    def __init__(self, folder):
        def integers(name):
            return numpy.loadtxt(os.path.join(folder, name), dtype=numpy.int64)

        owner = integers("node-graph.csv")
        self.label = torch.from_numpy(integers("graph-label.csv"))
        self.x = torch.from_numpy(numpy.load(os.path.join(folder, "node-feat.npy")))
        self.split = {name: integers(f"{name}.csv") for name in ("train", "valid", "test")}
        edges = read_folder_edges(folder)
        self.nodes = self.cut(numpy.arange(len(owner))[None], owner)
        self.edges = self.cut(edges, owner[edges[0]])
        self.number = numpy.zeros(len(owner), dtype=numpy.int64)

    def cut(self, columns, owner):
        """Divides the columns by graph."""
        ends = numpy.cumsum(numpy.bincount(owner, minlength=len(self.label)))
        return numpy.split(columns[:, numpy.argsort(owner, kind="stable")], ends[:-1], axis=1)

    def batch(self, graphs):
        """Returns features, edges, the graph of each node and labels of these graphs, one after
        another."""
        nodes = numpy.concatenate([self.nodes[g][0] for g in graphs])
        self.number[nodes] = numpy.arange(len(nodes))
        edges = self.number[numpy.concatenate([self.edges[g] for g in graphs], 1)]
        of = numpy.repeat(numpy.arange(len(graphs)), [self.nodes[g].shape[1] for g in graphs])
        return self.x[nodes], torch.from_numpy(edges), torch.from_numpy(of), self.label[graphs]


def texts_of(graphs, options):
    """Returns the metadata that model.safetensors of such a model would have."""
    return {"kind": "gin", "model": "GIN", "in_channels": graphs.x.shape[1], "hidden_channels": options.hidden,
            "num_layers": options.layers, "out_channels": options.hidden, "norm": options.norm, "activation": "relu",
            "inner": options.inner, "jumping_knowledge": "none", "readout": "sum", "graph_outputs": int(graphs.label.max()) + 1}


def step(model, optimizer, batch):
    model.train()
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(*batch[:3]), batch[3])
    loss.backward()
    optimizer.step()
    return loss.item()


def accuracy(model, batch):
    model.eval()
    with torch.no_grad():
        return (model(*batch[:3]).argmax(1) == batch[3]).float().mean().item()


def train(graphs, options, seed):
    torch.manual_seed(seed)
    draw = numpy.random.default_rng(seed)
    model = Pooled(texts_of(graphs, options))
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate)
    whole = {name: graphs.batch(graphs.split[name]) for name in ("valid", "test")}
    best, found = -1.0, 0.0
    for _ in range(options.epochs):
        order = draw.permutation(graphs.split["train"])
        for first in range(0, len(order), options.batch):
            step(model, optimizer, graphs.batch(order[first: first + options.batch]))
        valid = accuracy(model, whole["valid"])
        if valid > best:
            best, found = valid, accuracy(model, whole["test"])
    return found


def beside(graphs, options):
    """Checks, from the first weights of a run, that the loss of each epoch stays that of the
    run."""
    with open(os.path.join(options.beside, "metrics.jsonl")) as file:
        ours = [row["loss"] for row in map(json.loads, file) if "round" in row][:BESIDE_EPOCHS]
    with safe_open(os.path.join(options.beside, "outputs", "model.safetensors"), "pt") as file:
        model = Pooled(file.metadata())
    with tempfile.TemporaryDirectory(prefix="graphmill-interop-") as work:
        path = os.path.join(work, "step.safetensors")
        graphmill("export", options.beside, "--what", "step", "--round", "0", "--slot", "0", "--output", path)
        weights = {name[len("weights."):]: t for name, t in load_file(path).items() if name.startswith("weights.")}
    model.load_state_dict(weights, strict=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate)
    batch = graphs.batch(graphs.split["train"])
    theirs = [step(model, optimizer, batch) for _ in ours]
    worst = max(abs(a - b) / b for a, b in zip(ours, theirs))
    print(f"loss {ours[0]:.6f} and {theirs[0]:.6f} at first, {ours[-1]:.6f} and {theirs[-1]:.6f} after {len(ours)} epochs;"
          f" largest relative difference {worst:.1e}")
    sys.exit(not worst <= BESIDE_LIMIT)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--norm", choices=sorted(models.NORMS), default="batch")
    parser.add_argument("--inner", choices=["same", "relu"], default="same")
    defaults = {"seeds": 10, "first-seed": 0, "epochs": 30, "hidden": 32, "layers": 3, "batch": 64, "rate": 0.005}
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    parser.add_argument("--beside", metavar="RUN")
    options = parser.parse_args()
    graphs = Graphs(options.folder)
    if options.beside:
        beside(graphs, options)
    found = []
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        found.append(train(graphs, options, seed))
        print(f"seed {seed}: {found[-1]:.4f}", file=sys.stderr, flush=True)
    print(f"gin: {numpy.mean(found):.4f} +- {numpy.std(found):.4f} of {len(found)} seeds:", *(f"{f:.4f}" for f in found))


if __name__ == "__main__":
    main()
