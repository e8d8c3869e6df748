"""The programs of a run on several hosts, started again whenever they end and ask for it, as a scheduler would."""
import json
import os
import re
import time

from hosts import Failure, wait_for
from services import ACCESS, PASSWORD

TRY_AGAIN = 75
LOOP_STAGES = ("sample", "train-step", "aggregate", "checkpoint", "infer")


class Worker:
    def __init__(self, fleet, host, stage, name):
        self.fleet, self.host, self.stage, self.name = fleet, host, stage, name
        self.starts, self.is_over = 0, False
        self.start()

    def start(self):
        words = self.fleet.program(self.stage, "--worker", self.name, "--scratch", "/mnt/scratch", "--lease", "2000", "--wait", "60",
                                   "--threads", "1", "--cache", "2G")
        self.process = self.host.start(self.name, *words, environment=ACCESS, on_core=True)
        self.starts += 1
        self.due = 0

    def look(self):
        """What a scheduler does: 0 is done, 75 and signals are started again, all else ends the run."""
        status = self.process.status()
        if self.is_over or status is None:
            return
        if status == 0:
            self.is_over = True
        elif status != TRY_AGAIN and status > 0 and not self.host.is_cut:
            raise Failure(f"{self.name} on {self.host.name} ended with {status}: {self.process.last_words()}")
        elif not self.due:
            self.due = time.monotonic() + 0.5
        elif time.monotonic() >= self.due:
            self.start()


class Fleet:
    """One run: `pipeline` is a file, `settings` what --set takes, `queue` a Queue, `store` a URI."""

    def __init__(self, binaries, pipeline, settings, store, queue, hosts, options=()):
        self.binaries, self.pipeline, self.store, self.queue, self.hosts = binaries, pipeline, store, queue, hosts
        self.settings = [word for s in settings for word in ("--set", s)]
        self.options, self.workers = list(options), []
        for host in hosts:
            (host.folder / "password").write_text(PASSWORD + "\n")

    def program(self, stage, *words):
        queue = ["--redis", self.queue.url, "--redis-password-file", "/mnt/password"] if stage != "ingest" else []
        return [self.binaries / f"graphmill-{stage}", "--pipeline", self.pipeline, *self.settings, "--store", self.store,
                *self.options, *queue, *words]

    def once(self, stage, *words):
        """A stage that runs before the others, on the first host."""
        host = self.hosts[0]
        process = host.start(stage, *self.program(stage, "--scratch", "/mnt/scratch", *words), environment=ACCESS)
        status = process.outer.wait()
        if status:
            raise Failure(f"{stage} ended with {status}: {process.last_words()}")

    def prepare(self):
        self.once("ingest")
        self.once("partition", "--start")

    def add(self, host, *stages):
        for stage in stages:
            self.workers.append(Worker(self, host, stage, f"{stage}-{host.name}"))

    def add_everywhere(self):
        """Steps on every host; of the others one, and a second that is ready to take over."""
        for host in self.hosts:
            self.add(host, "sample", "train-step")
        for host in self.hosts[1:] if len(self.hosts) > 2 else self.hosts:
            self.add(host, "aggregate", "checkpoint")
        self.add(self.hosts[0], "infer")

    def ask(self, *words):
        return self.hosts[0].run(self.binaries / "graphmill", *words, env={**os.environ, **ACCESS})

    def status(self):
        return json.loads(self.ask("status", "--store", self.store, "--json"))

    def round(self):
        """Of the newest snapshot, as the logs have it: a program that asks the store would take time from what is measured."""
        logs = [h.folder / f"checkpoint-{h.name}.log" for h in self.hosts]
        return max((int(n) for log in logs if log.exists() for n in re.findall(r"snapshot round (\d+) of", log.read_text(errors="replace"))), default=0)

    def tend(self, until, what, seconds):
        """Starts again what ends, until that is so."""
        def turn():
            for worker in self.workers:
                worker.look()
            return until()
        return wait_for(what, turn, seconds)

    def to_round(self, number, seconds=600):
        self.tend(lambda: self.round() >= number, f"round {number}", seconds)

    def to_the_end(self, seconds=1200):
        """Until the run is finished; gives the hash of its weights, as infer says it."""
        alive = [w for w in self.workers if not w.host.is_cut]
        self.tend(lambda: all(w.is_over for w in alive), "end of the run", seconds)
        state = self.status().get("state")
        if state != "finished":
            raise Failure(f"the run is {state}, expected finished")
        log = (self.hosts[0].folder / f"infer-{self.hosts[0].name}.log").read_text()
        found = re.findall(r"weights hash +(\w+)", log)
        if not found:
            raise Failure("infer names no hash")
        return found[-1]

    def restarts(self):
        return sum(w.starts - 1 for w in self.workers)
