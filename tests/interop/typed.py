"""Compares models over relations with PyG: a step that typed_step wrote, and a trained run. See
README.md and run.sh."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch_geometric.nn import (
    APPNP,
    MLP,
    GATConv,
    GATv2Conv,
    GCNConv,
    GINConv,
    GraphConv,
    HeteroConv,
    HGTConv,
    JumpingKnowledge,
    LEConv,
    Linear,
    RGATConv,
    RGCNConv,
    SAGEConv,
    SGConv,
)
from torch_geometric.nn.module_dict import ModuleDict

# relative difference of two floats that should be equal; if all of them are small, relative to the
# largest
LIMIT = 1e-4


class Step:
    """The files that typed_step wrote, in double precision."""

    def __init__(self, path):
        tensors = {k: v.double() if v.is_floating_point() else v for k, v in load_file(path).items()}
        with safe_open(path, "pt") as file:
            self.text = file.metadata()
        self.types = self.text["types"].split()
        self.relations = [tuple(line.split()) for line in self.text["relations"].splitlines()]
        self.number = {key: int(self.text[key]) for key in ("heads", "bases", "blocks", "hidden", "train_eps")}
        self.number["edge_dim"] = max([v.shape[1] for k, v in tensors.items() if k.startswith("feature.")], default=0)
        self.tensors = tensors
        self.weights, self.gradient = self.named("weights."), self.named("gradient.")
        self.x, self.x_gradient = self.named("x."), self.named("x_gradient.")
        self.classes, self.target = self.tensors["logits"].shape[1], self.types[0]
        ends = self.text["kind"] == "hgt" or self.text["jumping_knowledge"] != "none"
        self.activations, self.projected_activation = ["relu", "relu" if ends else "none"], "relu"
        if self.text["kind"] == "sgc":
            self.activations[0] = "none"

    def named(self, prefix):
        return {k[len(prefix):]: v for k, v in self.tensors.items() if k.startswith(prefix)}

    def edges(self, hop):
        return {r: self.tensors[f"edge.{hop}.{i}"] for i, r in enumerate(self.relations)}

    def edge_columns(self, hop):
        """What HeteroConv takes beside rows and edges: nothing, or the weights or the features of edges."""
        found = {}
        for argument, name in (("edge_weight_dict", "weight"), ("edge_attr_dict", "feature")):
            values = {r: self.tensors.get(f"{name}.{hop}.{i}") for i, r in enumerate(self.relations)}
            if any(v is not None for v in values.values()):
                found[argument] = values
        return found

    def count(self, hop):
        return dict(zip(self.types, self.tensors[f"count.{hop}"].tolist()))


class Run:
    """A run of graphmill, as a Step: its model on the whole graph, or on the mini-batch of an
    exported step."""

    def __init__(self, model, tensors, edges, x, features):
        with safe_open(model, "pt") as file:
            self.text = file.metadata()
        graph, layers = json.loads(self.text["graph"]), json.loads(self.text["layers"])
        self.types, self.relations = graph["node_types"], [tuple(r) for r in graph["relations"]]
        self.number = {key: int(self.text.get(key, 0)) for key in ("heads", "bases", "blocks", "edge_dim")}
        self.number["train_eps"] = int(self.text.get("train_eps") == "True")
        self.number["hidden"] = int(self.text["hidden_channels"])
        self.text["relation_aggr"] = graph["relation_aggr"]
        self.activations = [layer["activation"] for layer in layers if layer["kind"] != "mlp"]  # `lin`
        self.projected_activation, self.target = graph["projected_activation"], graph["target"]
        self.classes, self.weights, self.x = int(self.text["out_channels"]), tensors, x
        self.of_relations = dict(zip(self.relations, edges))
        self.features = {"edge_attr_dict": dict(zip(self.relations, features))} if self.number["edge_dim"] else {}

    def edges(self, hop):
        return self.of_relations

    def edge_columns(self, hop):
        return self.features

    def count(self, hop):
        return {t: len(rows) for t, rows in self.x.items()}


class Relational(torch.nn.Module):
    """R-GCN or R-GAT over the union of all types; with several types each has a Linear for its
    own rows."""

    def __init__(self, step, dims, out, is_last):
        super().__init__()
        self.types, self.relations, one = step.types, step.relations, len(step.types) == 1
        parts = {"num_bases": step.number["bases"] or None, "num_blocks": step.number["blocks"] or None}
        heads = step.number["heads"]
        if step.text["kind"] == "rgat":
            one = True
            self.conv = RGATConv(dims[step.types[0]], out if is_last else out // heads, len(step.relations), heads=heads,
                                 concat=not is_last, **parts)
        else:
            self.conv = RGCNConv(dims[step.types[0]], out, len(step.relations), aggr=step.text["aggr"], root_weight=one,
                                 bias=one, **parts)
        self.root = None if one else ModuleDict({t: torch.nn.Linear(dims[t], out) for t in step.types})

    def forward(self, x, edges):
        first, rows = {}, 0
        for t in self.types:
            first[t], rows = rows, rows + len(x[t])
        index = torch.cat([e + torch.tensor([[first[r[0]]], [first[r[2]]]]) for r, e in edges.items()], 1)
        kind = torch.cat([torch.full((e.shape[1],), i) for i, e in enumerate(edges.values())])
        y = self.conv(torch.cat([x[t] for t in self.types]), index, kind)
        return {t: y[first[t]: first[t] + len(x[t])] + (self.root[t](x[t]) if self.root else 0) for t in self.types}


def by_relation(layer):
    def make(step, dims, out, is_last):
        return HeteroConv({r: layer(step, (dims[r[0]], dims[r[2]]), out, is_last) for r in step.relations},
                          aggr=step.text["relation_aggr"])
    return make


def attention(layer):
    def make(step, dims, out, is_last):
        heads = step.number["heads"]
        return layer(dims, out if is_last else out // heads, heads=heads, concat=not is_last, add_self_loops=False,
                     edge_dim=step.number["edge_dim"] or None)
    return make


class BetweenTypes(torch.nn.Module):
    """GCN's hop for bipartite relations, which PyG lacks: each edge is divided by the roots of
    both ends' degrees in the relation."""

    def forward(self, x, edge_index, edge_weight=None):
        source, target = edge_index
        weight = torch.ones(len(source), dtype=x[0].dtype) if edge_weight is None else edge_weight
        root = [torch.zeros(len(rows), dtype=x[0].dtype).index_add(0, end, weight).pow(-0.5) for rows, end in zip(x, edge_index)]
        norm = root[0][source] * weight * root[1][target]
        return torch.zeros(len(x[1]), x[0].shape[1], dtype=x[0].dtype).index_add(0, target, norm[:, None] * x[0][source])


class GCNBetweenTypes(BetweenTypes):
    def __init__(self, dims, out):
        super().__init__()
        self.lin = torch.nn.Linear(dims[0], out, bias=False)
        self.bias = torch.nn.Parameter(torch.zeros(out))

    def forward(self, x, edge_index, edge_weight=None):
        return self.lin(super().forward(x, edge_index, edge_weight)) + self.bias


class SGBetweenTypes(BetweenTypes):
    def __init__(self, dims, out):
        super().__init__()
        self.lin = torch.nn.Linear(dims[0], out)

    def forward(self, x, edge_index, edge_weight=None):
        return self.lin(super().forward(x, edge_index, edge_weight))


def divided(own, between):
    """`own` for a relation from a type to itself."""
    def make(step, dims, out, is_last):
        return HeteroConv({r: own(dims[r[0]], out) if r[0] == r[2] else between((dims[r[0]], dims[r[2]]), out) for r in step.relations},
                          aggr=step.text["relation_aggr"])
    return make


def simplified(step, dims, out, is_last):
    hop = divided(lambda dim, out: APPNP(K=1, alpha=0), lambda dims, out: BetweenTypes())
    return (divided(lambda dim, out: SGConv(dim, out), SGBetweenTypes) if is_last else hop)(step, dims, out, is_last)


def isomorphism(step, dims, out, is_last):
    return GINConv(MLP([dims[0], out, out], norm=None), train_eps=bool(step.number["train_eps"]))


def transformer(step, dims, out, is_last):
    return HGTConv(dims, out, (step.types, step.relations), heads=step.number["heads"])


ACTIVATIONS = {"none": lambda x: x, "relu": torch.relu}
KINDS = {
    "rgcn": Relational,
    "rgat": Relational,
    "gat": by_relation(attention(GATConv)),
    "gatv2": by_relation(attention(GATv2Conv)),
    "gin": by_relation(isomorphism),
    "gcn": divided(GCNConv, GCNBetweenTypes),
    "sgc": simplified,
    "le": by_relation(lambda step, dims, out, is_last: LEConv(dims, out)),
    "sage": by_relation(lambda step, dims, out, is_last: SAGEConv(dims, out, aggr=step.text["aggr"])),
    "graph_conv": by_relation(lambda step, dims, out, is_last: GraphConv(dims, out, aggr=step.text["aggr"])),
    "hgt": transformer,
}


class Model(torch.nn.Module):
    """The layers with the names in graphmill's files."""

    def __init__(self, step):
        super().__init__()
        classes, dims = step.classes, {t: x.shape[1] for t, x in step.x.items()}
        names = {t: f"lin_dict.{t.replace('.', '#')}.weight" for t in step.types}
        projected = {t: len(step.weights[name]) for t, name in names.items() if name in step.weights}
        self.lin_dict = ModuleDict({t: Linear(dims[t], width) for t, width in projected.items()})
        dims |= projected
        self.jump = step.text["jumping_knowledge"]
        ends = step.text["kind"] == "hgt" or self.jump != "none"
        convs = []
        for hop in range(2):
            out = step.number["hidden"] if hop == 0 or ends else classes
            convs.append(KINDS[step.text["kind"]](step, dims, out, hop == 1))
            if step.text["kind"] != "sgc":
                dims = dict.fromkeys(step.types, out)
        self.convs = torch.nn.ModuleList(c.conv if isinstance(c, Relational) else c for c in convs)
        if isinstance(convs[0], Relational) and convs[0].root:
            self.roots = torch.nn.ModuleList(c.root for c in convs)
        self.lin = Linear(2 * out if self.jump == "cat" else out, classes) if ends else None
        self.join = JumpingKnowledge(self.jump) if self.jump in ("cat", "max") else lambda rows: rows[-1]
        self.layers = [c.forward for c in convs]

    def forward(self, step, x):
        given = []
        x = {t: ACTIVATIONS[step.projected_activation](self.lin_dict[t](x[t])) if t in self.lin_dict else x[t] for t in x}
        for hop, layer in enumerate(self.layers):
            y = layer(x, step.edges(hop), **step.edge_columns(hop))
            x = {t: ACTIVATIONS[step.activations[hop]](y[t][: step.count(hop)[t]]) for t in step.types}
            given.append(x[step.target])
        rows = self.join([g[: len(given[-1])] for g in given])
        return rows if self.lin is None else self.lin(rows)


def gradients(model):
    """Returns gradients by name; zeros for parameters that are not trained, such as the eps of
    GIN."""
    trained = dict(model.named_parameters())
    return {n: torch.zeros_like(v) if trained.get(n, v).grad is None else trained[n].grad for n, v in model.state_dict().items()}


class Report:
    failed = 0

    def compare(self, name, ours, theirs, largest=0.0):
        ours, theirs = torch.as_tensor(ours).double(), torch.as_tensor(theirs).double()
        worst = (ours - theirs).abs().max().item() if ours.shape == theirs.shape else float("inf")
        largest = largest or theirs.abs().max().item()
        ok = worst <= LIMIT * min(1.0, largest) and largest > 0  # false for NaN
        self.failed += not ok
        print(f"{name:48} {worst:9.2e} of {largest:8.3f} {'ok' if ok else 'DIFFERS'}", flush=True)


def try_model(report, name, path):
    step = Step(path)
    if step.text["kind"] == "hgt":  # its modules allow no dots in names of types
        hashed = {t: t.replace(".", "#") for t in step.types}
        step.types = list(hashed.values())
        step.relations = [(hashed[s], r, hashed[d]) for s, r, d in step.relations]
        step.x, step.x_gradient = ({hashed[t]: v for t, v in d.items()} for d in (step.x, step.x_gradient))
    model = Model(step).double()
    model.load_state_dict(step.weights, strict=True)
    x = {t: rows.clone().requires_grad_() for t, rows in step.x.items()}
    logits = model(step, x)
    loss = torch.nn.functional.cross_entropy(logits, step.tensors["labels"])
    loss.backward()
    report.compare(f"typed {name} logits", step.tensors["logits"], logits.detach())
    report.compare(f"typed {name} loss", float(step.text["loss"]), loss.item())
    theirs = gradients(model)
    theirs |= {f"input {t}": torch.zeros_like(rows) if rows.grad is None else rows.grad for t, rows in x.items()}
    ours = step.gradient | {f"input {t}": rows for t, rows in step.x_gradient.items()}
    largest = max(g.abs().max().item() for g in theirs.values())
    worst = max(ours, key=lambda n: (ours[n] - theirs[n]).abs().max().item())
    report.compare(f"typed {name} gradient ({worst})"[:48], ours[worst], theirs[worst], largest)


# Settings of runs that are trained, exported and loaded: a row for each kind.
RUNS = {
    "rgcn": {"train-step.model": "rgcn", "train-step.projection": "relu"},
    "rgcn-bases": {"train-step.model": "rgcn", "train-step.bases": 2},
    "sage": {"train-step.model": "sage", "train-step.relation_aggr": "mean"},
    "sage-jump": {"train-step.model": "sage", "train-step.jumping_knowledge": "cat", "train-step.norm": "none"},
    "gat": {"train-step.model": "gat", "train-step.heads": 2},
    "gatv2": {"train-step.model": "gatv2", "train-step.heads": 2},
    "gat-plain": {"train-step.model": "gat", "train-step.heads": 2, "train-step.edge_features": "false"},
    # Sums over sampled neighbours are scaled to all of them, and PyG's are not, so these take all.
    "gin": {"train-step.model": "gin", "train-step.train_eps": "true", "sample.fanouts": "-1,-1"},
    "le": {"train-step.model": "le", "train-step.relation_aggr": "mean", "sample.fanouts": "-1,-1"},
    "gcn": {"train-step.model": "gcn"},
    "sgc": {"train-step.model": "sgc", "train-step.relation_aggr": "mean"},
    "rgat": {"train-step.model": "rgat", "train-step.heads": 2},
    "hgt": {"train-step.model": "hgt", "train-step.heads": 2},
}
# they divide by degrees in the whole graph, which a mini-batch's edges do not have
WITHOUT_STEP = {"gcn", "sgc"}
COUNT = {"author": 150, "paper": 220, "venue": 6}
FIRST = {"author": 0, "paper": 150, "venue": 370}
ENDS = {"writes": ("author", "paper", 700), "cites": ("paper", "paper", 900), "in": ("paper", "venue", 220)}


def write_graph(folder):
    """Writes papers, their authors and venues, with features of different widths; the class of a
    paper is in its features."""
    draw = np.random.default_rng(5)
    os.makedirs(folder)
    label = draw.integers(0, 3, COUNT["paper"])
    with open(os.path.join(folder, "edges.csv"), "w") as file:
        file.write("src,dst,etype,feat_0,feat_1\n")
        for number, (source, target, count) in enumerate(ENDS.values()):
            ends = np.unique(draw.integers(0, [COUNT[source], COUNT[target]], (count, 2)), axis=0)
            for s, d in ends:
                first, second = draw.normal(size=2)
                file.write(f"{FIRST[source] + s},{FIRST[target] + d},{number},{first:.3f},{second:.3f}\n")
    for width, (name, count) in enumerate(COUNT.items()):
        rows = draw.normal(size=(count, 5 + width)).astype(np.float32)
        if name == "paper":
            rows[np.arange(count), label] += 2
        np.save(os.path.join(folder, f"{name}-feat.npy"), rows)
    with open(os.path.join(folder, "node-types.csv"), "w") as file:
        file.write("name,first_id,count\n" + "".join(f"{n},{FIRST[n]},{c}\n" for n, c in COUNT.items()))
    with open(os.path.join(folder, "edge-types.csv"), "w") as file:
        file.write("id,name,source,target\n" + "".join(f"{i},{n},{s},{d}\n" for i, (n, (s, d, _)) in enumerate(ENDS.items())))
    labels = np.full(sum(COUNT.values()), -1)
    labels[FIRST["paper"]:FIRST["venue"]] = label
    np.savetxt(os.path.join(folder, "node-label.csv"), labels, fmt="%d")
    order = FIRST["paper"] + draw.permutation(COUNT["paper"])
    for name, part in zip(("train", "valid", "test"), np.split(order, [120, 170])):
        np.savetxt(os.path.join(folder, name + ".csv"), part, fmt="%d")
    with open(os.path.join(folder, "meta.json"), "w") as file:
        json.dump({"num_nodes": sum(COUNT.values()), "directed": True}, file)


def read_edges(folder):
    """Returns, for each relation of the input and then for their reverses, the edges as positions
    in their types, and the features of edges."""
    rows = np.loadtxt(os.path.join(folder, "edges.csv"), delimiter=",", skiprows=1)
    edges, features = [], []
    for number, (source, target, _) in enumerate(ENDS.values()):
        own = rows[rows[:, 2] == number]
        edges.append(torch.from_numpy(own[:, :2].astype(np.int64).T - [[FIRST[source]], [FIRST[target]]]))
        features.append(torch.from_numpy(own[:, 3:].astype(np.float32)).double())
    return edges + [e.flip(0) for e in edges], features + features


def graphmill(*arguments):
    program = os.path.join(os.environ["GRAPHMILL_BIN"], "graphmill")
    done = subprocess.run([program, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"graphmill {' '.join(map(str, arguments))} ended with {done.returncode}:\n{done.stderr}")


def load(path):
    return {k: v.double() if v.is_floating_point() else v for k, v in load_file(path).items()}


def try_step(report, name, folder, model_file):
    """Compares the loss and the gradient of one training step."""
    path = os.path.join(folder, "step.safetensors")
    graphmill("export", folder, "--what", "step", "--round", 2, "--output", path)
    tensors = load(path)
    with safe_open(path, "pt") as file:
        text = file.metadata()
    cut = lambda prefix: {k[len(prefix):]: v for k, v in tensors.items() if k.startswith(prefix)}
    x = cut("features.")
    edges = [tensors[f"mini_batch.edge_index.{r}"] for r in range(2 * len(ENDS))]
    features = [tensors.get(f"mini_batch.edge_feature.{r}") for r in range(2 * len(ENDS))]
    run = Run(model_file, cut("weights."), edges, x, features)
    for t in run.types:  # a type of which the mini-batch has no node
        run.x.setdefault(t, torch.zeros(0, 5 + list(COUNT).index(t), dtype=torch.float64))
    model = Model(run).double()
    model.load_state_dict(run.weights, strict=True)
    labels = tensors["labels"]
    loss = torch.nn.functional.cross_entropy(model(run, run.x)[: len(labels)], labels)
    loss.backward()
    report.compare(f"run {name} loss", float(text["loss"]), loss.item())
    ours = cut("gradient.")
    theirs = gradients(model)
    worst = max(ours, key=lambda n: (ours[n] - theirs[n]).abs().max().item())
    report.compare(f"run {name} gradient ({worst})"[:48], ours[worst], theirs[worst], max(g.abs().max().item() for g in theirs.values()))


def try_run(report, name, work):
    """Trains and exports a run; its model loads and has the run's logits of all papers, and a
    step its gradient."""
    graph, folder = os.path.join(work, "graph"), os.path.join(work, f"run-{name}")
    if not os.path.exists(graph):
        write_graph(graph)
    wanted = {"ingest.path": graph, "ingest.relations": "true", "ingest.add_reverse": "true", "partition.parts": 3,
              "sample.fanouts": "4,3", "sample.batch_size": 40, "train-step.hidden": 16, "train-step.dropout": 0,
              "checkpoint.keep": 0, "epochs": 3, **RUNS[name]}
    pipeline = os.path.join(work, "run.yaml")
    with open(pipeline, "w") as file:
        file.write("name: typed\n")
    sets = [text for key, value in wanted.items() for text in ("--set", f"{key}={value}")]
    graphmill("run", pipeline, "--directory", folder, "--quiet", "--workers", 1, *sets)
    model_file = os.path.join(folder, "outputs", "model.safetensors")
    logits = os.path.join(folder, "logits.npy")
    graphmill("export", folder, "--what", "logits", "--output", logits)
    x = {}
    for t in COUNT:
        path = os.path.join(folder, "features.npy")
        graphmill("export", folder, "--what", "features", "--type", t, "--output", path)
        x[t] = torch.from_numpy(np.load(path)).double()
    edges, features = read_edges(graph)
    run = Run(model_file, load(model_file), edges, x, features)
    model = Model(run).double()
    model.load_state_dict(run.weights, strict=True)
    with torch.no_grad():
        report.compare(f"run {name} logits", np.load(logits), model(run, run.x))
    if name not in WITHOUT_STEP:
        try_step(report, name, folder, model_file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, help="typed_step of a build")
    parser.add_argument("models", nargs="*", help="of those that it knows, and run-NAME of RUNS")
    options = parser.parse_args()
    known = subprocess.run([options.program], check=True, capture_output=True, text=True).stdout.split()
    report = Report()
    with tempfile.TemporaryDirectory(prefix="graphmill-interop-") as work:
        for name in options.models or [*known, *(f"run-{name}" for name in RUNS)]:
            if name.startswith("run-"):
                try_run(report, name[len("run-"):], work)
                continue
            path = os.path.join(work, "step.safetensors")
            subprocess.run([options.program, name, path], check=True)
            try_model(report, name, path)
    print(f"{report.failed} comparisons differ" if report.failed else "all agree")
    sys.exit(report.failed > 0)


if __name__ == "__main__":
    main()
