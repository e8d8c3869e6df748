"""A graph whose edges have times, for trials with a temporal sampler."""

import os
import random

from . import graph_files


def write(folder, nodes):
    """Writes `folder`/edges and labels: two communities, four edges to each node from earlier
    ones, at rising times."""
    if os.path.exists(folder):
        return
    draw = random.Random(nodes)
    edges = ["source target weight time"]
    for node in range(4, nodes):
        for _ in range(4):
            other = draw.randrange(node - 1)
            if draw.random() < 0.8:  # of the same community
                other += (other - node) % 2
            edges.append(f"{other} {node} 1 {node}")
    graph_files.publish(folder, {"edges": edges, "labels": [f"{node},{node % 2}" for node in range(nodes)]})
