"""Random kills and suspensions of any program, including the driver and Redis; recovery times;
clean stops."""

import os
import signal
import time

from . import pipeline, processes
from .places import list_folder
from .trials import Outcome, Trial, percentile

PROMISE = "P1"
TEXT = "kill or stop anything, at any time: same weights, same outputs, no hand"
UNIT = "signals"
SIGNALS_A_RUN = 14


def plan(bench, level):
    storms, timed, stops = {"quick": (10, 3, 6), "full": (200, 30, 60)}[level]
    if not bench.place.can_be_copied:  # remote, and slower
        storms, timed, stops = storms // 3, 0, stops // 3
    elif level == "quick" and bench.is_variant:
        storms, timed, stops = storms // 2, 1, stops // 2
    return ([Trial(f"storm-{i}", lambda room, rng: storm(bench, room, rng)) for i in range(storms)] +
            [Trial(f"recovery-{i}", lambda room, rng: recovery(bench, room, rng)) for i in range(timed)] +
            [Trial(f"sigterm-{i}", lambda room, rng: sigterm(bench, room, rng)) for i in range(stops)])


class Storm:
    """Sends signals to the programs of a run until it has ended or enough signals were sent."""

    def __init__(self, run, rng):
        self.run, self.rng = run, rng
        self.sent = 0
        self.notes = {}
        self.stopped = {}  # pid -> time at which it continues

    def note(self, kind, name):
        self.sent += 1
        self.notes[f"{kind} {name}"] = self.notes.get(f"{kind} {name}", 0) + 1

    def wake(self, all_of_them=False):
        now = time.monotonic()
        for pid, when in list(self.stopped.items()):
            if all_of_them or now >= when:
                processes.send(pid, signal.SIGCONT)
                del self.stopped[pid]

    def lose(self):
        """Loses what the store may lose while programs work on it."""
        what = self.run.bench.place.lose(self.run.folder, self.rng)
        if what:
            self.note("lose", what)

    def strike(self):
        """Strikes one to three programs at once; returns False if the driver was killed."""
        victims = self.run.programs()
        if self.rng.random() < 0.12:
            victims[self.run.child.pid] = "graphmill"
        pids = sorted(victims)
        self.rng.shuffle(pids)
        for pid in pids[: self.rng.choice([1, 1, 1, 2, 2, 3])]:
            if self.rng.random() < 0.35:
                if processes.send(pid, signal.SIGSTOP):
                    self.stopped[pid] = time.monotonic() + self.rng.choice([0.05, 0.2, 0.7, 1.5])
                    self.note("stop", victims[pid])
                continue
            if victims[pid] == "graphmill":
                self.note("kill", "graphmill")
                self.wake(all_of_them=True)
                pipeline.kill_driver(self.run)
                return False
            if processes.send(pid, signal.SIGKILL):
                self.note("kill", victims[pid])
        return True

    def rage(self):
        """Strikes until the run has ended by itself, or was killed as a whole."""
        alive = True
        while alive and self.sent < SIGNALS_A_RUN:
            pause = self.rng.uniform(0.01, 0.15)
            if processes.wait(self.run.child, pause) is not None:
                break
            self.wake()
            alive = self.strike()
            if self.rng.random() < 0.15:
                self.lose()
        while self.stopped:
            time.sleep(0.02)
            self.wake()
        return alive


def storm(bench, room, rng):
    reference = bench.reference(pipeline.SMALL)
    folder = os.path.join(room, "run")
    # after ingest and partition, so that the loop gets its share
    if rng.random() < 0.5 and bench.place.can_be_copied:
        pipeline.copy(reference.prepared, folder)
        bench.place.take_over(folder)
    workers = rng.choice([1, 1, 2, 2, 3, 4, 8, 16])
    run = pipeline.Run(bench, pipeline.SMALL, folder, workers=workers).start()
    outcome = Outcome(0)
    try:
        for _ in range(4):
            one = Storm(run, rng)
            alive = one.rage()
            outcome.count += one.sent
            for name, count in one.notes.items():
                outcome.notes[name] = outcome.notes.get(name, 0) + count
            if alive:
                break
            run = run.again(workers=rng.choice([1, 2, 3]))
        run = pipeline.run_until_done(run, reference, tries=0)
        pipeline.verify_must_be_fine(bench, folder)
    finally:
        run.end()
    outcome.notes["runs"] = 1
    return outcome


# The end of the name of each stage's record: recovery waits for the next one after a kill.
PRODUCT = {"graphmill-sample": ("round", "mini_batch.record"), "graphmill-train-step": ("round", "gradient.record"),
           "graphmill-aggregate": ("weights", ".record"), "graphmill-checkpoint": ("snapshot", ".record")}


def newest_product_ns(bench, folder, stage):
    """Returns when the newest record of a stage's kind got its name."""
    kind, end = PRODUCT[stage]
    newest = 0
    for base in [os.path.join(store, "run", run, kind) for store in bench.place.stores(folder)
                 for run in list_folder(os.path.join(store, "run"))]:
        names = sorted(list_folder(base))[-16:]
        paths = [os.path.join(base, name) for name in names]
        if kind == "round":
            paths = [os.path.join(path, "slot", slot, end) for path in paths
                     for slot in list_folder(os.path.join(path, "slot"))]
        for path in paths:
            try:
                newest = max(newest, os.stat(path).st_ctime_ns)
            except OSError:
                pass
    return newest


def recovery(bench, room, rng):
    """Kills one worker at a time, and measures the time to its stage's next stored record."""
    reference = bench.reference(pipeline.LONG)
    folder = os.path.join(room, "run")
    pipeline.copy(reference.prepared, folder)
    bench.place.take_over(folder)
    run = pipeline.Run(bench, pipeline.LONG, folder).start()
    outcome = Outcome(0, {"recovery_s": [], "restart_s": []})
    try:
        run.wait_for_weights(5)
        for _ in range(8):
            time.sleep(rng.uniform(0.02, 0.1))
            victims = {pid: name for pid, name in run.programs().items() if name in PRODUCT}
            if not victims or not run.running():
                break
            pid = rng.choice(sorted(victims))
            stage = victims[pid]
            others = {other for other, name in victims.items() if name == stage}
            killed_ns = time.time_ns()
            if not processes.send(pid, signal.SIGKILL):
                continue
            outcome.count += 1
            outcome.notes[f"kill {stage}"] = outcome.notes.get(f"kill {stage}", 0) + 1
            restarted = None
            # The clock that stamps files ticks every few milliseconds.
            while run.running() and newest_product_ns(bench, folder, stage) <= killed_ns + 10_000_000:
                if restarted is None and any(name == stage and new not in others for new, name in run.programs().items()):
                    restarted = (time.time_ns() - killed_ns) / 1e9
                if time.time_ns() - killed_ns > 30e9:
                    raise pipeline.Violation(f"30 s after {stage} was killed it has stored nothing")
                time.sleep(0.002)
            if run.running():
                outcome.samples["recovery_s"].append((newest_product_ns(bench, folder, stage) - killed_ns) / 1e9)
                if restarted is not None:
                    outcome.samples["restart_s"].append(restarted)
        pipeline.run_until_done(run, reference, tries=0)
    finally:
        run.end()
    return outcome


def sigterm(bench, room, rng):
    """SIGTERM at any time: the run ends within 3 s with 75 (0 if it was done), leaves no scratch
    files, and resumes."""
    reference = bench.reference(pipeline.SMALL)
    folder = os.path.join(room, "run")
    run = pipeline.Run(bench, pipeline.SMALL, folder).start()
    try:
        processes.wait(run.child, rng.choice([rng.uniform(0, 0.05), rng.uniform(0, 0.3), rng.uniform(0, 1.0)]))
        asked = time.monotonic()
        run.child.send_signal(signal.SIGTERM)
        status = processes.wait(run.child, 10)
        took = time.monotonic() - asked
        if status not in (0, pipeline.TRY_AGAIN) and not (status == -signal.SIGTERM and not os.path.exists(folder)):
            raise pipeline.Violation(f"SIGTERM: status {status} after {took:.2f} s: {run.said()}")
        if took > 3:
            raise pipeline.Violation(f"SIGTERM: took {took:.2f} s to end")
        left = [name for store in bench.place.stores(folder) for name in list_folder(os.path.join(store, "tmp"))]
        if left:
            raise pipeline.Violation(f"SIGTERM: left {left} in tmp/")
        pipeline.run_until_done(run.again(), reference, tries=0)
    finally:
        run.end()
    return Outcome(1, {"stop_s": [took]}, {"term graphmill": 1})


def figure(samples, notes):
    killed = sum(count for name, count in notes.items() if name.startswith("kill "))
    stopped = sum(count for name, count in notes.items() if name.startswith("stop "))
    recovery_s, stop_s = samples.get("recovery_s", []), samples.get("stop_s", [])
    return (f"{killed} SIGKILL ({notes.get('kill graphmill', 0)} of the driver, {notes.get('kill redis-server', 0)} of Redis), "
            f"{stopped} SIGSTOP, {notes.get('term graphmill', 0)} SIGTERM; "
            + "".join(f"lost {count} times: {name.removeprefix('lose ')}; " for name, count in sorted(notes.items()) if name.startswith("lose ")) + f"next record of the stage after "
            f"{percentile(recovery_s, .5):.2f} s p50, {percentile(recovery_s, .99):.2f} s p99; ends on SIGTERM within "
            f"{max(stop_s, default=0):.2f} s")
