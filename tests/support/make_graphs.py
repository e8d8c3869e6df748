#!/usr/bin/env python3
"""Many small graphs whose class is their shape: python3 make_graphs.py FOLDER COUNT [--tu NAME]
[--seed S]

Class 0 is a tree, 1 a ring with tails, 2 a tree with a triangle at every third node, each of 6 to
24 nodes. Nodes have one of three colours, which are independent of the class. Numbers of nodes are
shuffled over all graphs, so that those of a graph are not consecutive.

Without --tu it writes a folder for `format: folder`: meta.json, edges.csv, node-graph.csv; colours
are in node-feat.npy, because node-feat.csv is not read; graph-label.csv (the class) and train.csv,
valid.csv, test.csv (70, 15 and 15 of a hundred). With it the files of the TU Dortmund collection,
NAME_A.txt and others, which count from 1 and have classes 1, 2 and 5.
"""
import argparse
import random
import struct
from pathlib import Path


def make_graph(rng, kind):
    """Returns the number of nodes, and pairs of them."""
    nodes = rng.randint(6, 24)
    ring = rng.randint(4, nodes) if kind == 1 else 0
    edges = [(i, (i + 1) % ring) for i in range(ring)]
    edges += [(i, rng.randrange(i)) for i in range(max(1, ring), nodes)]
    if kind == 2:
        for i in range(0, nodes, 3):
            edges += [(i, nodes), (i, nodes + 1), (nodes, nodes + 1)]
            nodes += 2
    return nodes, edges


def write_npy(path, rows):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            out.write(struct.pack("<%df" % len(row), *row))


def lines(path, values):
    Path(path).write_text("".join(f"{v}\n" for v in values))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("count", type=int)
    parser.add_argument("--tu", metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    kinds = [rng.randrange(3) for _ in range(args.count)]
    graph_of, edges = [], []
    for graph, kind in enumerate(kinds):
        nodes, pairs = make_graph(rng, kind)
        edges += [(len(graph_of) + a, len(graph_of) + b) for a, b in pairs]
        graph_of += [graph] * nodes
    place = list(range(len(graph_of)))
    if not args.tu:  # in that format the nodes of a graph are consecutive by convention
        rng.shuffle(place)
    owner = [0] * len(place)
    for node, at in enumerate(place):
        owner[at] = graph_of[node]
    edges = [(place[a], place[b]) for a, b in edges]
    colour = [rng.randrange(3) for _ in owner]
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.tu:
        stem = f"{args.folder}/{args.tu}_"
        lines(stem + "A.txt", [f"{a + 1}, {b + 1}" for x, y in edges for a, b in ((x, y), (y, x))])
        lines(stem + "graph_indicator.txt", [g + 1 for g in owner])
        lines(stem + "graph_labels.txt", [(1, 2, 5)[k] for k in kinds])
        lines(stem + "node_labels.txt", colour)
        lines(stem + "node_attributes.txt", [f"{c / 4}, 1" for c in colour])
        lines(stem + "graph_attributes.txt", [owner.count(g) / 10 for g in range(args.count)])
        return
    folder = args.folder
    (folder / "meta.json").write_text('{"num_nodes": %d, "directed": false}\n' % len(owner))
    (folder / "edges.csv").write_text("src,dst\n" + "".join(f"{a},{b}\n" for a, b in edges))
    lines(folder / "node-graph.csv", owner)
    lines(folder / "graph-label.csv", kinds)
    write_npy(folder / "node-feat.npy", [[float(c == k) for k in range(3)] for c in colour])
    order = list(range(args.count))
    rng.shuffle(order)
    first, second = args.count * 70 // 100, args.count * 85 // 100
    lines(folder / "train.csv", order[:first])
    lines(folder / "valid.csv", order[first:second])
    lines(folder / "test.csv", order[second:])


main()
