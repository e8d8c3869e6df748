"""Two folders that work on one store at the same time: two updates at once, and `gc` during a
run."""

import json
import os
import subprocess
import time

from . import pipeline
from .trials import Outcome, Trial
from .updates import ROWS

BAD_DATA = 65
OLD = "2 days ago"


def command(bench, name, folder, uri, *words):
    """Starts a program for a folder whose store is elsewhere."""
    return [bench.program("graphmill"), name, *words, "--directory", folder, "--store", uri, "--quiet", "--json"]


def start(words, environment=None):
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **(environment or {})})


def finish(child):
    """Returns (status, answer, stderr)."""
    out, said = child.communicate(timeout=300)
    return child.returncode, out, said


def shared_store(bench, room):
    """Makes the folder `a` of a finished run, whose store is also that of `b`."""
    pipeline.copy(bench.reference(pipeline.TINY).whole, os.path.join(room, "a"))
    return "dir:" + os.path.join(room, "a", "store")


def put_update(room, name, node):
    """Writes the files of an update that adds one node with one edge."""
    folder = os.path.join(room, name)
    os.makedirs(folder, exist_ok=True)
    for file, text in {"add-nodes": f"{node},train,1\n", "features": f"{node},{ROWS}\n", "add-edges": f"{node},{node % 200}\n"}.items():
        with open(os.path.join(folder, file + ".csv"), "w", encoding="ascii") as out:
            out.write(text)
    return [word for file in ("add-nodes", "features", "add-edges") for word in (f"--{file}", os.path.join(folder, file + ".csv"))]


def newest(bench, uri, name="graphmill-ingest"):
    """Returns ingest's answer about the current dataset."""
    status, answer, said = pipeline.call([bench.program(name), "--store", uri, "--pipeline", bench.yaml(pipeline.TINY)])
    if status:
        raise pipeline.Violation(f"{name}: status {status}: {said[-400:]}")
    return dict(word.split("=", 1) for word in answer.split() if "=" in word)


def two_updates(bench, room, rng, pairs):
    """In each pair both updates are applied, one after another, or one is refused by name;
    nothing that ended well is missing afterwards."""
    uri, yaml = shared_store(bench, room), bench.yaml(pipeline.TINY)
    applied, refused, versions = 0, 0, set()
    for pair in range(pairs):
        children = []
        for index, folder in enumerate("ab"):
            files = put_update(room, f"{folder}-{pair}", 1000 + 2 * pair + index)
            children.append(start(command(bench, "update", os.path.join(room, folder), uri, yaml, *files)))
            time.sleep(rng.choice([0, 0, 0.01, 0.05]))
        for child in children:
            status, answer, said = finish(child)
            if status == BAD_DATA and "version" in said:
                refused += 1
            elif status:
                raise pipeline.Violation(f"pair {pair}: status {status}: {said[-400:]}")
            else:
                applied += 1
                versions.add(json.loads(answer)["version"])
    nodes = int(newest(bench, uri)["nodes"])
    if nodes != pipeline.TINY.nodes + applied or versions != set(range(1, applied + 1)):
        raise pipeline.Violation(f"{applied} updates ended well, {refused} were refused: {nodes} nodes, versions {sorted(versions)}")
    pipeline.verify_must_be_fine(bench, os.path.join(room, "a"))
    return Outcome(pairs, notes={"both": applied - pairs, "refused": refused})


def age(folder):
    """Makes all stored data two days old."""
    subprocess.run(["find", folder, "-exec", "touch", "-h", "-d", OLD, "{}", "+"], check=True)


def gc_beside_run(bench, room, rng):
    """Runs `gc` in one folder repeatedly, while another one ingests, partitions and trains."""
    uri = shared_store(bench, room)
    age(os.path.join(room, "a", "store"))
    settings = ["--set", f"seed={rng.randrange(2, 100)}"]
    alone = pipeline.call([bench.program("graphmill"), "run", bench.yaml(pipeline.TINY), *settings, "--directory", os.path.join(room, "alone"), "--quiet", "--json"])
    run = start(command(bench, "run", os.path.join(room, "b"), uri, bench.yaml(pipeline.TINY), *settings))
    sweeps = removed = 0
    while run.poll() is None:
        time.sleep(rng.choice([0, 0.02, 0.1]))
        status, answer, said = pipeline.call([bench.program("graphmill"), "gc", os.path.join(room, "a"), "--keep", "0", "--json"])
        if status:
            raise pipeline.Violation(f"gc: status {status}: {said[-400:]}")
        sweeps, removed = sweeps + 1, removed + len(json.loads(answer)["removed"])
    status, answer, said = finish(run)
    if status or alone[0]:
        raise pipeline.Violation(f"{settings} beside {sweeps} times gc: status {status}, alone {alone[0]}: {said[-400:]}")
    if json.loads(answer)["weights_hash"] != json.loads(alone[1])["weights_hash"]:
        raise pipeline.Violation(f"{settings} beside gc: weights {json.loads(answer)['weights_hash']}, alone {json.loads(alone[1])['weights_hash']}")
    if not removed:
        raise pipeline.Violation(f"gc removed nothing in {sweeps} sweeps, expected the old run")
    pipeline.verify_must_be_fine(bench, os.path.join(room, "b"))
    return Outcome(1, notes={"sweeps": sweeps, "removed": removed})


def plan(_bench, level):
    pairs, trials, runs = (5, 2, 2) if level == "quick" else (10, 20, 40)
    return ([Trial(f"updates-{k}", lambda room, rng, b=_bench: two_updates(b, room, rng, pairs)) for k in range(trials)] +
            [Trial(f"gc-{k}", lambda room, rng, b=_bench: gc_beside_run(b, room, rng)) for k in range(runs)])


class Rivals:
    """An experiment of the table."""

    PROMISE = "P2"
    TEXT = "two different updates from two folders on one store at once: both are applied, one behind the other, or one is refused by name; `gc` beside a run of another folder takes nothing of it"
    UNIT = "pairs and runs"
    plan = staticmethod(plan)

    @staticmethod
    def figure(_samples, notes):
        return (f"both applied {notes.get('both', 0)}, one refused {notes.get('refused', 0)}; {notes.get('sweeps', 0)} times gc, "
                f"which removed {notes.get('removed', 0)} old pieces")
