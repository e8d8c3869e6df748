"""The steps of a notebook with pipelines/python/graphmill.py: a PyG Data is saved, trained, read
back, and trained on in PyG.

    python python_example.py FOLDER            FOLDER: cora of the datasets; run.sh --python runs it

It checks that the PyG model gives the predictions and the test accuracy of the run, and that
training can continue from there.
"""
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data, HeteroData

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "pipelines" / "python"))
import graphmill


def cora(folder):
    """Returns the graph as in PyG's Planetoid."""
    folder = Path(folder)
    nodes = json.loads((folder / "meta.json").read_text())["num_nodes"]
    edges = torch.from_numpy(np.loadtxt(folder / "edges.csv", delimiter=",", skiprows=1, dtype=np.int64)[:, :2].T.copy())
    data = Data(x=torch.from_numpy(np.load(folder / "node-feat.npy").astype(np.float32)), edge_index=torch.cat([edges, edges.flip(0)], 1),
                y=torch.from_numpy(np.loadtxt(folder / "node-label.csv", dtype=np.int64)))
    for split, mask in graphmill.MASKS.items():
        data[mask] = torch.zeros(nodes, dtype=torch.bool)
        data[mask][np.loadtxt(folder / f"{split}.csv", dtype=np.int64)] = True
    return data.coalesce()


def main():
    data = cora(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        graphmill.save(data, work / "cora")
        (work / "cora.yaml").write_text("name: cora\nepochs: 30\ningest: {path: cora}\npartition: {parts: 4}\n"
                                        "sample: {fanouts: [10, 10], batch_size: 140}\ntrain-step: {hidden: 64, dropout: 0.5}\n")
        for kind, more in (("sage", {}), ("gcn", {}), ("gat", {}), ("gin", {"norm": "batch"}), ("gin", {"norm": "layer", "activation": "elu"}),
                           ("gin", {"norm": "batch", "activation": "elu", "inner": "relu"})):
            named = {f"train-step.{name}": value for name, value in {"model": kind, **more}.items()}
            run = graphmill.run(work / "cora.yaml", directory=work / "-".join((kind, *more.values())), quiet=True, **named)
            model = run.model()
            with torch.no_grad():
                logits = model(data.x, data.edge_index)
            same = (logits.argmax(1).numpy() == run.predictions["prediction"]).mean()
            accuracy = (logits.argmax(1) == data.y)[data.test_mask].float().mean().item()
            told = run.metrics["test"]["accuracy"]
            print(f"{kind}: {same:.4f} of the predictions are the same, test accuracy {told:.4f} here and {accuracy:.4f} in PyG")
            assert same > 0.999 and abs(accuracy - told) < 0.002

            # Continues in PyG from the end of graphmill's training.
            optimizer, loss = torch.optim.Adam(model.parameters(), lr=0.001), torch.nn.CrossEntropyLoss()
            before = loss(logits[data.train_mask], data.y[data.train_mask]).item()
            for _ in range(20):
                optimizer.zero_grad()
                out = loss(model(data.x, data.edge_index)[data.train_mask], data.y[data.train_mask])
                out.backward()
                optimizer.step()
            print(f"{kind}: training loss {before:.4f}, after 20 steps in PyG {out.item():.4f}")
            assert out.item() < before

        typed = HeteroData()
        typed["user"].num_nodes = 4
        typed["item"].x, typed["item"].y = torch.rand(3, 5), torch.tensor([0, 1, 0])
        typed["user", "buys", "item"].edge_index = torch.tensor([[0, 1, 3], [0, 2, 1]])
        typed["item", "like", "item"].edge_index = torch.tensor([[0, 1], [1, 2]])
        graphmill.save(typed, work / "typed")
        assert np.load(work / "typed/edges.npy").tolist() == [[0, 1, 3, 4, 5], [4, 6, 5, 5, 6]]
    print("all agree")


main()
