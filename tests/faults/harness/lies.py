"""A bucket whose first answer about each object is spoilt on its way: a flipped byte, nothing,
or half of it."""

import os
import subprocess
import sys
import time

from . import pipeline, places
from .trials import Outcome, Trial

RELAY = os.path.join(os.path.dirname(__file__), "..", "..", "support", "s3_relay.py")


class Liar:
    """A relay in front of the server of a bucket."""

    def __init__(self, bucket, folder):
        os.makedirs(folder)
        self.folder = folder
        with open(os.path.join(folder, "plan"), "w", encoding="ascii") as file:
            file.write("lies")
        self.child = subprocess.Popen([sys.executable, RELAY, bucket.endpoint.removeprefix("http://"), folder], stdin=subprocess.DEVNULL)
        port = os.path.join(folder, "port")
        until = time.monotonic() + 30
        while not os.path.exists(port):
            if time.monotonic() > until:
                raise RuntimeError("the relay does not start")
            time.sleep(0.05)
        with open(port, encoding="ascii") as file:
            self.endpoint = "http://127.0.0.1:" + file.read()

    def told(self):
        try:
            with open(os.path.join(self.folder, "lies"), encoding="ascii") as file:
                return [line.split()[0] for line in file]
        except FileNotFoundError:
            return []

    def close(self):
        self.child.kill()
        self.child.wait()


def lie(bench, room, rng):
    """A run through a lying relay, then verify through another one: each gets one wrong answer
    about each object."""
    bucket = places.Bucket(room)
    first, second = Liar(bucket, os.path.join(room, "first")), Liar(bucket, os.path.join(room, "second"))
    store = f"s3://graphmill/lies-{rng.randrange(1 << 30)}?endpoint="
    folder = os.path.join(room, "run")
    try:
        status, _, said = pipeline.call([bench.program("graphmill"), "run", bench.yaml(pipeline.TINY), "--directory", folder,
                                         "--store", store + first.endpoint, "--quiet", "--json"], timeout=600)
        if status:
            raise pipeline.Violation(f"behind lies {first.told()}: status {status}: {said[-400:]}")
        peace, found = (pipeline.output_hashes(one) for one in (bench.reference(pipeline.TINY).whole, folder))
        if found != peace:
            raise pipeline.Violation(f"behind lies: {found}, in peace {peace}")
        status, out, said = pipeline.call([bench.program("graphmill"), "verify", "--store", store + second.endpoint], timeout=600)
        if status:
            raise pipeline.Violation(f"verify behind lies: status {status}: {(out + said)[-400:]}")
        told = first.told() + second.told()
        if len(set(told)) < 3:
            raise pipeline.Violation(f"the relay told no lies of each kind: {told}")
        return Outcome(len(told), notes={word: told.count(word) for word in set(told)})
    finally:
        first.close()
        second.close()
        bucket.close()


def plan(bench, level):
    return [Trial(f"run-{k}", lambda room, rng: lie(bench, room, rng)) for k in range(1 if level == "quick" else 10)]


class Lies:
    """An experiment of the table."""

    PROMISE = "P3"
    TEXT = "before a real SeaweedFS the first answer about each object is spoilt: nothing is called damaged that a second read finds whole"
    UNIT = "spoilt answers"
    plan = staticmethod(plan)

    @staticmethod
    def figure(_samples, notes):
        return f"a flipped bit {notes.get('flip', 0)}, nothing {notes.get('empty', 0)}, half of it {notes.get('short', 0)}"
