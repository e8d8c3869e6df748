"""A graphmill model as one of PyG: from the texts of model.safetensors, and on a mini-batch of graphmill's."""
import torch
import torch_geometric.nn

KINDS = {  # the text "model": what its constructor takes beside the sizes, from the texts
    "GraphSAGE": lambda texts: {},
    "GCN": lambda texts: {},
    "GAT": lambda texts: {"heads": int(texts["heads"]), "v2": texts["v2"] == "True"},
}


def build(texts, **more):
    """The model that model.safetensors with these texts is loaded into."""
    kind = texts["model"]
    return getattr(torch_geometric.nn, kind)(
        int(texts["in_channels"]), int(texts["hidden_channels"]), int(texts["num_layers"]), int(texts["out_channels"]),
        **KINDS[kind](texts), **more)


def build_for_batch(texts, batch):
    """The model and its arguments on a mini-batch as `graphmill export --what step` gives it.

    In a mini-batch PyG's GCN would divide by degrees of the mini-batch. graphmill divides by those of the whole graph, and
    a node of which only some neighbours were drawn counts each of them for as many as it stands for.
    """
    edge_index = batch["mini_batch.edge_index"]
    if texts["model"] != "GCN":
        return build(texts), (batch["features"], edge_index), {}
    degree, count = batch["mini_batch.degree"].float(), len(batch["mini_batch.node"])
    source, destination = edge_index[:, edge_index[0] != edge_index[1]]
    found = torch.zeros(count).index_add_(0, destination, torch.ones(len(destination)))
    share = torch.where((found > 0) & (found < degree), degree / found.clamp(min=1), torch.ones(count))
    root = (degree + 1).rsqrt()
    loops = torch.arange(count)
    weight = torch.cat([root[source] * root[destination] * share[destination], 1 / (degree + 1)])
    edges = torch.stack([torch.cat([source, loops]), torch.cat([destination, loops])])
    model = build(texts, normalize=False, add_self_loops=False)
    return model, (batch["features"], edges), {"edge_weight": weight}


def loss_of(logits, labels):
    """The mean loss over the seeds that have a label."""
    if labels.dtype == torch.int64:
        return torch.nn.functional.cross_entropy(logits, labels, ignore_index=-1)
    known = ~labels[:, 0].isnan()
    return torch.nn.functional.binary_cross_entropy_with_logits(logits[known], labels[known])
