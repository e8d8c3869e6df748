"""Computes logits of an exported model in DGL: dgl_logits.py MODEL.safetensors GRAPH.npz OUT.npy,
in DGL's own environment.

GRAPH.npz has edge_index [2, edges], x [nodes, dim] and, for a weighted graph, weights [edges].
"""
import sys

import dgl
import numpy as np
import torch
from dgl.nn import APPNPConv, GINConv, GraphConv, SAGEConv, SGConv
from safetensors import safe_open
from safetensors.torch import load_file
from torch.nn import Linear, ReLU, Sequential


def with_loops(graph):
    return dgl.add_self_loop(dgl.remove_self_loop(graph))


def weighted_with_loops(graph):
    """Applies what `graphmill export --flavor dgl` says about GCN: GraphConv adds no self loops
    and uses out-degrees."""
    graph = with_loops(graph)
    u, v = graph.edges()
    degree = graph.in_degrees().float()
    return graph, {"edge_weight": 1 / torch.sqrt(degree[u] * degree[v])}


def gin_layer(inputs, outputs, train_eps=False):
    return GINConv(Sequential(Linear(inputs, outputs), ReLU(), Linear(outputs, outputs)), "sum", learn_eps=train_eps)


# A layer, and the graph with the other arguments of a layer. Layers 0, 1, ... have ReLU between
# them.
STACKS = {
    "sage": (lambda i, o: SAGEConv(i, o, "mean"), lambda graph: (graph, {})),
    "gcn": (lambda i, o: GraphConv(i, o, norm="none"), weighted_with_loops),
    "gin": (gin_layer, lambda graph: (graph, {})),
}


def load(layers, tensors):
    """Loads tensors with the names in the file: layers.<k>."""
    model = torch.nn.Module()
    model.layers = torch.nn.ModuleDict({str(k): layer for k, layer in layers.items()})
    model.load_state_dict(tensors, strict=True)


def sgc(texts, tensors, graph, x):
    hops = int(texts["num_layers"])
    layer = SGConv(int(texts["in_channels"]), int(texts["out_channels"]), k=hops)
    load({hops - 1: layer}, tensors)
    return layer(with_loops(graph), x)


def appnp(texts, tensors, graph, x):
    first = Linear(int(texts["in_channels"]), int(texts["hidden_channels"]))
    second = Linear(int(texts["hidden_channels"]), int(texts["out_channels"]))
    load({0: first, 1: second}, tensors)
    hops = APPNPConv(int(texts["num_layers"]) - 2, float(texts["alpha"]))
    return hops(with_loops(graph), second(torch.relu(first(x))))


def stack(texts, tensors, graph, x, weights=None):
    layer, prepare = STACKS[texts["kind"]]
    more = {"train_eps": texts["train_eps"] == "True"} if "train_eps" in texts else {}
    count = int(texts["num_layers"])
    widths = [int(texts["in_channels"])] + [int(texts["hidden_channels"])] * (count - 1) + [int(texts["out_channels"])]
    layers = {k: layer(widths[k], widths[k + 1], **more) for k in range(count)}
    load(layers, tensors)
    graph, arguments = prepare(graph)
    if weights is not None:
        arguments = {"edge_weight": weights}
    for k in range(count):
        x = layers[k](graph, x, **arguments)
        x = torch.relu(x) if k + 1 < count else x
    return x


def main(model_path, graph_path, out_path):
    arrays = np.load(graph_path)
    more = {"weights": torch.from_numpy(arrays["weights"])} if "weights" in arrays else {}
    x = torch.from_numpy(arrays["x"])
    source, destination = torch.from_numpy(arrays["edge_index"])
    graph = dgl.graph((source, destination), num_nodes=len(x))
    with safe_open(model_path, "pt") as file:
        texts = file.metadata()
    arguments = (texts, load_file(model_path), graph, x)
    with torch.no_grad():
        y = {"sgc": sgc, "appnp": appnp}.get(texts["kind"], stack)(*arguments, **more)
    np.save(out_path, y.numpy())


main(*sys.argv[1:])
