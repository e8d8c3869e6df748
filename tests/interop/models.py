"""A graphmill model as one of PyG: from the texts of model.safetensors, and on a mini-batch of graphmill's."""
import torch
from torch_geometric.nn import APPNP, GAT, GCN, GIN, MLP, GraphConv, GraphSAGE, LEConv, SGConv


class Plain(MLP):
    """PyG's MLP, which does not look at the edges."""

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
    """Layers of one kind as BasicGNN would stack them."""

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
    """What a BasicGNN is given beside its sizes."""
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
    """PyG's GIN. With `inner: relu`, and in files of before that option, ReLU alone stands between the matrices of a layer."""
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


# texts["kind"] -> the model, from the texts. given: the edge weights are all that counts.
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
    """The model that model.safetensors with these texts is loaded into."""
    return KINDS[texts["kind"]](texts, **more)


def layers_of_batch(model, x, edge_index, hop_end):
    """What a BasicGNN computes, each layer only for the nodes that the layers above it want: those a batch norm is over."""
    for layer, conv in enumerate(model.convs):
        count = int(hop_end[model.num_layers - 1 - layer])
        into = edge_index[:, edge_index[1] < count]
        x = conv((x, x[:count]), into, size=(len(x), count))  # so that a norm inside the layer is over those, too
        edge_index = edge_index[:, (edge_index < count).all(0)]
        if layer + 1 < model.num_layers:
            x = model.act(model.norms[layer](x))
    return x


def build_for_batch(texts, batch):
    """The model, and a function of its logits, on a mini-batch as `graphmill export --what step` gives it.

    In a mini-batch PyG's GCN would divide by degrees of the mini-batch. graphmill divides by those of the whole graph, and
    a node of which only some neighbours were drawn counts each of them for as many as it stands for.
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
    """The mean loss over the seeds that have a label."""
    if labels.dtype == torch.int64:
        return torch.nn.functional.cross_entropy(logits, labels, ignore_index=-1)
    known = ~labels[:, 0].isnan()
    if regression:
        return torch.nn.functional.mse_loss(logits[known], labels[known])
    return torch.nn.functional.binary_cross_entropy_with_logits(logits[known], labels[known])
