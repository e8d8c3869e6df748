"""Scores events again, slowly: event_checks.py FOLDER EVENTS FEATURES PERCENTS HISTORY.

FOLDER has the outputs of a run (sage with two layers, dot decoder, all nodes ranked at both ends,
filtered) on EVENTS, lines `source,target,weight,time` with a header, whose first PERCENTS
(60/15/25) train. With HISTORY all, an event is scored from all strictly earlier events, with
training from the training events. Scores, ranks and the figures of EdgeBank must be those of the
run.
"""
import json
import sys

from link_checks import read_step


def read_tensors(path):
    """Returns the rows of each tensor; a vector has rows of one number."""
    tensors, _, shapes = read_step(path)
    width = {name: (shape + [1])[1] for name, shape in shapes.items() if shape}
    return {name: [values[i:i + width[name]] for i in range(0, len(values), width[name])] for name, values in tensors.items()}


def read_events(path, percents):
    with open(path) as file:
        next(file)
        events = [(int(s), int(t), float(w), float(at)) for s, t, w, at in (line.split(",") for line in file)]
    times = sorted(event[3] for event in events)
    ends, wanted = [], 0
    for percent in percents[:2]:
        wanted += percent
        ends.append(times[(len(times) * wanted + 99) // 100 - 1])
    return [event + ("train" if event[3] <= ends[0] else "valid" if event[3] <= ends[1] else "test",) for event in events]


def linear(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


class Model:
    def __init__(self, tensors, features):
        self.tensors, self.features = tensors, features

    def layer(self, number, rows, edges):
        near = [[0.0] * len(rows[0]) for _ in rows]
        degree = [0] * len(rows)
        for source, target, weight in edges:
            degree[target] += 1
            for c, value in enumerate(rows[source]):
                near[target][c] += weight * value
        left, right = (self.tensors[f"convs.{number}.lin_{side}.weight"] for side in "lr")
        bias = [value for row in self.tensors[f"convs.{number}.lin_l.bias"] for value in row]
        return [[a + b + c for a, b, c in zip(linear(left, [x / max(degree[i], 1) for x in near[i]]), linear(right, rows[i]), bias)]
                for i in range(len(rows))]

    def rows(self, edges):
        hidden = [[max(0.0, x) for x in row] for row in self.layer(0, self.features, edges)]
        return self.layer(1, hidden, edges)


def rank(own, others):
    above = sum(score > own + 1e-6 for score in others)
    equal = sum(abs(score - own) <= 1e-6 for score in others)
    return 1 + above, 1 + above + equal


def baseline(seen, negatives):
    """Returns average precision and ROC AUC if a share of the positives scores 1, and all other
    pairs 0."""
    share = sum(seen) / len(seen)
    return share + (1 - share) / (1 + negatives), share + (1 - share) / 2


def main(folder, event_file, feature_file, percents, history):
    events = read_events(event_file, [int(p) for p in percents.split("/")])
    with open(feature_file) as file:
        features = [[float(x) for x in line.split(",")[1:]] for line in file]
    model = Model(read_tensors(folder + "/model.safetensors"), features)
    with open(folder + "/metrics.json") as file:
        metrics = json.load(file)
    assert metrics["history"] == history, metrics
    with open(folder + "/predictions.csv") as file:
        assert next(file).strip() == "source,target,split,score,rank,source_rank"
        said = {tuple(line.split(",")[:3]): [float(x) for x in line.split(",")[3:]] for line in file}
    seen = {"valid": [], "test": []}
    lasts = {split: max(e[3] for e in events if e[4] == split) - min(e[3] for e in events if e[4] == split) for split in seen}
    window = {"valid": [], "test": []}
    rows_at = {}
    for source, target, _, time, split in events:
        if split == "train":
            continue
        visible = [e for e in events if (e[3] < time if history == "all" else e[4] == "train")]
        if len(visible) not in rows_at:
            rows_at[len(visible)] = model.rows([e[:3] for e in visible])
        rows = rows_at[len(visible)]
        before = [e[3] for e in visible if e[:2] == (source, target)]
        seen[split].append(bool(before))
        window[split].append(any(at >= time - lasts[split] for at in before))
        known = {e[:2] for e in events if e[3] <= time}
        score = [sum(a * b for a, b in zip(rows[source], rows[n])) for n in range(len(rows))]
        back = [sum(a * b for a, b in zip(rows[n], rows[target])) for n in range(len(rows))]
        found = said.pop((str(source), str(target), split))
        assert abs(found[0] - score[target]) < 1e-4 * max(1, abs(score[target])), (source, target, found, score[target])
        for place, own, scores, pair in ((1, target, score, lambda n: (source, n)), (2, source, back, lambda n: (n, target))):
            low, high = rank(scores[own], [scores[n] for n in range(len(rows)) if n not in (source, target) and pair(n) not in known])
            assert low <= found[place] <= high, (source, target, place, found, low, high)
    assert not said, said
    for split, about in (("valid", metrics["valid"]), ("test", metrics["test"])):
        negatives = about["pairs"] // len(seen[split]) - 1
        for name, values in (("edgebank", seen[split]), ("edgebank_window", window[split])):
            precision, area = baseline(values, negatives)
            assert abs(about[name + "_average_precision"] - precision) < 1e-6, (split, name, about, precision)
            assert abs(about[name + "_roc_auc"] - area) < 1e-6, (split, name, about, area)
    print(sum(seen["test"]) / len(seen["test"]), sum(window["test"]) / len(window["test"]))


main(*sys.argv[1:])
