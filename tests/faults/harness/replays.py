"""Computes units of a finished run again from stored records, in every place; and from inputs
that were damaged since."""

import os

from . import damage, pipeline
from .trials import Outcome, Trial

PROMISE = "P10"
TEXT = "any unit of any stage is computed again from what is stored, bit for bit; from a damaged input it is refused"
UNIT = "units"
UNITS_A_STAGE = 3


def plan(bench, level):
    trials = {"quick": 3, "full": 40}[level]
    return [Trial(f"run-{i}", lambda room, rng: one_run(bench, room, rng)) for i in range(trials)]


def replay(bench, folder, words):
    """Returns (status, output)."""
    status, answer, said = pipeline.call([bench.program("graphmill"), "replay", folder, *words], timeout=120)
    return status, (answer + said).strip()


def unit_words(rng, rounds):
    """Returns arguments of `replay` for units of all stages."""
    words = [["ingest"], ["partition"], ["aggregate", "--initial"], ["sample", "--evaluation"], ["infer"], ["infer", "--layer", "1"]]
    for stage in ("sample", "train-step", "aggregate"):
        for number in rng.sample(range(rounds), min(UNITS_A_STAGE, rounds)):
            words.append([stage, "--round", str(number)] + ([] if stage == "aggregate" else ["--slot", "0"]))
    return words


def one_run(bench, room, rng):
    folder, _ = damage.start_state(bench, room, rng, "finished-kept")
    rounds = bench.place.newest_weights(folder)
    if rounds < 1:
        raise pipeline.Violation(f"a finished run has {rounds} rounds")
    words = unit_words(rng, rounds)
    for one in words:
        status, said = replay(bench, folder, one)
        if status != 0 or not said.startswith("MATCH"):
            raise pipeline.Violation(f"replay {' '.join(one)}: status {status}: {said[-300:]}")
    gradients = [file for file in bench.place.files(folder) if damage.kind_of(file.path) == "run/round/slot/gradient.record"]
    file = rng.choice(gradients)
    damage.flip(file, rng, gradients)
    number = next(int(part) for part in file.path.split("/")[2:] if part.isdigit())
    status, said = replay(bench, folder, ["aggregate", "--round", str(number)])
    if status != 65:
        raise pipeline.Violation(f"replay of the sum of a damaged gradient, {os.path.basename(folder)}, {file.path}: status {status}: {said[-300:]}")
    return Outcome(len(words), notes={"refused": 1})


def figure(_samples, notes):
    return f"all of them MATCH; {notes.get('refused', 0)} refused after damage to what they read"
