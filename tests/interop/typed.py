"""Does PyG compute the step of a model over relations that typed_step wrote? See README.md and run.sh."""
import argparse
import os
import subprocess
import sys
import tempfile

import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch_geometric.nn import GATConv, GraphConv, HeteroConv, HGTConv, Linear, RGATConv, RGCNConv, SAGEConv
from torch_geometric.nn.module_dict import ModuleDict

LIMIT = 1e-4  # between two floats that should be the same; where all of them are small, of the largest one


class Step:
    """What typed_step wrote, in double precision."""

    def __init__(self, path):
        tensors = {k: v.double() if v.is_floating_point() else v for k, v in load_file(path).items()}
        with safe_open(path, "pt") as file:
            self.text = file.metadata()
        self.types = self.text["types"].split()
        self.relations = [tuple(line.split()) for line in self.text["relations"].splitlines()]
        self.number = {key: int(self.text[key]) for key in ("heads", "bases", "blocks", "hidden")}
        self.tensors = tensors
        self.weights, self.gradient = self.named("weights."), self.named("gradient.")
        self.x, self.x_gradient = self.named("x."), self.named("x_gradient.")

    def named(self, prefix):
        return {k[len(prefix):]: v for k, v in self.tensors.items() if k.startswith(prefix)}

    def edges(self, hop):
        return {r: self.tensors[f"edge.{hop}.{i}"] for i, r in enumerate(self.relations)}

    def count(self, hop):
        return dict(zip(self.types, self.tensors[f"count.{hop}"].tolist()))


class Relational(torch.nn.Module):
    """R-GCN or R-GAT over the union of all types; with several each has a Linear for its own rows."""

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


def attention(step, dims, out, is_last):
    heads = step.number["heads"]
    return GATConv(dims, out if is_last else out // heads, heads=heads, concat=not is_last, add_self_loops=False)


def transformer(step, dims, out, is_last):
    return HGTConv(dims, out, (step.types, step.relations), heads=step.number["heads"])


KINDS = {
    "rgcn": Relational,
    "rgat": Relational,
    "gat": by_relation(attention),
    "sage": by_relation(lambda step, dims, out, is_last: SAGEConv(dims, out, aggr=step.text["aggr"])),
    "graph_conv": by_relation(lambda step, dims, out, is_last: GraphConv(dims, out, aggr=step.text["aggr"])),
    "hgt": transformer,
}


class Model(torch.nn.Module):
    """The layers as they are called in graphmill's files."""

    def __init__(self, step):
        super().__init__()
        classes, dims = step.tensors["logits"].shape[1], {t: x.shape[1] for t, x in step.x.items()}
        projects = [t for t in step.types if f"lin_dict.{t.replace('.', '#')}.weight" in step.weights]
        self.lin_dict = ModuleDict({t: Linear(dims[t], dims[step.types[-1]]) for t in projects})
        dims |= {t: dims[step.types[-1]] for t in projects}
        ends = step.text["kind"] == "hgt"
        convs = []
        for hop in range(2):
            out = step.number["hidden"] if hop == 0 or ends else classes
            convs.append(KINDS[step.text["kind"]](step, dims, out, hop == 1))
            dims = dict.fromkeys(step.types, out)
        self.convs = torch.nn.ModuleList(c.conv if isinstance(c, Relational) else c for c in convs)
        if isinstance(convs[0], Relational) and convs[0].root:
            self.roots = torch.nn.ModuleList(c.root for c in convs)
        self.lin = Linear(out, classes) if ends else None
        self.layers = [c.forward for c in convs]

    def forward(self, step, x):
        x = {t: self.lin_dict[t](x[t]).relu() if t in self.lin_dict else x[t] for t in x}
        for hop, layer in enumerate(self.layers):
            y = layer(x, step.edges(hop))
            x = {t: y[t][: step.count(hop)[t]] for t in step.types}
            if hop == 0 or self.lin is not None:
                x = {t: rows.relu() for t, rows in x.items()}
        return x[step.types[0]] if self.lin is None else self.lin(x[step.types[0]])


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
    if step.text["kind"] == "hgt":  # its modules take no dots in names of types
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
    theirs = {n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in model.named_parameters()}
    theirs |= {f"input {t}": torch.zeros_like(rows) if rows.grad is None else rows.grad for t, rows in x.items()}
    ours = step.gradient | {f"input {t}": rows for t, rows in step.x_gradient.items()}
    largest = max(g.abs().max().item() for g in theirs.values())
    worst = max(ours, key=lambda n: (ours[n] - theirs[n]).abs().max().item())
    report.compare(f"typed {name} gradient ({worst})"[:48], ours[worst], theirs[worst], largest)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, help="typed_step of a build")
    parser.add_argument("models", nargs="*", help="of those that it knows")
    options = parser.parse_args()
    known = subprocess.run([options.program], check=True, capture_output=True, text=True).stdout.split()
    report = Report()
    with tempfile.TemporaryDirectory(prefix="graphmill-interop-") as work:
        for name in options.models or known:
            path = os.path.join(work, "step.safetensors")
            subprocess.run([options.program, name, path], check=True)
            try_model(report, name, path)
    print(f"{report.failed} comparisons differ" if report.failed else "all agree")
    sys.exit(report.failed > 0)


if __name__ == "__main__":
    main()
