#!/usr/bin/env bash
# pipelines/python/graphmill.py: a graph saved from arrays trains like the folder that it
# represents, and the results of a run are read back.
. "$GRAPHMILL_SOURCE/tests/pipeline/library.sh"
cd "$work"
cp "$source_folder/pipelines/python/graphmill.py" .
export GRAPHMILL_BIN=$bin PYTHONDONTWRITEBYTECODE=1
cat >karate.yaml <<END
name: karate
epochs: 8
ingest: {path: $work/saved}
partition: {parts: 2}
sample: {fanouts: [5, 5], batch_size: 4}
train-step: {hidden: 8}
END
/usr/bin/python3 - "$source_folder/tests/data/karate" <<'PYTHON' || fail "see above"
import csv, json, sys
from pathlib import Path
from types import SimpleNamespace
import numpy as np
import graphmill

karate = Path(sys.argv[1])
edges = np.loadtxt(karate / "edges.csv", delimiter=",", skiprows=1, dtype=np.int64)
edges = np.concatenate([edges, edges[:, ::-1]]).T
labels = np.loadtxt(karate / "node-label.csv", dtype=np.int64)
masks = {}
for split, mask in graphmill.MASKS.items():
    masks[mask] = np.zeros(34, bool)
    masks[mask][np.loadtxt(karate / f"{split}.csv", dtype=np.int64)] = True
x = np.random.default_rng(3).random((34, 7), np.float32)
data = SimpleNamespace(num_nodes=34, edge_index=edges, x=x, y=labels, **masks)
assert graphmill.save(data, "saved") == Path("saved")
assert sorted(p.name for p in Path("saved").iterdir()) == ["edges.npy", "meta.json", "node-feat.npy", "node-label.npy", "test.npy", "train.npy", "valid.npy"]

run = graphmill.run("karate.yaml", directory="run", quiet=True, **{"train-step.dropout": 0.25, "epochs": 6})
assert run.answer["rounds"] > 0 and run.metrics["test"]["nodes"] == int(masks["test_mask"].sum())
p = run.predictions
assert list(p["node"]) == list(range(34)) and p["label"].dtype == np.int64 and p["probability"].dtype == np.float64
test = p["split"] == "test"
assert abs((p["label"] == p["prediction"])[test].mean() - run.metrics["test"]["accuracy"]) < 1e-9
assert run.embeddings.shape == (34, 8)
history = run.history
assert [h for h in history if "round" in h][0]["round"] == 0 and history[-1]["snapshot"] == run.answer["rounds"]

# The weights give the logits: GraphSAGE computed by hand.
w, h = run.weights, x
for layer in range(2):
    mean = np.stack([h[edges[0][edges[1] == v]].mean(0) for v in range(34)])
    h = mean @ w[f"convs.{layer}.lin_l.weight"].T + w[f"convs.{layer}.lin_l.bias"] + h @ w[f"convs.{layer}.lin_r.weight"].T
    h = np.maximum(h, 0) if layer == 0 else h
assert (h.argmax(1) == p["prediction"]).all()
again = graphmill.load("run")
assert again.metrics == run.metrics and (again.embeddings == run.embeddings).all()

# Weights and features of edges, and several types.
weights = np.arange(edges.shape[1], dtype=np.float64)
graphmill.save(SimpleNamespace(num_nodes=34, edge_index=edges, edge_attr=weights[:, None]), "weighted")
assert np.load("weighted/edge-weight.npy").shape == (edges.shape[1],) and not Path("weighted/train.npy").exists()
graphmill.save(SimpleNamespace(num_nodes=34, edge_index=edges, edge_attr=np.stack([weights, weights], 1)), "weighted")
assert np.load("weighted/edge-feat.npy").shape == (edges.shape[1], 2) and not Path("weighted/edge-weight.npy").exists()

class Hetero(dict):
    node_types = ["author", "paper"]
    edge_types = [("author", "writes", "paper"), ("paper", "cites", "paper")]
typed = Hetero({"author": SimpleNamespace(num_nodes=5), "paper": SimpleNamespace(num_nodes=6, x=x[:6], y=labels[:6], train_mask=np.arange(6) < 3, val_mask=None, test_mask=np.arange(6) >= 4),
                ("author", "writes", "paper"): SimpleNamespace(edge_index=np.array([[0, 1, 4], [0, 5, 2]])),
                ("paper", "cites", "paper"): SimpleNamespace(edge_index=np.array([[0, 1], [2, 3]]))})
graphmill.save(typed, "typed")
assert np.load("typed/edges.npy").tolist() == [[0, 1, 4, 5, 6], [5, 10, 7, 7, 8]] and np.load("typed/edge-type.npy").tolist() == [0, 0, 0, 1, 1]
assert np.load("typed/node-label.npy").tolist() == [-1] * 5 + labels[:6].tolist() and np.load("typed/train.npy").tolist() == [5, 6, 7]

for wrong, what in ((dict(edge_attr=weights[:3]), "for each of"), (dict(train_mask=np.zeros((34, 2), bool)), "columns")):
    try:
        graphmill.save(SimpleNamespace(num_nodes=34, edge_index=edges, **wrong), "wrong")
        sys.exit(f"{wrong} was saved")
    except ValueError as error:
        assert what in str(error), error
try:
    graphmill.run("karate.yaml", directory="bad", quiet=True, **{"train-step.hiden": 3})
    sys.exit("an unknown setting was taken")
except graphmill.GraphmillError as error:
    assert error.status == 78 and "did you mean 'train-step.hidden'" in str(error), (error.status, error)
try:
    graphmill.load("saved")
    sys.exit("a folder without a run was loaded")
except FileNotFoundError as error:
    assert "not finished" in str(error)
PYTHON
# ingest accepts the folder with types.
printf 'name: typed\ningest: {path: %s/typed, relations: true, missing_features: degree}\npartition: {parts: 1}\nsample: {fanouts: [2]}\n' "$work" >typed.yaml
"$bin/graphmill" partition typed.yaml --directory typed-run --quiet >/dev/null 2>typed.err ||
    fail "typed: $(tail -3 typed.err)"
