"""Two records of a dataset with versions are damaged or lost at once: nothing else is used
silently, and the same files repair it."""

import itertools
import json
import os
import re
import threading

from . import pipeline, stored
from .rivals import put_update
from .trials import Outcome, Trial

BAD_DATA = 65
WAYS = ("flip", "cut", "delete")
_lock = threading.Lock()
_worlds = {}


class World:
    """A run, two updates of its dataset, and a run on the second version; made once, and copied
    for each trial."""

    def __init__(self, bench):
        self.room = bench.room("pairs-world")
        self.folder = os.path.join(self.room, "run")
        self.files = [put_update(self.room, name, node) for name, node in (("one", 1001), ("two", 1002))]
        pipeline.copy(bench.reference(pipeline.TINY).whole, self.folder)
        answers = [graphmill(bench, "update", self.folder, *files) for files in self.files]
        answers.append(graphmill(bench, "run", self.folder))
        if any(answer[0] for answer in answers):
            raise pipeline.Violation(f"in peace: {answers}")
        self.result = result_of(answers[-1])
        self.versions = [json.loads(answer[1])["dataset"] for answer in answers[:2]]
        self.pieces = [file.path for file in stored.of_folder(os.path.join(self.folder, "store")) if self._is_of_versions(file.path)]

    def _is_of_versions(self, path):
        """Returns whether it is a record of one of the versions, or a ref that names one."""
        digits = [version.rsplit("-", 1)[1] for version in self.versions]
        return (any(path.startswith(f"dataset/{version}/") for version in self.versions) or
                bool(re.match(r"switch/current/(next|version|dataset)/", path)) or any(path == f"switch/current/id/{one}" for one in digits))


def world_of(bench):
    with _lock:
        if bench not in _worlds:
            _worlds[bench] = World(bench)
        return _worlds[bench]


def graphmill(bench, name, folder, *words):
    """Returns (status, answer, stderr)."""
    return pipeline.call([bench.program("graphmill"), name, bench.yaml(pipeline.TINY), "--directory", folder, "--quiet", "--json", *words])


def result_of(answer):
    told = json.loads(answer[1])
    return told["dataset"]["id"], told["dataset"]["nodes"], told["weights_hash"]


def damage(store, path, way, rng):
    file = stored.FolderFile(store, path)
    data = file.read()
    if way == "delete":
        file.delete()
    elif way == "cut":
        file.write(data[: rng.randrange(len(data))])
    else:
        at = rng.randrange(len(data))
        file.write(data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :])


def must_be_right(world, answer, what):
    """Requires that a successful run has used the newest version."""
    if answer[0] == 0 and result_of(answer) != world.result:
        raise pipeline.Violation(f"{what}: status 0 and {result_of(answer)}, expected {world.result}")
    if answer[0] not in (0, BAD_DATA):
        raise pipeline.Violation(f"{what}: status {answer[0]}: {answer[2][-400:]}")
    return answer[0] == 0


def spoil(bench, room, rng, pair):
    world = world_of(bench)
    folder = os.path.join(room, "run")
    pipeline.copy(world.folder, folder)
    done = []
    for path in pair:
        way = rng.choice(WAYS)
        damage(os.path.join(folder, "store"), path, way, rng)
        done.append(f"{way} {path}")
    what = " and ".join(done)
    at_once = must_be_right(world, graphmill(bench, "run", folder), f"{what}: run")
    healed = at_once
    for _ in range(3):  # damaged records of one kind may hide others
        pipeline.verify(bench, folder, "--remove")
        # as the message says; files of an intact version are refused, or change nothing
        for files in world.files:
            status, _, said = graphmill(bench, "update", folder, *files)
            if status not in (0, BAD_DATA):
                raise pipeline.Violation(f"{what}: update: status {status}: {said[-400:]}")
        answer = graphmill(bench, "run", folder)
        healed = must_be_right(world, answer, f"{what}: run after verify --remove and the same files")
        if healed and pipeline.verify(bench, folder)[0] == 0:
            break
    status, said = pipeline.verify(bench, folder)
    if not healed or status:
        raise pipeline.Violation(f"{what}: not mended by verify --remove, the same files and run: {answer[2][-300:]} {said[-300:]}")
    return Outcome(1, notes={"at once": at_once, "by the same files": not at_once})


def plan(bench, level):
    pieces = world_of(bench).pieces
    pairs = list(itertools.combinations(pieces, 2))
    if level == "quick":
        # All pairs that name or make the newest version, and some of the others.
        first = [pair for pair in pairs if all(re.search(r"switch/current/(next|version)|/delta|/schema", path) for path in pair)]
        step = max(1, len(first) // 14)
        pairs = first[bench.seed % step :: step] + pairs[bench.seed % 7 :: max(1, len(pairs) // 6)]
    return [Trial(f"{number}-{'+'.join(path.replace('/', '_') for path in pair)}"[:150], lambda room, rng, pair=pair: spoil(bench, room, rng, pair))
            for number, pair in enumerate(pairs)]


class Pairs:
    """An experiment of the table."""

    PROMISE = "P3"
    TEXT = "two records or switches of a dataset with versions are flipped, cut or lost at once: a run that ends well has used the newest version; `verify --remove`, the same files and `run` mend all of it"
    UNIT = "pairs of damaged files"
    plan = staticmethod(plan)

    @staticmethod
    def figure(_samples, notes):
        return f"`run` was right at once {notes.get('at once', 0)}, named what was lost {notes.get('by the same files', 0)}"
