"""SIGKILL at the k-th call of `graphmill update` and `graphmill watch`, and the same command
again."""

import hashlib
import json
import os
import signal

from . import pipeline, shim
from .trials import Outcome, Trial, random_of

ROWS = "0.5,0.25,0.125,1,0,1,0.5,0.75"
PLAIN = {  # an update of the tiny graph that changes something of each kind
    "add-nodes": "300,train,1\n301,,\n",
    "features": f"300,{ROWS}\n301,{ROWS}\n7,{ROWS}\n",
    "add-edges": "300,1\n301,300\n5,9\n",
    "remove-nodes": "299\n298\n",
}
TYPED = {  # the same for authors, papers and venues, in each relation
    "add-nodes": "id,type,split,label\n300,paper,train,1\n301,author\n302,venue\n",
    "features": f"300,{ROWS}\n150,{ROWS}\n",
    "add-edges": "src,dst,etype\n301,300,writes\n300,200,cites\n300,302,in\n5,130,0\n",
    "remove-edges": "src,dst,etype\n119,124,cites\n119,297,paper:in:venue\n",
    "remove-nodes": "id,type\n296,paper\n3,author\n",
}
TYPED_LINKS = {  # the same, for nodes without splits and given features
    **{file: text for file, text in TYPED.items() if file != "features"},
    "add-nodes": "id,type\n300,paper\n301,author\n302,venue\n",
}
NEW = {  # by graph, if it differs
    "relations": TYPED,
    "embeddings": {file: text for file, text in TYPED.items() if file != "features"},
    "relation_links": TYPED_LINKS,
    "links": {**PLAIN, "add-nodes": "300\n301\n"},
}


def updates_of(graph):
    """Returns the updates in the order of their application: one that triggers training, another
    like it, one that does not fit, one more."""
    typed = graph in NEW and graph != "links"
    edges = {"add-edges": "src,dst,etype\n5,131,writes\n" if typed else "5,9\n"}
    return {"01": NEW.get(graph, PLAIN), "02": edges, "03": {"add-edges": "src,dst,etype\n5,131,cites\n" if typed else "nobody,1\n"}, "04": edges}


TRIGGER = ["--set", "ingest.retrain_touched=0.02", "--set", "ingest.retrain_valid_drop=0.5"]
BAD_DATA = 65
# of an undisturbed command: watch reports the refused update
STATUS = {"update": 0, "watch": BAD_DATA}


class Command(pipeline.Run):
    """`graphmill update` or `graphmill watch --once`, in a room with a finished run."""

    def __init__(self, bench, name, room, environment=None):
        super().__init__(bench, pipeline.TINY, os.path.join(room, "run"), environment=environment)
        self.name, self.room, self.files = name, room, NEW.get(bench.graph, PLAIN)

    def prepare(self):
        """Makes the finished run, and the files."""
        pipeline.copy(self.bench.reference(pipeline.TINY).whole, self.folder)
        for name, files in (updates_of(self.bench.graph) if self.name == "watch" else {"files": self.files}).items():
            os.makedirs(os.path.join(self.room, "in", name))
            for file, text in files.items():
                with open(os.path.join(self.room, "in", name, file + ".csv"), "w", encoding="ascii") as out:
                    out.write(text)
        return self

    def command(self):
        inbox = os.path.join(self.room, "in")
        words = [self.bench.program("graphmill"), self.name]
        if self.name == "watch":
            words += [inbox, self.bench.yaml(self.setting), "--once", *TRIGGER, "--warm", "epochs=1", "--lease", str(self.lease)]
        else:
            words += [self.bench.yaml(self.setting), *(word for file in self.files for word in (f"--{file}", os.path.join(inbox, "files", file + ".csv")))]
        return words + ["--directory", self.folder, "--quiet", "--json"]

    def result(self):
        """Returns all datasets, what people find in the folder, and the result of each update."""
        found = {"dataset": tree_hash(os.path.join(self.folder, "store", "dataset")),
                 "versions": tree_hash(os.path.join(self.folder, "store", "switch", "current", "version")),
                 "run": tree_hash(os.path.join(self.folder, "store", "switch", "current", "run")), **pipeline.output_hashes(self.folder)}
        for path, _, files in sorted(os.walk(os.path.join(self.room, "in"))):
            for file in sorted(files):
                with open(os.path.join(path, file), encoding="utf-8") as text:
                    words = text.read().replace(self.room, "")
                if file.endswith(".json") and file != "watch.json":
                    answer = json.loads(words)
                    answer.pop("seconds", None)
                    words = json.dumps(answer)
                if file not in ("watch.json", "watch.lock"):
                    found[os.path.relpath(os.path.join(path, file), self.room)] = words
        return found


def tree_hash(folder):
    """Returns a hash of names and contents of all files below; also for one file."""
    total = hashlib.sha256()
    files = [folder] if os.path.isfile(folder) else sorted(os.path.join(path, name) for path, _, names in os.walk(folder) for name in names)
    for path in files:
        total.update(f"{os.path.relpath(path, folder)} {pipeline.file_hash(path)}\n".encode())
    return total.hexdigest()[:16]


class Undisturbed:
    """The results of an undisturbed command, and the number of calls of each program."""

    def __init__(self, bench, name):
        room = bench.room(f"updates-{name}")
        board = shim.Board(os.path.join(room, "board"))
        run = Command(bench, name, room, shim.environment(bench.shim, board)).prepare()
        status = run.start().wait()
        if status != STATUS[name]:
            raise pipeline.Violation(f"{name}: status {status} in peace: {run.said()}")
        self.result = run.result()
        self.calls = {program: board.calls(program, "change") for program in shim.PROGRAMS if program != "redis-server"}
        board.close()
        applied = [json.loads(text) for file, text in self.result.items() if file.startswith("in/done/") and file.endswith(".json")]
        if name == "watch" and ([answer["version"] for answer in applied] != [1, 2, 3] or not applied[0]["retrain"]):
            raise pipeline.Violation(f"watch in peace: {applied}")


def plan(bench, level):
    trials = []
    for name in STATUS:
        peace = Undisturbed(bench, name)
        for program, count in peace.calls.items():
            points = range(1, count + 1)
            if level == "quick":
                most = 4 if program in ("graphmill", "graphmill-ingest") else 1
                points = sorted(random_of(bench.seed, "updates", f"{name}/{program}").sample(points, min(most, count)))
            trials += [trial(bench, peace, name, program, k) for k in points]
    return trials


def trial(bench, peace, name, program, k):
    return Trial(f"{name}-{program}-{k}", lambda room, rng: kill(bench, peace, room, rng, name, program, k))


def kill(bench, peace, room, rng, name, program, k):
    """Odd points die before the call and even ones after it; two of three die again at a point
    of the recovery."""
    rules = [f"{program}:change:{k}:{('kill', 'killed-after')[k % 2]}"]
    if rng.random() < 2 / 3:
        rules.append(f"{program}:change:{rng.randint(1, k + 20)}:{rng.choice(['kill', 'killed-after'])}")
    board = shim.Board(os.path.join(room, "board"))
    run = Command(bench, name, room, shim.environment(bench.shim, board, rules)).prepare()
    status = -signal.SIGKILL
    for _ in range(len(rules) + 1):
        status = run.start().wait()
        if status != -signal.SIGKILL:
            break
        pipeline.kill_driver(run)  # waits for the end of its programs
    fired = board.fired()
    board.close()
    # If watch had moved the refused update before it died, it has nothing to report.
    if status != STATUS[name] and not (name == "watch" and status == 0 and program == "graphmill"):
        raise pipeline.Violation(f"{rules}: status {status}: {run.said()}")
    found = run.result()
    if found != peace.result:
        raise pipeline.Violation(f"{rules}: " + ", ".join(f"{key}: {found.get(key)}, in peace {peace.result.get(key)}" for key in
                                                        sorted(found.keys() | peace.result.keys()) if found.get(key) != peace.result.get(key)))
    pipeline.verify_must_be_fine(bench, run.folder)
    return Outcome(fired, notes={f"{name} {program}": fired, "again": max(0, fired - 1), "missed": fired == 0})


class KilledUpdates:
    """An experiment of the table."""

    PROMISE = "P2"
    TEXT = "SIGKILL at every k-th call of `graphmill update` and `graphmill watch` that changes the disk, in all their programs, and again in recovery: the same command ends in the same versions, models and records of what was done, each update applied once"
    UNIT = "points"
    plan = staticmethod(plan)

    @staticmethod
    def figure(_samples, notes):
        counts = ", ".join(f"{key} {notes[key]}" for key in sorted(notes) if key.startswith(("update", "watch")) and notes[key])
        return f"{counts}; {notes.get('again', 0)} of them while recovering; {notes.get('missed', 0)} not reached"
