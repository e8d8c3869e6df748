"""Logits of an exported model in DGL: dgl_logits.py MODEL.safetensors GRAPH.npz OUT.npy, in DGL's own environment.

GRAPH.npz has edge_index [2, edges] and x [nodes, dim].
"""
import sys

import dgl
import numpy as np
import torch
from dgl.nn import GraphConv, SAGEConv
from safetensors import safe_open
from safetensors.torch import load_file


def gcn_graph(graph):
    """What `graphmill export --flavor dgl` tells of GCN: GraphConv adds no loops and goes by out-degrees."""
    graph = dgl.add_self_loop(dgl.remove_self_loop(graph))
    u, v = graph.edges()
    degree = graph.in_degrees().float()
    return graph, {"edge_weight": 1 / torch.sqrt(degree[u] * degree[v])}


KINDS = {  # the text "model": a layer, and the graph with what a layer is called with
    "GraphSAGE": (lambda i, o: SAGEConv(i, o, "mean"), lambda graph: (graph, {})),
    "GCN": (lambda i, o: GraphConv(i, o, norm="none"), gcn_graph),
}


def main(model_path, graph_path, out_path):
    arrays = np.load(graph_path)
    x = torch.from_numpy(arrays["x"])
    source, destination = torch.from_numpy(arrays["edge_index"])
    with safe_open(model_path, "pt") as file:
        texts = file.metadata()
    layer, prepare = KINDS[texts["model"]]
    count = int(texts["num_layers"])
    widths = [int(texts["in_channels"])] + [int(texts["hidden_channels"])] * (count - 1) + [int(texts["out_channels"])]
    model = torch.nn.Module()
    model.layers = torch.nn.ModuleList(layer(widths[k], widths[k + 1]) for k in range(count))
    model.load_state_dict(load_file(model_path), strict=True)
    graph, arguments = prepare(dgl.graph((source, destination), num_nodes=len(x)))
    with torch.no_grad():
        for k, conv in enumerate(model.layers):
            x = conv(graph, x, **arguments)
            x = torch.relu(x) if k + 1 < count else x
    np.save(out_path, x.numpy())


main(*sys.argv[1:])
