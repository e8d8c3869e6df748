"""Makes a PyG model of a graphmill model, from the metadata of model.safetensors, and applies it
to graphmill's mini-batches."""
import torch
from torch_geometric.nn import APPNP, GAT, GCN, GIN, MLP, GraphConv, GraphSAGE, LEConv, SGConv


class Plain(MLP):
    """PyG's MLP, which ignores the edges."""

    def forward(self, x, edge_index):
        return super().forward(x)


class Propagated(MLP):
    """PyG's MLP before its APPNP, which has no tensors."""

    def __init__(self, *sizes, propagation, **more):
        super().__init__(*sizes, **more)
        self.propagation = APPNP(**propagation)

    def forward(self, x, edge_index, edge_weight=None):
        return self.propagation(super().forward(x), edge_index, edge_weight)


class Stack(torch.nn.Module):
    """Layers of one kind, stacked as in BasicGNN."""

    def __init__(self, layer, widths, **more):
        super().__init__()
        self.convs = torch.nn.ModuleList(layer(i, o, **more) for i, o in zip(widths, widths[1:]))

    def forward(self, x, edge_index, edge_weight=None):
        for conv in self.convs[:-1]:
            x = torch.relu(conv(x, edge_index, edge_weight))
        return self.convs[-1](x, edge_index, edge_weight)


class Hops(SGConv):
    """SGConv with edge weights that are not normalised."""

    def forward(self, x, edge_index, edge_weight):
        hops = APPNP(self.K, alpha=0.0, add_self_loops=False, normalize=False)
        return self.lin(hops(x, edge_index, edge_weight))


def sizes(texts):
    return tuple(int(texts[name]) for name in ("in_channels", "hidden_channels", "num_layers", "out_channels"))


NORMS = {"none": {}, "batch": {"norm": "batch_norm"}, "layer": {"norm": "layer_norm", "norm_kwargs": {"mode": "node"}}}


def options(texts):
    """Returns the arguments of a BasicGNN besides its sizes."""
    named = {"act": texts["activation"], "jk": texts["jumping_knowledge"]}
    more = {name: None if text == "none" else text for name, text in named.items()} | NORMS[texts["norm"]]
    if "heads" in texts:
        more.update(heads=int(texts["heads"]), v2=texts["v2"] == "True")
    if "aggr" in texts:
        more["aggr"] = texts["aggr"]
    if "train_eps" in texts:
        more["train_eps"] = texts["train_eps"] == "True"
    if "edge_dim" in texts:
        more["edge_dim"] = int(texts["edge_dim"])
    return more


def build_gin(texts):
    """Builds PyG's GIN. With `inner: relu`, and in files from before that option, only ReLU is
    between the matrices of a layer."""
    model = GIN(*sizes(texts), **options(texts))
    for conv in model.convs if texts.get("inner", "relu") == "relu" else ():
        conv.nn.norms[0], conv.nn.act = torch.nn.Identity(), torch.nn.ReLU()
    return model


def build_sgc(texts, given=False):
    inputs, _, hops, outputs = sizes(texts)
    return (Hops if given else SGConv)(inputs, outputs, K=hops)


def build_appnp(texts, given=False):
    inputs, hidden, layers, outputs = sizes(texts)
    hops = {"K": layers - 2, "alpha": float(texts["alpha"]), "add_self_loops": not given, "normalize": not given}
    return Propagated([inputs, hidden, outputs], norm=None, propagation=hops)


def stack_of(layer):
    def build_stack(texts):
        inputs, hidden, layers, outputs = sizes(texts)
        more = {"aggr": texts["aggr"]} if "aggr" in texts else {}
        return Stack(layer, [inputs] + [hidden] * (layers - 1) + [outputs], **more)

    return build_stack


# texts["kind"] -> the model, from the metadata. given: only the edge weights count.
KINDS = {
    "sage": lambda texts: GraphSAGE(*sizes(texts), **options(texts)),
    "gcn": lambda texts, given=False: GCN(*sizes(texts), normalize=not given, add_self_loops=not given, **options(texts)),
    "gat": lambda texts: GAT(*sizes(texts), **options(texts)),
    "gatv2": lambda texts: GAT(*sizes(texts), **options(texts)),
    "gin": build_gin,
    "graph_conv": stack_of(GraphConv),
    "le": stack_of(LEConv),
    "mlp": lambda texts: Plain([*sizes(texts)[:2], sizes(texts)[3]], norm=None),
    "sgc": build_sgc,
    "appnp": build_appnp,
}
NORMALISED = ("gcn", "sgc", "appnp")


def build(texts, **more):
    """Builds the model that can load model.safetensors with this metadata."""
    return KINDS[texts["kind"]](texts, **more)


def layers_of_batch(model, x, edge_index, hop_end):
    """Computes a BasicGNN, each layer only for the nodes that the layers above it read; a batch
    norm covers those."""
    for layer, conv in enumerate(model.convs):
        count = int(hop_end[model.num_layers - 1 - layer])
        into = edge_index[:, edge_index[1] < count]
        # so that a norm inside the layer covers those, too
        x = conv((x, x[:count]), into, size=(len(x), count))
        edge_index = edge_index[:, (edge_index < count).all(0)]
        if layer + 1 < model.num_layers:
            x = model.act(model.norms[layer](x))
    return x


def build_for_batch(texts, batch):
    """Returns the model, and a function of its logits, on a mini-batch as `graphmill export --what
    step` writes it.

    In a mini-batch PyG's GCN would divide by the degrees in the mini-batch. graphmill divides by
    those in the whole graph, and a node with only some sampled neighbours counts each of them for
    as many as it represents.
    """
    edge_index = batch["mini_batch.edge_index"]
    value = batch.get("mini_batch.weight")
    if texts["kind"] not in NORMALISED:
        model = build(texts)
        if texts["norm"] != "none":
            return model, lambda: layers_of_batch(model, batch["features"], edge_index, batch["mini_batch.hop_end"])
        named = {} if value is None else {"edge_weight": value}
        return model, lambda: model(batch["features"], edge_index, **named)
    degree, count = batch["mini_batch.degree"].double(), len(batch["mini_batch.node"])
    is_loop = edge_index[0] == edge_index[1]
    source, destination = edge_index[:, ~is_loop]
    found = torch.zeros_like(degree).index_add_(0, destination, torch.ones_like(destination, dtype=degree.dtype))
    share = torch.where((found > 0) & (found < degree), degree / found.clamp(min=1), torch.ones_like(degree))
    root, loops, of_loop = (degree + 1).rsqrt(), torch.arange(count), torch.ones_like(degree)
    value = torch.ones(edge_index.size(1), dtype=degree.dtype) if value is None else value
    if "mini_batch.weight_sum" in batch:
        total = batch["mini_batch.weight_sum"]
        root = torch.where(total > 0, total.rsqrt(), torch.zeros_like(total))
        has_loop = torch.zeros(count, dtype=torch.bool).index_fill_(0, edge_index[0, is_loop], True)
        of_loop = torch.where(has_loop, torch.zeros_like(total).index_add_(0, edge_index[0, is_loop], value[is_loop]), of_loop)
    weight = torch.cat([value[~is_loop] * root[source] * root[destination] * share[destination], of_loop * root * root])
    edges = torch.stack([torch.cat([source, loops]), torch.cat([destination, loops])])
    model = build(texts, given=True)
    return model, lambda: model(batch["features"], edges, edge_weight=weight)


def loss_of(logits, labels, regression=False):
    """Returns the mean loss over the seeds that have a label."""
    if labels.dtype == torch.int64:
        return torch.nn.functional.cross_entropy(logits, labels, ignore_index=-1)
    known = ~labels[:, 0].isnan()
    if regression:
        return torch.nn.functional.mse_loss(logits[known], labels[known])
    return torch.nn.functional.binary_cross_entropy_with_logits(logits[known], labels[known])
