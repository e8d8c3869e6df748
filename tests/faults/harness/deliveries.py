"""Units of the queue delivered twice, completed twice, late and out of order: delivery_storm.c does it, this counts."""

import json
import os
import subprocess

from . import losses, pipeline
from .trials import Outcome, Trial

PROMISE = "P6"
TEXT = "delivered again, completed again, late or out of order: each unit counts once"
UNIT = "deliveries"


def plan(bench, level):
    trials, each = {"quick": (1, 10_000), "full": (10, 102_000)}[level]
    return [Trial(f"storm-{i}", lambda room, rng: storm(bench, room, rng, each)) for i in range(trials)]


def storm(bench, room, rng, deliveries):
    server, path = losses.own_redis(room)
    try:
        done = subprocess.run([os.path.join(os.path.dirname(bench.shim), "delivery_storm"), "unix:" + path, str(deliveries),
                               str(rng.randrange(1 << 32))], capture_output=True, text=True, errors="replace", check=False)
    finally:
        server.kill()
        server.wait()
    if done.returncode != 0:
        raise pipeline.Violation(f"status {done.returncode}: {done.stdout} {done.stderr[-300:]}")
    found = json.loads(done.stdout)
    return Outcome(found["deliveries"], notes={name: found[name] for name in ("deliveries", "again", "repeated", "units")})


def figure(_samples, notes):
    if not notes.get("deliveries"):
        return "none"
    return (f"{notes['units']:,} units; {100 * notes['again'] / notes['deliveries']:.0f} % of the deliveries were of a unit delivered "
            f"before; {notes['repeated']:,} completions sent again, at once or much later")
