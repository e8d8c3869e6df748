"""Delivers units of the queue twice, late and out of order: queue_storm.c does so, and this
counts."""

import os
import re
import subprocess

from . import pipeline
from .trials import Outcome, Trial

PROMISE = "P6"
TEXT = "delivered again, late or out of order: each unit is done once"
UNIT = "deliveries"


def plan(bench, level):
    trials, each = {"quick": (1, 5_000), "full": (10, 70_000)}[level]
    return [Trial(f"storm-{i}", lambda room, rng: storm(bench, room, rng, each)) for i in range(trials)]


def storm(bench, room, rng, units):
    program = os.path.join(os.path.dirname(bench.shim), "queue_storm")
    done = subprocess.run([program, str(units)], capture_output=True, text=True, errors="replace", check=False,
                          env={**os.environ, "SEED": str(rng.randrange(1 << 30)), "TMPDIR": room})
    if done.returncode != 0:
        raise pipeline.Violation(f"status {done.returncode}: {done.stdout} {done.stderr[-300:]}")
    found = {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)(?![.\d])", done.stdout)}
    return Outcome(found["deliveries"], notes={name: found[name] for name in ("deliveries", "duplicates", "units")})


def figure(_samples, notes):
    if not notes.get("deliveries"):
        return "none"
    return f"{notes['units']:,} units; {100 * notes['duplicates'] / notes['deliveries']:.0f} % of the deliveries were duplicates"
