"""Models of pairs of nodes in PyG: scores of given links, classes and numbers of given edges;
see README.md and run.sh."""
import argparse
import csv
import os
import sys
import tempfile

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import load_file

import interop
import models

NODES, EDGES, HELD_OUT, COLUMNS, CLASSES = 150, 1500, 120, 12, 4


class Hidden(torch.nn.Module):
    """Two linear layers on a combination of both rows."""

    def __init__(self, inputs, hidden, outputs):
        super().__init__()
        self.lins = torch.nn.ModuleList([torch.nn.Linear(inputs, hidden), torch.nn.Linear(hidden, outputs)])

    def forward(self, both):
        return self.lins[1](self.lins[0](both).relu())


class Mlp(Hidden):
    """OGB's LinkPredictor."""

    def __init__(self, dim, outputs):
        super().__init__(dim, dim, outputs)

    def forward(self, source, target):
        return super().forward(source * target)


class Concat(Hidden):
    def __init__(self, dim, outputs):
        super().__init__(2 * dim, dim, outputs)

    def forward(self, source, target):
        return super().forward(torch.cat([source, target], 1))


class DistMult(torch.nn.Module):
    """PyG's DistMult, with a row for each output."""

    def __init__(self, dim, outputs):
        super().__init__()
        self.rel_emb = torch.nn.Embedding(outputs, dim)

    def forward(self, source, target):
        return (source * target) @ self.rel_emb.weight.t()


class Cosine(torch.nn.Module):
    def forward(self, source, target):
        return torch.nn.functional.cosine_similarity(source, target)[:, None]


class Dot(torch.nn.Module):
    def forward(self, source, target):
        return (source * target).sum(1, keepdim=True)


# texts["decoder"] -> the module, for rows of a width and a number of scores for each pair
DECODERS = {
    "dot": lambda dim, outputs: Dot(),
    "cosine": lambda dim, outputs: Cosine(),
    "distmult": DistMult,
    "bilinear": lambda dim, outputs: torch.nn.Bilinear(dim, dim, outputs),
    "mlp": Mlp,
    "concat": Concat,
}
OF_ONE_SCORE = ("dot", "cosine")  # not for classes


def write_graph(folder, links):
    """Writes files of a graph and of its held-out edges; held-out links are no edges of the
    graph. Returns the edges that messages pass over."""
    draw = np.random.default_rng(5)
    ends = np.unique(draw.integers(0, NODES, (EDGES, 2)), axis=0)
    ends = draw.permutation(ends[ends[:, 0] != ends[:, 1]])
    label = (ends[:, 0] + ends[:, 1]) % CLASSES
    number = draw.normal(size=len(ends))
    held = {"valid": ends[:HELD_OUT], "test": ends[HELD_OUT : 2 * HELD_OUT]}
    first = 2 * HELD_OUT if links else 0
    os.makedirs(folder)
    with open(os.path.join(folder, "edges.csv"), "w") as file:
        file.write("src,dst,kind,number\n")
        for (source, target), kind, value in list(zip(ends, label, number))[first:]:
            file.write(f"{source},{target},{kind},{float(np.float32(value))!r}\n")
    for name, own in held.items():
        np.savetxt(os.path.join(folder, f"held-{name}.csv"), own, fmt="%d", delimiter=",", header="source,target", comments="")
    features = np.c_[np.arange(NODES), np.arange(NODES) / NODES, draw.normal(size=(NODES, COLUMNS))]
    np.savetxt(os.path.join(folder, "features.csv"), features, fmt=["%d"] + ["%.7g"] * (COLUMNS + 1), delimiter=",")
    return torch.from_numpy(ends[2 * HELD_OUT :].T.copy())


def settings(task, decoder, folder):
    common = {"ingest.format": "edge_list", "ingest.path": f"{folder}/edges.csv", "ingest.features": f"{folder}/features.csv",
              "ingest.direction": "as_given", "ingest.edge_features": "named", "ingest.task": task, "ingest.edge_split": "given",
              "ingest.valid_edges": f"{folder}/held-valid.csv", "ingest.test_edges": f"{folder}/held-test.csv", "partition.parts": 3,
              "sample.fanouts": "5,5", "sample.batch_size": 128, "train-step.hidden": 16, "train-step.decoder": decoder, "epochs": 3}
    if task == "link_prediction":
        loss = {"train-step.link_loss": "margin", "train-step.link_margin": 0.5} if decoder == "cosine" else {}
        return common | loss
    return common | {"ingest.edge_label": "kind" if task == "edge_classification" else "number"}


def load(path):
    """Loads the model and its decoder, strictly."""
    with safe_open(path, "pt") as file:
        texts = file.metadata()
    model = models.build(texts)
    model.decoder = DECODERS[texts["decoder"]](int(texts["out_channels"]), int(texts["decoder_outputs"]))
    model.load_state_dict(load_file(path), strict=True)
    return model.eval()


def compare(report, task, decoder, edges, run):
    outputs = os.path.join(run, "outputs")
    model = load(os.path.join(outputs, "model.safetensors"))
    interop.graphmill("export", run, "--what", "features", "--output", os.path.join(run, "features.npy"))
    with open(os.path.join(outputs, "predictions.csv")) as file:
        lines = [line for line in csv.DictReader(file) if line["split"] in ("valid", "test")]
    x = torch.from_numpy(np.load(os.path.join(run, "features.npy")))
    # of a node: arrays are in the order of the input, and the first column has its id
    place = (x[:, 0] * NODES).round().long().argsort()
    source, target = (place[torch.tensor([int(line[end]) for line in lines])] for end in ("source", "target"))
    with torch.no_grad():
        rows = model(x, place[edges])
        scores = model.decoder(rows[source], rows[target])
    name = f"{task} {decoder}"
    report.compare(f"{name} rows", np.load(os.path.join(outputs, "embeddings.npy")), rows)
    if task == "edge_classification":
        share, own = scores.softmax(1).max(1)
        report.compare(f"{name} probability", [float(line["probability"]) for line in lines], share)
        differ = sum(int(line["prediction"]) != c for line, c in zip(lines, own.tolist()))
        report.compare(f"{name} class", [1.0], [1.0 - differ])
    else:
        column = "score" if task == "link_prediction" else "prediction"
        report.compare(f"{name} {column}", [float(line[column]) for line in lines], scores[:, 0])
    if len(lines) != 2 * HELD_OUT:
        sys.exit(f"{name}: {len(lines)} lines of held-out edges, expected {2 * HELD_OUT}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("decoders", nargs="*", default=list(DECODERS), help="of " + ", ".join(DECODERS))
    options = parser.parse_args()
    report = interop.Report()
    with tempfile.TemporaryDirectory(prefix="graphmill-interop-") as work:
        file = os.path.join(work, "pipeline.yaml")
        with open(file, "w") as out:
            out.write("name: pairs\n")
        for task in ("link_prediction", "edge_classification", "edge_regression"):
            folder = os.path.join(work, task)
            edges = write_graph(folder, task == "link_prediction")
            for decoder in options.decoders:
                if task == "edge_classification" and decoder in OF_ONE_SCORE:
                    continue
                own = settings(task, decoder, folder)
                run = os.path.join(work, f"{task}-{decoder}")
                sets = (part for key, value in own.items() for part in ("--set", f"{key}={value}"))
                interop.graphmill("run", file, "--directory", run, "--quiet", *sets)
                compare(report, task, decoder, edges, run)
    print(f"{report.failed} comparisons differ" if report.failed else "all agree")
    sys.exit(report.failed > 0)


if __name__ == "__main__":
    main()
