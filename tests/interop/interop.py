"""Compares graphmill with PyG and DGL, a row of MODELS and of GRAPHS at a time; see README.md
and run.sh."""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from typing import NamedTuple

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import load_file

import models

# Sums of 13,000 floats in another order differ by more if logits are in the tens, so graph `arxiv`
# learns slowly.
# relative difference of two floats that should be equal; if all of them are small, relative to the
# largest
LIMIT = 1e-4

# PyG's data for each edge of `arxiv` fit into 3 GB.
SMALL = {"train-step.heads": 1, "train-step.hidden": 16}


class Model(NamedTuple):
    """A row for each kind of layer, and for each option that changes its computation."""

    settings: dict
    # the graphs on which DGL gives the same: "any", "undirected"; "": it has no such layer
    dgl: str = ""
    # sums of sampled neighbours are scaled to all of them, which PyG's are not
    all_neighbors: bool = False
    on_arxiv: dict = {}  # additional settings there
    # the libraries whose layer uses edge weights as ours does: "PyG", "DGL"; empty: none does
    weights: tuple = ()


MODELS = {
    "sage": Model({"train-step.model": "sage"}, dgl="any", weights=("DGL",)),
    "sage-batch": Model({"train-step.model": "sage", "train-step.norm": "batch"}),
    "sage-layer": Model({"train-step.model": "sage", "train-step.norm": "layer"}),
    "sage-jump-cat": Model({"train-step.model": "sage", "train-step.jumping_knowledge": "cat"}),
    "gcn-jump-max": Model({"train-step.model": "gcn", "train-step.jumping_knowledge": "max"}),
    "sage-jump-last": Model({"train-step.model": "sage", "train-step.jumping_knowledge": "last"}),
    "sage-max": Model({"train-step.model": "sage", "train-step.aggr": "max"}),
    "gcn": Model({"train-step.model": "gcn"}, dgl="any", weights=("PyG",)),
    "gat": Model({"train-step.model": "gat", "train-step.heads": 4}, on_arxiv=SMALL),
    "gat-elu": Model({"train-step.model": "gat", "train-step.heads": 4, "train-step.activation": "elu"}, on_arxiv=SMALL),
    "gatv2": Model({"train-step.model": "gatv2", "train-step.heads": 4}, on_arxiv=SMALL),
    "gin": Model({"train-step.model": "gin"}, dgl="any", all_neighbors=True),
    "gin-batch": Model({"train-step.model": "gin", "train-step.norm": "batch"}, all_neighbors=True),
    "gin-layer-elu": Model({"train-step.model": "gin", "train-step.norm": "layer", "train-step.activation": "elu"}, all_neighbors=True),
    "gin-elu": Model({"train-step.model": "gin", "train-step.activation": "elu"}, all_neighbors=True),
    "gin-inner-relu": Model({"train-step.model": "gin", "train-step.norm": "batch", "train-step.inner": "relu"}, all_neighbors=True),
    "gin-eps": Model({"train-step.model": "gin", "train-step.train_eps": "true"}, dgl="any", all_neighbors=True),
    "graph_conv": Model({"train-step.model": "graph_conv"}, all_neighbors=True, weights=("PyG",)),
    "graph_conv-max": Model({"train-step.model": "graph_conv", "train-step.aggr": "max"}),
    "le": Model({"train-step.model": "le"}, all_neighbors=True, weights=("PyG",)),
    "mlp": Model({"train-step.model": "mlp", "sample.fanouts": "", "sample.evaluation_fanouts": ""}),
    "sgc": Model({"train-step.model": "sgc"}, dgl="undirected", weights=("PyG",)),
    "appnp": Model({"train-step.model": "appnp", "train-step.alpha": 0.2}, dgl="undirected",
                   on_arxiv={"aggregate.learning_rate": 0.0002}, weights=("PyG",)),
}

ODD_NODES = 600


def read_folder_edges(folder):
    """Returns edges [2, edges] of a dataset in the form `folder`, each in both directions, as
    ingest makes them of an undirected graph."""
    path = os.path.join(folder, "edges.csv")
    opened = open(path) if os.path.exists(path) else gzip.open(path + ".gz", "rt")
    with opened as file:
        rows = np.loadtxt(file, delimiter=",", skiprows=1, usecols=(0, 1), dtype=np.int64)
    return np.unique(np.concatenate([rows, rows[:, ::-1]]), axis=0).T


def write_odd_graph(folder):
    """Writes a directed graph with weights, self loops, nodes without in-edges, and nodes
    without out-edges."""
    draw = np.random.default_rng(7)
    ends = draw.integers(0, ODD_NODES - 40, (4000, 2))  # the last 40 nodes have no edge
    ends[:2000, 0] //= 50  # a few nodes have very many edges
    ends[200:260, 1] = ends[200:260, 0]
    ends = np.unique(ends, axis=0)
    weight = draw.uniform(0.1, 2.0, len(ends)).astype(np.float32)
    os.makedirs(folder)
    with open(os.path.join(folder, "edges.csv"), "w") as file:
        file.write("src,dst,weight\n")
        for (source, destination), w in zip(ends, weight):
            file.write(f"{source},{destination},{float(w)!r}\n")
    np.save(os.path.join(folder, "node-feat.npy"), draw.normal(size=(ODD_NODES, 24)).astype(np.float32))
    np.savetxt(os.path.join(folder, "node-label.csv"), draw.integers(0, 5, ODD_NODES), fmt="%d")
    order = draw.permutation(ODD_NODES)
    for name, part in zip(("train", "valid", "test"), np.split(order, [200, 300])):
        np.savetxt(os.path.join(folder, name + ".csv"), part, fmt="%d")
    with open(os.path.join(folder, "meta.json"), "w") as file:
        json.dump({"num_nodes": ODD_NODES, "directed": True}, file)
    return ends.T, weight


# A row for each graph: settings, its edges [2, edges], and their weights, or None if they do not
# count.
def cora(work):
    folder = os.path.join(os.environ["GRAPHMILL_DATASETS"], "cora")
    return {"ingest.path": folder, "ingest.normalise_rows": "true", "partition.parts": 2, "sample.fanouts": "10,5",
            "sample.batch_size": 64, "epochs": 3}, read_folder_edges(folder), None


def weighted(work):
    folder = os.path.join(work, "weighted-input")
    edges, weights = write_odd_graph(folder)
    return {"ingest.path": folder, "ingest.direction": "as_given", "partition.parts": 3, "sample.fanouts": "4,3,2",
            "sample.batch_size": 100, "epochs": 3}, edges, weights


def odd(work):
    folder = os.path.join(work, "odd-input")
    edges, _ = write_odd_graph(folder)
    return {"ingest.path": folder, "ingest.direction": "as_given", "train-step.edge_weights": "false", "partition.parts": 3,
            "sample.fanouts": "4,3,2", "sample.batch_size": 100, "epochs": 3}, edges, None


def arxiv(work):
    folder = os.path.join(os.environ["GRAPHMILL_DATASETS"], "ogbn-arxiv")
    return {"ingest.path": folder, "ingest.direction": "undirected", "ingest.features": "random",
            "partition.parts": 4, "sample.fanouts": "5,5", "sample.evaluation_fanouts": "5,5", "train-step.hidden": 32,
            "aggregate.learning_rate": 0.001, "epochs": 1, "checkpoint.keep": 1}, read_folder_edges(folder), None


GRAPHS = {"cora": cora, "odd": odd, "weighted": weighted, "arxiv": arxiv}


def graphmill(*arguments):
    program = os.path.join(os.environ["GRAPHMILL_BIN"], "graphmill")
    done = subprocess.run([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"graphmill {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")


class Report:
    """Prints one line for each comparison; `failed` counts those over the limit."""

    def __init__(self):
        self.failed = 0

    def compare(self, name, ours, theirs, largest=0.0, is_sum=False):
        ours, theirs = torch.as_tensor(ours).double(), torch.as_tensor(theirs).double()
        same_shape = ours.shape == theirs.shape
        worst = (ours - theirs).abs().max().item() if same_shape else float("inf")
        largest = largest or theirs.abs().max().item()
        ok = worst <= LIMIT * (largest if is_sum else min(1.0, largest)) and largest > 0  # false for NaN
        self.failed += not ok
        print(f"{name:48} {worst:9.2e} of {largest:8.3f} {'ok' if ok else 'DIFFERS'}", flush=True)


def compare_step(report, name, own, run, work):
    """Compares the loss and the gradient of one stored mini-batch."""
    path = os.path.join(work, "step.safetensors")
    graphmill("export", run, "--what", "step", "--round", "2", "--output", path)
    # It uses double precision, so that only our rounding differs.
    batch = {key: value.double() if value.is_floating_point() else value for key, value in load_file(path).items()}
    with safe_open(path, "pt") as file:
        loss = float(file.metadata()["loss"])
    with safe_open(os.path.join(run, "outputs", "model.safetensors"), "pt") as file:
        texts = file.metadata()
    model, compute = models.build_for_batch(texts, batch)
    model.double().load_state_dict({key[8:]: value for key, value in batch.items() if key.startswith("weights.")}, strict=True)
    theirs = models.loss_of(compute()[: len(batch["labels"])], batch["labels"])
    theirs.backward()
    report.compare(f"{name} loss", loss, theirs.item())
    gradients = {key: parameter.grad for key, parameter in model.named_parameters()}
    worst = max(gradients, key=lambda key: (gradients[key] - batch["gradient." + key]).abs().max().item())
    # The gradient of a bias before a batch norm is 0 except for rounding, so it is compared with
    # the whole gradient.
    largest = max(gradient.abs().max().item() for gradient in gradients.values())
    report.compare(f"{name} gradient ({worst})", batch["gradient." + worst], gradients[worst], largest)


def compare_logits(report, name, own, run, edges, weights, work, dgl_python):
    """Compares the logits of every node, with all neighbours."""
    path = {what: os.path.join(work, what) for what in ("logits.npy", "features.npy", "model", "graph.npz", "theirs.npy")}
    graphmill("export", run, "--what", "logits", "--output", path["logits.npy"])
    graphmill("export", run, "--what", "features", "--output", path["features.npy"])
    graphmill("export", run, "--output", path["model"])
    ours, x = np.load(path["logits.npy"]), np.load(path["features.npy"])
    # sums of thousands of neighbours on `arxiv`: 1e-4 is then relative to the largest logit
    is_sum = own.all_neighbors
    if weights is None or "PyG" in own.weights:
        compare_pyg(report, f"{name} logits PyG", own, path["model"], ours, x, edges, weights, is_sum)
    if dgl_python:
        graphmill("export", run, "--flavor", "dgl", "--output", path["model"])
        np.savez(path["graph.npz"], edge_index=edges, x=x, **({} if weights is None else {"weights": weights}))
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dgl_logits.py")
        subprocess.run([dgl_python, script, path["model"], path["graph.npz"], path["theirs.npy"]], check=True)
        report.compare(f"{name} logits DGL", ours, np.load(path["theirs.npy"]), is_sum=is_sum)


def compare_pyg(report, name, own, path, ours, x, edges, weights, is_sum):
    with safe_open(path, "pt") as file:
        model = models.build(file.metadata())
    model.load_state_dict(load_file(path), strict=True)
    model.eval()
    named = {} if weights is None else {"edge_weight": torch.from_numpy(weights)}
    with torch.no_grad():
        theirs = model(torch.from_numpy(x), torch.from_numpy(edges), **named)
    report.compare(name, ours, theirs, is_sum=is_sum)


def try_model(report, graph, name, settings, edges, weights, work, dgl_python):
    own = MODELS[name]
    if weights is not None and not own.weights:
        return
    # Each library draws dropout in another way.
    wanted = {"train-step.hidden": 16, "train-step.dropout": 0, "checkpoint.keep": 0, **settings, **own.settings,
              **(own.on_arxiv if graph == "arxiv" else {})}
    if own.all_neighbors and graph != "arxiv":
        wanted["sample.fanouts"] = ",".join("-1" for _ in wanted["sample.fanouts"].split(","))
    run = os.path.join(work, graph)
    file = os.path.join(work, "pipeline.yaml")
    with open(file, "w") as out:
        out.write(f"name: {graph}\n")
    graphmill("run", file, "--directory", run, "--quiet", *(part for key in wanted for part in ("--set", f"{key}={wanted[key]}")))
    if graph != "arxiv":
        if weights is None or "PyG" in own.weights:
            compare_step(report, f"{graph} {name}", own, run, work)
    has_dgl = own.dgl == "any" or (own.dgl == "undirected" and graph != "odd")
    if weights is not None:
        has_dgl = "DGL" in own.weights
    compare_logits(report, f"{graph} {name}", own, run, edges, weights, work, dgl_python if has_dgl else None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dgl-python", help="the python of DGL's environment; without it DGL is left out")
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="of " + ", ".join(GRAPHS))
    parser.add_argument("models", nargs="*", default=list(MODELS), help="of " + ", ".join(MODELS))
    options = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory(prefix="graphmill-interop-") as work:
        for graph in options.graphs.split(","):
            settings, edges, weights = GRAPHS[graph](work)
            for name in options.models:
                try_model(report, graph, name, settings, edges, weights, work, options.dgl_python)
    print(f"{report.failed} comparisons differ" if report.failed else "all agree")
    sys.exit(report.failed > 0)


if __name__ == "__main__":
    main()
