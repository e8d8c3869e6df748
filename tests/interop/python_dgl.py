"""Saves graphs of DGL with pipelines/python/graphmill.py and checks the written files. run.sh
--python runs it."""
import sys
import tempfile
from pathlib import Path

import dgl
import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "pipelines" / "python"))
import graphmill

with tempfile.TemporaryDirectory() as work:
    work = Path(work)
    graph = dgl.graph(([0, 1, 2], [1, 2, 0]))
    graph.ndata["feat"], graph.ndata["label"] = torch.rand(3, 4), torch.tensor([0, 1, 1])
    graph.ndata["train_mask"] = torch.tensor([True, False, True])
    graph.edata["weight"] = torch.tensor([0.5, 1.5, 2.5])
    graphmill.save(graph, work / "one")
    assert np.load(work / "one/edges.npy").tolist() == [[0, 1, 2], [1, 2, 0]]
    assert np.load(work / "one/edge-weight.npy").tolist() == [0.5, 1.5, 2.5]
    assert np.load(work / "one/train.npy").tolist() == [0, 2] and np.load(work / "one/node-label.npy").tolist() == [0, 1, 1]

    typed = dgl.heterograph({("user", "follows", "user"): ([0, 1], [1, 2]), ("user", "plays", "game"): ([0, 2], [0, 1])})
    typed.nodes["game"].data["feat"] = torch.rand(2, 3)
    typed.nodes["game"].data["label"] = torch.tensor([1, 0])
    graphmill.save(typed, work / "typed")
    assert (work / "typed/node-types.csv").read_text() == "name,first_id,count\ngame,0,2\nuser,2,3\n"
    assert np.load(work / "typed/edges.npy").tolist() == [[2, 3, 2, 4], [3, 4, 0, 1]]
    assert np.load(work / "typed/node-label.npy").tolist() == [1, 0, -1, -1, -1]
print("all agree")
