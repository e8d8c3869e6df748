"""Compares the numbers of metrics.json with scikit-learn. Started by run.sh --metrics.

It trains a run of each task on a small generated graph (classes of which one is in no split, two
classes, several labels of which one occurs once, numbers of nodes), and computes the metrics from
the logits that export writes.
"""
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from sklearn import metrics as sk

GRAPHMILL = Path(os.environ["GRAPHMILL_BIN"]) / "graphmill"
NODES, MOST_OFF = 300, 1e-6  # logits are float32


def make(folder, labels):
    """Makes features and edges that are independent of the labels, so that predictions are both
    right and wrong."""
    random = np.random.default_rng(1)
    folder.mkdir()
    (folder / "meta.json").write_text(json.dumps({"num_nodes": NODES, "directed": False}))
    edges = random.integers(0, NODES, (1500, 2))
    np.save(folder / "edges.npy", edges)
    np.save(folder / "node-feat.npy", random.normal(size=(NODES, 8)).astype(np.float32))
    np.savetxt(folder / "node-label.csv", labels, fmt="%g", delimiter=",")
    order = random.permutation(NODES)
    for name, nodes in zip(("train", "valid", "test"), np.split(order, [150, 200])):
        np.savetxt(folder / f"{name}.csv", np.sort(nodes), fmt="%d")


def train(work, name, labels, ingest=""):
    make(work / name, labels)
    (work / f"{name}.yaml").write_text(f"name: {name}\nepochs: 8\ningest:\n  format: folder\n  path: {name}\n{ingest}"
                                       f"sample: {{fanouts: [5, 5], batch_size: 64}}\ntrain-step: {{hidden: 16}}\n")
    run = work / f"{name}-run"
    subprocess.run([GRAPHMILL, "run", work / f"{name}.yaml", "--directory", run, "--quiet", "--json"], check=True, stdout=subprocess.DEVNULL)
    return run, json.loads((run / "outputs/metrics.json").read_text())


def logits_of(run):
    subprocess.run([GRAPHMILL, "export", run, "--what", "logits", "--output", run / "logits.npy"], check=True, stdout=subprocess.DEVNULL)
    return np.load(run / "logits.npy").astype(np.float64)


def compare(name, split, told, expected):
    worst = 0.0
    for metric, value in expected.items():
        off = abs(told[metric] - value)
        worst = max(worst, off)
        if not off <= MOST_OFF * max(1, abs(value)):
            raise SystemExit(f"{name}, {split}: {metric} is {told[metric]!r}, scikit-learn has {value!r}")
    print(f"{name:<16} {split:<6} {', '.join(expected)}: at most {worst:.1e} off")


def classes(work, name, labels):
    run, told = train(work, name, labels)
    logits, count = logits_of(run), int(labels.max()) + 1
    for split in ("train", "valid", "test"):
        nodes = np.loadtxt(work / name / f"{split}.csv", dtype=int)
        truth, predicted = labels[nodes], logits[nodes].argmax(1)
        expected = {"accuracy": sk.accuracy_score(truth, predicted), "micro_f1": sk.f1_score(truth, predicted, average="micro"),
                    "macro_f1": sk.f1_score(truth, predicted, average="macro"),
                    "loss": sk.log_loss(truth, softmax(logits[nodes]), labels=range(count))}
        if count == 2:
            expected["roc_auc"] = sk.roc_auc_score(truth, logits[nodes, 1] - logits[nodes, 0])
        compare(name, split, told[split], expected)


def softmax(logits):
    e = np.exp(logits - logits.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def several_labels(work, name, labels):
    run, told = train(work, name, labels)
    logits = logits_of(run)
    for split in ("train", "valid", "test"):
        nodes = np.loadtxt(work / name / f"{split}.csv", dtype=int)
        truth, score = labels[nodes], logits[nodes]
        predicted = (score > 0).astype(int)
        both = [c for c in range(truth.shape[1]) if 0 < truth[:, c].sum() < len(nodes)]
        compare(name, split, told[split], {
            "accuracy": 1 - sk.hamming_loss(truth, predicted), "subset_accuracy": sk.accuracy_score(truth, predicted),
            "micro_f1": sk.f1_score(truth, predicted, average="micro"),
            "macro_f1": sk.f1_score(truth, predicted, average="macro", zero_division=0),
            "roc_auc": sk.roc_auc_score(truth[:, both], score[:, both], average="macro"),
            "average_precision": sk.average_precision_score(truth[:, both], score[:, both], average="macro")})


def numbers(work, name, values):
    run, told = train(work, name, values, "  task: node_regression\n")
    predicted = logits_of(run)
    for split in ("train", "valid", "test"):
        nodes = np.loadtxt(work / name / f"{split}.csv", dtype=int)
        truth = values[nodes]
        compare(name, split, told[split], {"rmse": sk.mean_squared_error(truth, predicted[nodes]) ** 0.5,
                                           "mae": sk.mean_absolute_error(truth, predicted[nodes]),
                                           "r2": sk.r2_score(truth, predicted[nodes], multioutput="uniform_average")})


def main():
    random = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        some = random.choice([0, 1, 2, 4, 5], NODES, p=[0.4, 0.3, 0.2, 0.09, 0.01])
        classes(work, "classes", some)
        classes(work, "two_classes", (some > 0).astype(int))
        bits = (random.random((NODES, 5)) < [0.5, 0.3, 0.2, 0.05, 0.0]).astype(int)
        bits[0, 4] = 1  # in one split only
        several_labels(work, "several_labels", bits)
        numbers(work, "numbers", random.normal(size=(NODES, 2)) * [1, 30])


if __name__ == "__main__":
    main()
