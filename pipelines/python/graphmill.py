"""graphmill from Python: graphs of PyG or DGL in, trained models and predictions out. One file, on
numpy alone.

    import graphmill
    graphmill.save(data, "cora")              # a PyG Data or HeteroData, or a DGL graph, as
                                              # `format: folder`
    run = graphmill.run("cora.yaml", **{"train-step.hidden": 128})
    run.metrics["test"]["accuracy"], run.predictions["prediction"], run.embeddings
    model = run.model()                       # a PyG model with the trained weights

PyG, DGL and torch are imported only if an argument is theirs or model() is called. The program
`graphmill` is searched in GRAPHMILL_BIN, then in PATH.
"""
import csv
import json
import os
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np

SPLITS = ("train", "valid", "test")
MASKS = {"train": "train_mask", "valid": "val_mask", "test": "test_mask"}


class GraphmillError(RuntimeError):
    """The program's message, and its exit status: 64 usage, 65 bad data, 75 try again, 78 bad
    settings."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


# --- out of PyG and DGL
# -------------------------------------------------------------------------------

def _array(value):
    """Returns a numpy array of a tensor of torch, or of anything that numpy accepts."""
    for name in ("detach", "cpu"):
        value = getattr(value, name)() if hasattr(value, name) else value
    return np.asarray(value)


def _put(path, array):
    """Writes row by row, as ingest reads it: numpy would write a transposed array column by
    column."""
    np.save(path, np.ascontiguousarray(array))


def _write_csv(path, head, rows):
    with open(path, "w", newline="") as file:
        file.write(head + "\n")
        csv.writer(file, lineterminator="\n").writerows(rows)


def _put_splits(folder, store, first=0):
    for split in SPLITS:
        mask = getattr(store, MASKS[split], None)
        if mask is None:
            continue
        mask = _array(mask)
        if mask.ndim > 1:
            raise ValueError(f"{MASKS[split]} has {mask.shape[1]} columns: choose one, such as data.{MASKS[split]}[:, 0]")
        _put(folder / f"{split}.npy", np.flatnonzero(mask) + first)


def _numbers(values):
    """Returns float32, except that integers that it cannot represent stay, so that ingest can
    warn about them."""
    values = _array(values)
    if values.dtype.kind in "iuf" and values.dtype.itemsize == 8 and np.any(np.abs(values.astype(np.float64)) > 2**24):
        return values if values.dtype.kind == "f" else values.astype(np.int64)
    return values.astype(np.float32)


def _put_labels(folder, labels, before, nodes):
    """Writes labels of the nodes [before, before + len(labels)) among `nodes`; the others have
    none."""
    labels = _array(labels)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.dtype.kind in "iub" and labels.ndim == 1:
        whole = np.full(nodes, -1, np.int64)
    else:
        whole = np.full((nodes,) + labels.shape[1:], np.nan, np.float32)
    whole[before:before + len(labels)] = labels
    _put(folder / "node-label.npy", whole)


def _one_edge_feature(value, edges):
    """Writes [edges] as weights, [edges, width] as features."""
    value = _array(value)
    if len(value) != edges:
        raise ValueError(f"expected a row of edge_attr for each of {edges} edges, found {len(value)}")
    return "edge-weight" if value.ndim == 1 or value.shape[1] == 1 else "edge-feat", np.squeeze(value, 1) if value.ndim == 2 and value.shape[1] == 1 else value


def _put_meta(folder, nodes, edges):
    """Says that a graph is directed if an edge has no reverse. A graph with all edges in both
    directions may be either, so nothing is said."""
    nodes, (source, target) = int(nodes), edges.astype(np.int64)
    both_ways = np.array_equal(np.unique(source * nodes + target), np.unique(target * nodes + source))
    (folder / "meta.json").write_text(json.dumps({"num_nodes": nodes, "directed": None if both_ways else True}) + "\n")


def _save_homogeneous(folder, nodes, edges, features, labels, weight, store):
    _put_meta(folder, nodes, edges)
    _put(folder / "edges.npy", edges.astype(np.int64))
    if features is not None:
        _put(folder / "node-feat.npy", _numbers(features))
    if weight is not None:
        name, values = _one_edge_feature(weight, edges.shape[1])
        _put(folder / f"{name}.npy", _numbers(values))
    if labels is not None:
        _put_labels(folder, labels, 0, nodes)
    _put_splits(folder, store)


def _save_typed(folder, types, relations):
    """types: {name: (nodes, features or None, labels or None, store)}; relations: {(source,
    name, target): edges [2, count]}"""
    first, at = {}, 0
    for name, (nodes, *_) in types.items():
        first[name], at = at, at + int(nodes)
    _write_csv(folder / "node-types.csv", "name,first_id,count", [(name, first[name], int(t[0])) for name, t in types.items()])
    names = [name for _, name, _ in relations]
    called = ["__".join(key) if names.count(key[1]) > 1 else key[1] for key in relations]
    _write_csv(folder / "edge-types.csv", "id,name,source,target",
               [(i, name, key[0], key[2]) for i, (name, key) in enumerate(zip(called, relations))])
    ends = [edges + [[first[key[0]]], [first[key[2]]]] for key, edges in relations.items()]
    _put_meta(folder, at, np.concatenate(ends, 1))
    _put(folder / "edges.npy", np.concatenate(ends, 1).astype(np.int64))
    _put(folder / "edge-type.npy", np.repeat(np.arange(len(ends)), [e.shape[1] for e in ends]))
    labelled = [name for name, (_, _, labels, _) in types.items() if labels is not None]
    if len(labelled) > 1:
        raise ValueError(f"labels are of one node type, found {', '.join(labelled)}: delete .y of all but one")
    for name, (nodes, features, labels, store) in types.items():
        if features is not None:
            _put(folder / f"{name}-feat.npy", _numbers(features))
        if labels is not None:
            _put_labels(folder, labels, first[name], at)
            _put_splits(folder, store, first[name])


def _is_dgl(data):
    return hasattr(data, "ndata") and hasattr(data, "canonical_etypes")


def _save_dgl(folder, graph):
    class Masks:
        def __init__(self, data):
            self.__dict__.update({name: data[name] for name in MASKS.values() if name in data})

    def of(data, *names):
        return next((data[name] for name in names if name in data), None)

    if len(graph.ntypes) == 1 and len(graph.etypes) == 1:
        edges = np.stack([_array(end) for end in graph.edges(order="eid")])
        _save_homogeneous(folder, graph.num_nodes(), edges, of(graph.ndata, "feat", "x"), of(graph.ndata, "label", "y"),
                          of(graph.edata, "weight", "w", "feat"), Masks(graph.ndata))
        return
    types = {name: (graph.num_nodes(name), of(graph.nodes[name].data, "feat", "x"), of(graph.nodes[name].data, "label", "y"),
                    Masks(graph.nodes[name].data)) for name in graph.ntypes}
    _save_typed(folder, types, {key: np.stack([_array(end) for end in graph.edges(etype=key, order="eid")])
                                for key in graph.canonical_etypes})


def save(data, folder):
    """Writes a graph as a folder that ingest reads (`format: folder`; for several types with
    `relations: true`).

    data: a PyG Data (edge_index, x, y, train_mask, val_mask, test_mask, edge_weight or edge_attr),
    a PyG HeteroData, or a DGL graph (ndata feat, label and masks; edata weight). Edges are written
    unchanged, in their direction. The folder is made, or its files of these names are replaced.
    Returns its path.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for path in list(folder.glob("*.npy")) + [folder / name for name in ("meta.json", "node-types.csv", "edge-types.csv")]:
        path.unlink(missing_ok=True)
    if _is_dgl(data):
        _save_dgl(folder, data)
    elif hasattr(data, "node_types") and hasattr(data, "edge_types"):
        types = {name: (data[name].num_nodes, getattr(data[name], "x", None), getattr(data[name], "y", None), data[name])
                 for name in data.node_types}
        _save_typed(folder, types, {key: _array(data[key].edge_index) for key in data.edge_types})
    else:
        weight = getattr(data, "edge_weight", None)
        weight = getattr(data, "edge_attr", None) if weight is None else weight
        _save_homogeneous(folder, data.num_nodes, _array(data.edge_index), getattr(data, "x", None), getattr(data, "y", None),
                          weight, data)
    return folder


# --- runs
# ------------------------------------------------------------------------------------------------

def program():
    """Returns the path of graphmill."""
    folder = os.environ.get("GRAPHMILL_BIN")
    found = str(Path(folder) / "graphmill") if folder else shutil.which("graphmill")
    if not found or not os.access(found, os.X_OK):
        raise FileNotFoundError(f"{found or 'graphmill in PATH'} is no program: set GRAPHMILL_BIN to the folder of graphmill")
    return found


def _call(*words, quiet=True):
    done = subprocess.run([program(), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE if quiet else None, text=True)
    if done.returncode:
        said = (done.stderr or "").strip().splitlines()
        raise GraphmillError(said[-1] if said else f"graphmill ended with status {done.returncode}", done.returncode)
    return json.loads(done.stdout)


def run(pipeline, directory=None, quiet=False, **settings):
    """Runs a pipeline file, or resumes it, and returns the Run.

    settings: settings of the file to change, by their names: run("cora.yaml",
    **{"train-step.hidden": 128, "epochs": 50}). quiet: shows no progress. Raises GraphmillError.
    """
    words = ["run", pipeline, "--json"] + (["--directory", directory] if directory else []) + (["--quiet"] if quiet else [])
    for name, value in settings.items():
        words += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    answer = _call(*words, quiet=quiet)
    return Run(Path(answer["outputs"]).parent, answer)


def load(directory):
    """Returns the Run of a folder in which `graphmill run` has finished."""
    return Run(Path(directory))


class Run:
    """A finished run: its outputs, which are read when they are used."""

    def __init__(self, directory, answer=None):
        self.directory, self.answer = Path(directory), answer
        self.outputs = self.directory / "outputs"
        if not self.outputs.is_dir():
            raise FileNotFoundError(f"{self.outputs}: the run is not finished")

    def __repr__(self):
        return f"graphmill.Run({str(self.directory)!r})"

    @property
    def metrics(self):
        """Returns {"train": {"accuracy": ...}, ...}."""
        return json.loads((self.outputs / "metrics.json").read_text())

    @property
    def history(self):
        """Returns a dictionary for each round and each validation, in their order."""
        return [json.loads(line) for line in (self.directory / "metrics.jsonl").read_text().splitlines()]

    @property
    def embeddings(self):
        """Returns [nodes, width], in the order of the input."""
        return np.load(self.outputs / "embeddings.npy")

    @property
    def predictions(self):
        """Returns the columns of predictions.csv as arrays, by their names: numbers if all
        values are, otherwise text."""
        with open(self.outputs / "predictions.csv", newline="") as file:
            rows = list(csv.reader(file))
        return {name: _column([row[i] for row in rows[1:]]) for i, name in enumerate(rows[0])}

    @property
    def weights(self):
        """Returns the tensors of the model with the names of PyG, as arrays."""
        return self._model_file()[1]

    def _model_file(self):
        data = (self.outputs / "model.safetensors").read_bytes()
        size = struct.unpack("<Q", data[:8])[0]
        head = json.loads(data[8:8 + size])
        texts, start = head.pop("__metadata__"), 8 + size
        tensors = {name: np.frombuffer(data[start + t["data_offsets"][0]:start + t["data_offsets"][1]],
                                       np.dtype({"F32": "<f4", "I64": "<i8"}[t["dtype"]])).reshape(t["shape"])
                   for name, t in head.items()}
        return texts, tensors

    def state_dict(self):
        """Returns the weights as tensors of torch, for load_state_dict(..., strict=True)."""
        import torch
        return {name: torch.from_numpy(array.copy()) for name, array in self.weights.items()}

    def model(self):
        """Returns a PyG model with the trained weights, in eval mode: GraphSAGE, GCN, GAT (v2),
        GIN or MLP of equal layers. Other models are built by hand from state_dict():
        pipelines/guide/model.md has their tensors. Raises ValueError for those."""
        import torch
        import torch_geometric.nn
        texts, _ = self._model_file()
        if texts["model"] not in ("GraphSAGE", "GCN", "GAT", "GIN", "MLP") or texts.get("residual") == "True":
            raise ValueError(f"{texts['model']} has no PyG model of its own: build it and take state_dict()")
        sizes = tuple(int(texts[name]) for name in ("in_channels", "hidden_channels", "num_layers", "out_channels"))
        more = {"act": None if texts["activation"] == "none" else texts["activation"], "dropout": float(texts["dropout"]),
                "jk": None if texts["jumping_knowledge"] == "none" else texts["jumping_knowledge"]}
        if texts["norm"] != "none":
            more["norm"] = {"batch": "batch_norm", "layer": "layer_norm"}[texts["norm"]]
            more["norm_kwargs"] = {"mode": "node"} if texts["norm"] == "layer" else None
        if texts["model"] == "GAT":
            more.update(heads=int(texts["heads"]), v2=texts.get("v2") == "True")
        if texts["model"] == "GraphSAGE":
            more["aggr"] = texts["aggr"]
        if texts["model"] == "GIN" and "train_eps" in texts:
            more["train_eps"] = texts["train_eps"] == "True"
        if texts["model"] == "MLP":
            more.pop("jk")
            more["norm"] = more.get("norm")
            model = torch_geometric.nn.MLP(in_channels=sizes[0], hidden_channels=sizes[1], num_layers=sizes[2], out_channels=sizes[3], **more)
        else:
            model = getattr(torch_geometric.nn, texts["model"])(*sizes, **more)
        # also in files from before train-step.inner
        if texts["model"] == "GIN" and texts.get("inner", "relu") == "relu":
            for conv in model.convs:
                conv.nn.norms[0], conv.nn.act = torch.nn.Identity(), torch.nn.ReLU()
        model.load_state_dict(self.state_dict(), strict=True)
        return model.eval()


def _column(texts):
    for kind in (np.int64, np.float64):
        try:
            return np.array([kind(text) if text or kind is np.int64 else np.nan for text in texts])
        except ValueError:
            pass
    return np.array(texts)
