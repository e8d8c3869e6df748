"""Runs without a fault: any number of workers, the cost of durability, and the remaining speed
under kills."""

import os
import signal
import statistics
import tempfile
import time

from . import pipeline, processes, shim
from .trials import Outcome, Skipped, Trial


class Workers:
    PROMISE = "P9"
    TEXT = "any number of workers and threads: the same weights and outputs"
    UNIT = "runs"

    @staticmethod
    def plan(bench, level):
        numbers = [1, 2, 3, 5, 8, 16] if level == "quick" else [1 + i % 16 for i in range(112)]
        return [Trial(f"workers-{i}-{number}", lambda room, rng, number=number: Workers._run(bench, room, rng, number))
                for i, number in enumerate(numbers)]

    @staticmethod
    def _run(bench, room, rng, number):
        reference = bench.reference(pipeline.SMALL)
        arguments = ("--threads", str(rng.choice([1, 2, 3, 8])))
        run = pipeline.Run(bench, pipeline.SMALL, os.path.join(room, "run"), workers=number, lease=10000,
                           arguments=arguments)
        try:
            run.must_end_well()
            reference.must_equal(run)
        finally:
            run.end()
        return Outcome(1, notes={"one hash": 1})

    @staticmethod
    def figure(_samples, notes):
        return f"{notes.get('one hash', 0)} with the same bits, by 1 to 16 workers of each stage and 1 to 8 threads"


class Durability:
    """The same run on a disk with flushes, and with flushes that do nothing."""

    PROMISE = "P11"
    TEXT = "what durability costs"
    UNIT = "pairs of runs"

    @staticmethod
    def plan(bench, level):
        return [Trial(f"pair-{i}", lambda room, rng, i=i: Durability._pair(bench, i))
                for i in range({"quick": 1, "full": 11}[level])]

    @staticmethod
    def _pair(bench, number):
        """Measures training and inference; ingest and partition are prepared."""
        reference = bench.reference(pipeline.WIDE)
        seconds = {}
        with tempfile.TemporaryDirectory(prefix="graphmill-faults-", dir=disk_folder()) as room:
            for flushed in (True, False) if number % 2 else (False, True):
                folder = os.path.join(room, f"run-{flushed}")
                pipeline.copy(reference.prepared, folder)
                os.sync()
                board = shim.Board(os.path.join(room, "board"))
                environment = shim.environment(bench.shim, board)
                if not flushed:
                    environment["FAULT_NO_FLUSH"] = "1"
                run = pipeline.Run(bench, pipeline.WIDE, folder, lease=10000, environment=environment)
                run.must_end_well()
                reference.must_equal(run)
                seconds[flushed] = run.seconds
                board.close()
        return Outcome(1, {"with_s": [seconds[True]], "without_s": [seconds[False]]})

    @staticmethod
    def figure(samples, _notes):
        if not samples.get("with_s"):
            return "none"
        flushed, bare = statistics.median(samples["with_s"]), statistics.median(samples["without_s"])
        return f"{flushed:.2f} s with flushes, {bare:.2f} s without (medians): {100 * (flushed / bare - 1):.1f} %"


def disk_folder():
    """Returns a folder on a real disk."""
    for folder in (os.environ.get("FAULTS_DISK"), "/var/tmp", "/tmp"):
        if folder and os.access(folder, os.W_OK):
            with open("/proc/mounts", encoding="utf-8") as file:
                mounts = {line.split()[1]: line.split()[2] for line in file}
            mount = os.path.realpath(folder)
            while mount not in mounts:
                mount = os.path.dirname(mount)
            if mounts[mount] not in ("tmpfs", "ramfs", "overlay"):
                return folder
    raise Skipped("durability: no disk; FAULTS_DISK names a folder on one")


class Goodput:
    """A run of some minutes with occasional kills, compared with the same run undisturbed."""

    PROMISE = "P12"
    TEXT = "speed that is left under kills"
    UNIT = "pairs of runs"
    # undisturbed seconds, between kills
    PACES = {"quick": [(20, 5)], "full": [(60, 10), (60, 10), (190, 60)]}

    @staticmethod
    def plan(bench, level):
        return [Trial(f"every-{gap}s-{i}", lambda room, rng, case=(seconds, gap): Goodput._pair(bench, room, rng, *case))
                for i, (seconds, gap) in enumerate(Goodput.PACES[level])]

    @staticmethod
    def _pair(bench, room, rng, seconds, gap):
        """Counts the rounds within the same time, with and without kills; each run is cut off at
        the end."""
        setting = pipeline.Setting("endless", nodes=600, epochs=100000, parts=3, batch=40)
        rounds, killed = [], 0
        for disturbed in (False, True):
            folder = os.path.join(room, f"run-{disturbed}")
            pipeline.copy(bench.reference(pipeline.LONG).prepared, folder)
            run = pipeline.Run(bench, setting, folder, lease=10000).start()
            try:
                run.wait_for_weights(20)
                started, first = time.monotonic(), run.newest_weights()
                while run.running() and time.monotonic() - started < seconds:
                    time.sleep(min(gap, max(0, started + seconds - time.monotonic())))
                    victims = [pid for pid, name in run.programs().items() if name in shim.PROGRAMS[3:7]]
                    if disturbed and victims and time.monotonic() - started < seconds:
                        killed += processes.send(rng.choice(sorted(victims)), signal.SIGKILL)
                if not run.running():
                    raise pipeline.Violation(f"the run ended with {run.child.returncode}: {run.said()}")
                rounds.append((run.newest_weights() - first) / (time.monotonic() - started))
            finally:
                run.end()
        return Outcome(1, {f"share_{gap}": [rounds[1] / rounds[0]]}, {f"kills {gap}": killed})

    @staticmethod
    def figure(samples, notes):
        return "; ".join(f"a kill each {gap} s: {100 * statistics.mean(samples[f'share_{gap}']):.1f} % of the rounds in peace "
                         f"({notes.get(f'kills {gap}', 0)} kills)" for gap in (5, 10, 60) if samples.get(f"share_{gap}"))
