"""A small graph with relations, in a folder for ingest: papers in three classes, their authors,
a venue for each class."""

import json
import os

from . import graph_files

DIM = 8  # features of a paper


def write(folder, nodes, has_rows):
    """Writes two authors for three papers, `nodes` in all; `has_rows`: papers have features. An
    existing folder is left unchanged."""
    papers = 3 * (nodes - 3) // 5
    authors = nodes - 3 - papers
    if os.path.exists(folder):
        return
    edges = ["src,dst,etype"]
    for paper in range(papers):
        own = authors + paper
        edges += [f"{paper * 7 % authors},{own},0", f"{(paper * 11 + 3) % authors},{own},0",
                  f"{own},{authors + (paper * 13 + 5) % papers},1", f"{own},{authors + papers + paper % 3},2"]
    labels = [-1] * authors + [paper % 3 for paper in range(papers)] + [-1] * 3
    files = {
        "node-types.csv": ["name,first_id,count", f"author,0,{authors}", f"paper,{authors},{papers}",
                           f"venue,{authors + papers},3"],
        "edge-types.csv": ["id,name,source,target", "0,writes,author,paper", "1,cites,paper,paper", "2,in,paper,venue"],
        "edges.csv": edges,
        "node-label.csv": labels,
        "train.csv": range(authors, authors + papers, 2),
        "valid.csv": range(authors + 1, authors + papers, 4),
        "test.csv": range(authors + 3, authors + papers, 4),
        "meta.json": [json.dumps({"num_nodes": nodes, "directed": True, "num_classes": 3})],
    }
    if has_rows:
        files["paper-feat.npy"] = graph_files.npy([[(paper * 7 + column * 3) % 11 / 4 for column in range(DIM)] for paper in range(papers)])
    graph_files.publish(folder, files)
