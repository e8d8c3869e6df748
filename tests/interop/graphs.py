"""Models of graphs: compares loss, gradient and logits of PyG with its global pooling on
graphmill's exported models.

    GRAPHMILL_BIN=... python tests/interop/graphs.py    (run.sh does so, with PyG)
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch_geometric.nn import global_add_pool, global_max_pool, global_mean_pool

import interop
import models

POOLS = {"sum": global_add_pool, "mean": global_mean_pool, "max": global_max_pool}
# name: settings; in single precision a mean over few graphs is as close as the layers are
RUNS = {
    "gin, sum": {"train-step.model": "gin", "train-step.readout": "sum"},
    "gin, batch norm, mean": {"train-step.model": "gin", "train-step.norm": "batch", "train-step.readout": "mean"},
    "sage, max": {"train-step.model": "sage", "train-step.readout": "max"},
    "gcn, mean": {"train-step.model": "gcn", "train-step.readout": "mean"},
    "gat, max, cat": {"train-step.model": "gat", "train-step.heads": 2, "train-step.readout": "max", "train-step.jumping_knowledge": "cat"},
    "regression, sum": {"ingest.task": "graph_regression", "train-step.model": "graph_conv", "train-step.readout": "sum"},
}


class Pooled(torch.nn.Module):
    """A model of nodes, a global pooling after it, and a matrix."""

    def __init__(self, texts, body=None):
        super().__init__()
        body = body or models.build(texts)
        self.body = [body]  # its tensors keep their names
        for name, child in body.named_children():
            self.add_module(name, child)
        self.pool = POOLS[texts["readout"]]
        self.classifier = torch.nn.Linear(int(texts["out_channels"]), int(texts["graph_outputs"]))

    def forward(self, x, edge_index, batch):
        return self.classifier(self.pool(self.body[0](x, edge_index), batch))


def read_texts(path):
    with safe_open(path, "pt") as file:
        return file.metadata()


def compare_step(report, name, run, work):
    path = os.path.join(work, "step.safetensors")
    interop.graphmill("export", run, "--what", "step", "--round", "3", "--output", path)
    step = {key: value.double() if value.is_floating_point() else value for key, value in load_file(path).items()}
    texts = read_texts(os.path.join(run, "outputs", "model.safetensors"))
    body, compute = models.build_for_batch(texts, step)
    model = Pooled(texts, body)
    model.double().load_state_dict({key[8:]: value for key, value in step.items() if key.startswith("weights.")}, strict=True)
    outputs = model.classifier(model.pool(compute(), step["mini_batch.batch"]))
    theirs = models.loss_of(outputs, step["labels"], regression="regression" in name)
    theirs.backward()
    report.compare(f"{name} loss", float(read_texts(path)["loss"]), theirs.item())
    gradients = {key: parameter.grad for key, parameter in model.named_parameters()}
    worst = max(gradients, key=lambda key: (gradients[key] - step["gradient." + key]).abs().max().item())
    largest = max(gradient.abs().max().item() for gradient in gradients.values())
    report.compare(f"{name} gradient ({worst})", step["gradient." + worst], gradients[worst], largest)


def compare_logits(report, name, run, folder, work):
    path = {what: os.path.join(work, what + ".npy") for what in ("logits", "features")}
    for what in path:
        interop.graphmill("export", run, "--what", what, "--output", path[what])
    file = os.path.join(run, "outputs", "model.safetensors")
    model = Pooled(read_texts(file))
    model.load_state_dict(load_file(file), strict=True)
    model.eval()
    edges = torch.from_numpy(np.loadtxt(folder / "edges.csv", delimiter=",", skiprows=1, dtype=np.int64).T)
    edges = torch.cat([edges, edges.flip(0)], 1)
    batch = torch.from_numpy(np.loadtxt(folder / "node-graph.csv", dtype=np.int64))
    with torch.no_grad():
        theirs = model(torch.from_numpy(np.load(path["features"])), edges, batch)
    report.compare(f"{name} logits", np.load(path["logits"]), theirs, is_sum=True)


def main():
    report = interop.Report()
    source = Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory(prefix="graphmill-interop-") as work:
        folder = Path(work, "shapes")
        subprocess.run([sys.executable, source / "tests/support/make_graphs.py", folder, "300"], check=True)
        for name, own in RUNS.items():
            wanted = {"train-step.norm": "none", "train-step.hidden": 16, "epochs": 3, "checkpoint.keep": 0, "sample.batch_size": 50, **own}
            os.environ["SHAPES"] = str(folder)
            run = os.path.join(work, "run")
            sets = [part for key in wanted for part in ("--set", f"{key}={wanted[key]}")]
            interop.graphmill("run", str(source / "pipelines/shapes.yaml"), "--directory", run, "--quiet", *sets)
            compare_step(report, name, run, work)
            compare_logits(report, name, run, folder, work)
    print(f"{report.failed} comparisons differ" if report.failed else "all agree")
    sys.exit(report.failed > 0)


if __name__ == "__main__":
    main()
