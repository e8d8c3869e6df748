"""Test accuracy of a GCN trained with other samplers in PyTorch and PyG, for the rows of
tests/bench/accuracy.

  rival_samplers.py DATASETS [--seeds 10] [--datasets cora,citeseer,pubmed] [SAMPLER...]

Two layers of PyG's GCNConv, hidden 64, dropout 0.5 between them, Adam 0.01 with weight decay 5e-4
on all tensors, 200 epochs, the epoch of the best validation accuracy, all neighbours for validation
and test. Prints `name mean deviation`. It runs in the environment interop-pyg-2.8.1 of
tests/interop/run.sh, in which PyG has neither torch-sparse nor pyg-lib. The samplers are therefore:

  saint-node, saint-edge, saint-walk PyG's GraphSAINT*Sampler with its own normalisation, on a
                                     stand-in (Matrix) for torch-sparse's matrix. The roots of walks
                                     are training nodes, as in the paper's program
  shadow                             the algorithm of torch-sparse's ego_k_hop_sample_adj in numpy;
                                     the output of each seed is its own row
  weighted                           the rule of pyg-lib's weighted neighbour sampling in numpy:
                                     without replacement, by exponential keys
  fastgcn, ladies                    the papers' algorithms in numpy (Chen et al. 2018, algorithm 2
                                     without its last improvement: every layer is drawn with
                                     replacement by squared columns; Zou et al. 2019, algorithm 1,
                                     on D^-1 (A + I))
"""
import argparse
import os

import numpy
import torch
from torch_geometric.data import Data
from torch_geometric.loader import graph_saint
from torch_geometric.nn import GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

HIDDEN, EPOCHS, RATE, DECAY, DROPOUT = 64, 200, 0.01, 5e-4, 0.5
# Nodes of a layer, nodes of a subgraph, as in tests/bench/accuracy.
SIZES = {"cora": (400, 1400), "citeseer": (400, 1600), "pubmed": (3000, 12000)}


class Graph:
    """A folder of shared datasets: rows like those of PyG's NormalizeFeatures, each edge in both
    directions, sorted by target."""

    def __init__(self, folder):
        def integers(name):
            return torch.from_numpy(numpy.loadtxt(os.path.join(folder, name), dtype=numpy.int64))

        x = numpy.load(os.path.join(folder, "node-feat.npy"))
        x = x - x.min()
        self.x = torch.from_numpy(x / numpy.maximum(x.sum(1, keepdims=True), 1)).float().to_sparse()
        self.y = integers("node-label.csv")
        self.count = len(self.y)
        self.split = {name: integers(f"{name}.csv") for name in ("train", "valid", "test")}
        ends = numpy.loadtxt(os.path.join(folder, "edges.csv"), delimiter=",", skiprows=1, usecols=(0, 1), dtype=numpy.int64)
        ends = numpy.concatenate([ends, ends[:, ::-1]])
        self.edges = numpy.unique(ends[ends[:, 0] != ends[:, 1]][:, ::-1], axis=0).T[::-1].copy()  # sources, targets
        self.start = numpy.searchsorted(self.edges[1], numpy.arange(self.count + 1))
        self.degree = numpy.diff(self.start)
        self.sizes = SIZES[os.path.basename(folder)]

    def matrix(self, by_row=False):
        """Returns the normalised matrix with self loops: sources, targets, values; sorted by
        target."""
        source, target = (numpy.concatenate([own, numpy.arange(self.count)]) for own in self.edges)
        order = numpy.lexsort((source, target))
        source, target = source[order], target[order]
        degree = (self.degree + 1.0)
        value = 1 / degree[target] if by_row else (degree[source] * degree[target]) ** -0.5
        return source, target, value, numpy.searchsorted(target, numpy.arange(self.count + 1))


def sparse(source, target, value, sources, targets):
    indices = torch.from_numpy(numpy.stack([numpy.asarray(target), numpy.asarray(source)]))
    return torch.sparse_coo_tensor(indices, torch.as_tensor(value).float(), (targets, sources)).coalesce()


def normalised(edge_index, count):
    """Returns PyG's normalisation of a graph without changes."""
    edges, value = gcn_norm(edge_index, None, count, add_self_loops=True)
    return sparse(edges[0].numpy(), edges[1].numpy(), value, count, count)


class Model(torch.nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.convs = torch.nn.ModuleList([GCNConv(inputs, HIDDEN), GCNConv(HIDDEN, classes)])

    def forward(self, x, nodes, first, second):
        """Computes GCNConv on these rows of x, with a matrix for each layer."""
        x = (first @ (x @ self.convs[0].lin.weight.t())[nodes] + self.convs[0].bias).relu()
        x = torch.nn.functional.dropout(x, DROPOUT, self.training)
        return second @ self.convs[1].lin(x) + self.convs[1].bias


# --- a sampler: a generator of batches, with None after those of an epoch. A batch has the nodes
# that are read, the matrices of both layers, the rows of the outputs, their nodes, and the weights
# of their losses ---


class Matrix:
    """The part of torch_sparse.SparseTensor that GraphSAINT's samplers use."""

    def __init__(self, row, col, value, sparse_sizes):
        order = (row * sparse_sizes[1] + col).argsort()
        self.ends, self.values, self.sizes = (row[order], col[order]), value[order], sparse_sizes
        self.storage = self
        self.first = torch.searchsorted(self.ends[0], torch.arange(sparse_sizes[0] + 1))

    def row(self):
        return self.ends[0]

    def value(self):
        return self.values

    def coo(self):
        return *self.ends, self.values

    def rowcount(self):
        return torch.bincount(self.ends[0], minlength=self.sizes[0])

    def colcount(self):
        return torch.bincount(self.ends[1], minlength=self.sizes[1])

    def saint_subgraph(self, node):
        place = torch.full((self.sizes[0],), -1)
        place[node] = torch.arange(len(node))
        row, col = place[self.ends[0]], place[self.ends[1]]
        edge = ((row >= 0) & (col >= 0)).nonzero().view(-1)
        return Matrix(row[edge], col[edge], self.values[edge], (len(node), len(node))), edge

    def random_walk(self, node, length):
        walk = [node]
        for _ in range(length):
            count = self.first[node + 1] - self.first[node]
            edge = self.first[node] + (torch.rand(len(node)) * count).long()
            node = torch.where(count > 0, self.ends[1][edge.clamp(max=len(self.values) - 1)], node)
            walk.append(node)
        return torch.stack(walk, 1)


class EdgeSampler(graph_saint.GraphSAINTEdgeSampler):
    """PyG's distribution, without its table of all edges for each draw."""

    def _sample_nodes(self, batch_size):
        row, col, _ = self.adj.coo()
        chance = (self.adj.storage.colcount()[row] + self.adj.storage.rowcount()[col]).float()
        edge = torch.multinomial(chance, batch_size, replacement=True)
        return torch.cat([col[edge], row[edge]])


class WalkSampler(graph_saint.GraphSAINTRandomWalkSampler):
    """Walks whose roots are training nodes."""

    def _sample_nodes(self, batch_size):
        return self.adj.random_walk(self.data.train_mask.nonzero().view(-1), self.walk_length).view(-1)


def saint(make):
    def batches(graph):
        graph_saint.SparseTensor = Matrix
        mask = torch.zeros(graph.count, dtype=torch.bool)
        mask[graph.split["train"]] = True
        root = torch.from_numpy((graph.degree + 1.0) ** -0.5).float()
        edges = torch.from_numpy(graph.edges)
        data = Data(edge_index=edges, node=torch.arange(graph.count), root=root, train_mask=mask,
                    edge_weight=root[edges[0]] * root[edges[1]], num_nodes=graph.count)
        sampler = make(graph, data)
        train = len(graph.split["train"])
        while True:
            for batch in sampler:
                loop = torch.arange(batch.num_nodes)
                row, col = (torch.cat([own, loop]) for own in batch.edge_index)
                value = torch.cat([batch.edge_weight * batch.edge_norm, batch.root ** 2])
                own = sparse(row.numpy(), col.numpy(), value, batch.num_nodes, batch.num_nodes)
                seeds = batch.train_mask.nonzero().view(-1)
                yield batch.node, own, own, seeds, batch.node[seeds], batch.node_norm[seeds] * (graph.count / train)
            yield None

    return batches


def even(seeds):
    return torch.full((len(seeds),), 1 / max(len(seeds), 1))


def plain(nodes, matrix, seeds):
    return nodes, matrix, matrix, seeds, nodes[seeds], even(seeds)


def neighbors(graph, nodes, fanout, key):
    """Returns edges to each of `nodes`, at most `fanout`, those with the least keys."""
    count = graph.degree[nodes]
    first = numpy.repeat(graph.start[nodes] - numpy.concatenate([[0], count.cumsum()[:-1]]), count)
    edge = first + numpy.arange(count.sum())
    row = numpy.repeat(numpy.arange(len(nodes)), count)
    order = numpy.lexsort((key(edge), row))
    rank = numpy.arange(len(edge)) - numpy.repeat(count.cumsum() - count, count)
    return edge[order][rank < fanout]


def shadow(graph, depth=2, fanout=10):
    draw = numpy.random.default_rng(torch.initial_seed())
    while True:
        nodes, sources, targets, roots, base = [], [], [], [], 0
        for seed in graph.split["train"].numpy():
            known = frontier = numpy.array([seed])
            for _ in range(depth):
                edge = neighbors(graph, frontier, fanout, lambda e: draw.random(len(e)))
                frontier = numpy.setdiff1d(graph.edges[0][edge], known)
                known = numpy.concatenate([known, frontier])
            edge = neighbors(graph, known, graph.count, lambda e: e)
            order = known.argsort()
            place = numpy.searchsorted(known[order], graph.edges[0][edge]).clip(max=len(known) - 1)
            inside = known[order][place] == graph.edges[0][edge]
            target = numpy.repeat(numpy.arange(len(known)), graph.degree[known])
            sources.append(order[place][inside] + base)
            targets.append(target[inside] + base)
            nodes.append(known)
            roots.append(base)
            base += len(known)
        edges = torch.from_numpy(numpy.stack([numpy.concatenate(sources), numpy.concatenate(targets)]))
        yield plain(torch.from_numpy(numpy.concatenate(nodes)), normalised(edges, base), torch.tensor(roots))
        yield None


def common_neighbors(graph):
    """Returns the weight of an edge: one more than the number of common neighbours of its ends."""
    sets = [set(graph.edges[0][a:b]) for a, b in zip(graph.start, graph.start[1:])]
    return numpy.array([1.0 + len(sets[s] & sets[t]) for s, t in graph.edges.T])


def weighted(graph, fanouts=(10, 10)):
    draw, weight = numpy.random.default_rng(torch.initial_seed()), common_neighbors(graph)
    seeds = graph.split["train"].numpy()
    while True:
        nodes, frontier, edges = seeds, seeds, []
        for fanout in fanouts:
            edges.append(neighbors(graph, frontier, fanout, lambda e: draw.exponential(size=len(e)) / weight[e]))
            frontier = numpy.setdiff1d(graph.edges[0][edges[-1]], nodes)
            nodes = numpy.concatenate([nodes, frontier])
        place = numpy.full(graph.count, -1)
        place[nodes] = numpy.arange(len(nodes))
        own = torch.from_numpy(place[graph.edges[:, numpy.concatenate(edges)]])
        yield plain(torch.from_numpy(nodes), normalised(own, len(nodes)), torch.arange(len(seeds)))
        yield None


def rows_of(matrix, nodes):
    source, _, value, start = matrix
    count = start[nodes + 1] - start[nodes]
    entry = numpy.repeat(start[nodes] - numpy.concatenate([[0], count.cumsum()[:-1]]), count) + numpy.arange(count.sum())
    return source[entry], numpy.repeat(numpy.arange(len(nodes)), count), value[entry]


def columns(rows, nodes, scale, targets, count):
    """Returns the columns `nodes` of rows, each times its scale; a node may occur twice."""
    source, target, value = rows
    kept, inverse = numpy.unique(nodes, return_inverse=True)
    total = numpy.bincount(inverse, weights=scale)
    place = numpy.full(count, -1)
    place[kept] = numpy.arange(len(kept))
    inside = place[source] >= 0
    local = place[source[inside]]
    return kept, (local, target[inside], value[inside] * total[local])


def fastgcn(graph):
    draw, matrix = numpy.random.default_rng(torch.initial_seed()), graph.matrix()
    chance = numpy.bincount(matrix[0], weights=matrix[2] ** 2, minlength=graph.count)
    chance /= chance.sum()
    seeds = graph.split["train"].numpy()
    while True:
        nodes, layers = seeds, []
        for _ in range(2):
            drawn = draw.choice(graph.count, graph.sizes[0], p=chance)
            above = len(nodes)
            nodes, own = columns(rows_of(matrix, nodes), drawn, 1 / (chance[drawn] * len(drawn)), above, graph.count)
            layers.append(sparse(*own, len(nodes), above))
        yield torch.from_numpy(nodes), layers[1], layers[0], torch.arange(len(seeds)), torch.from_numpy(seeds), even(seeds)
        yield None


def ladies(graph):
    draw, matrix = numpy.random.default_rng(torch.initial_seed()), graph.matrix(by_row=True)
    seeds = graph.split["train"].numpy()
    while True:
        nodes, layers = seeds, []
        for _ in range(2):
            rows, above = rows_of(matrix, nodes), len(nodes)
            chance = numpy.bincount(rows[0], weights=rows[2] ** 2, minlength=graph.count)
            chance /= chance.sum()
            size = min(graph.sizes[0], int((chance > 0).sum()))
            drawn = draw.choice(graph.count, size, p=chance, replace=False)
            nodes, (source, target, value) = columns(rows, drawn, 1 / chance[drawn], above, graph.count)
            total = numpy.bincount(target, weights=value, minlength=above)
            layers.append(sparse(source, target, value / total[target], len(nodes), above))
        yield torch.from_numpy(nodes), layers[1], layers[0], torch.arange(len(seeds)), torch.from_numpy(seeds), even(seeds)
        yield None


NORM = {"sample_coverage": 50, "log": False}
SAMPLERS = {
    "fastgcn": fastgcn,
    "ladies": ladies,
    "saint-node": saint(lambda g, data: graph_saint.GraphSAINTNodeSampler(data, batch_size=g.sizes[1], **NORM)),
    "saint-edge": saint(lambda g, data: EdgeSampler(data, batch_size=g.sizes[1] // 2, **NORM)),
    "saint-walk": saint(lambda g, data: WalkSampler(data, batch_size=1, walk_length=2, **NORM)),
    "shadow": shadow,
    "weighted": weighted,
}


def train(graph, name, seed):
    torch.manual_seed(seed)
    model = Model(graph.x.shape[1], int(graph.y.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, weight_decay=DECAY)
    source, target, value, _ = graph.matrix(by_row=name == "ladies")
    whole = sparse(source, target, value, graph.count, graph.count)
    torch.manual_seed(seed)
    batches = SAMPLERS[name](graph)
    best, found = -1.0, 0.0
    for _ in range(EPOCHS):
        model.train()
        for nodes, first, second, rows, seeds, weight in iter(lambda: next(batches), None):
            optimizer.zero_grad()
            logits = model(graph.x, nodes, first, second)[rows]
            (torch.nn.functional.cross_entropy(logits, graph.y[seeds], reduction="none") * weight).sum().backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = model(graph.x, slice(None), whole, whole).argmax(1) == graph.y
        valid = right[graph.split["valid"]].float().mean().item()
        if valid > best:
            best, found = valid, right[graph.split["test"]].float().mean().item()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DATASETS")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--datasets", default=",".join(SIZES))
    parser.add_argument("sampler", nargs="*", help="of " + ", ".join(SAMPLERS))
    options = parser.parse_intermixed_args()
    for dataset in options.datasets.split(","):
        graph = Graph(os.path.join(options.folder, dataset))
        for name in options.sampler or SAMPLERS:
            found = [train(graph, name, seed) for seed in range(options.seeds)]
            print(f"{name}-{dataset:10} {numpy.mean(found):.4f} {numpy.std(found):.4f}", flush=True)


if __name__ == "__main__":
    main()
