"""run.sh --quick | --full [EXPERIMENT...]: runs the trials, some side by side, and prints a line
for each promise."""

import argparse
import json
import os
import queue
import random
import signal
import sys
import threading
import time
import traceback

from . import (damage, deliveries, kills, lies, limits, losses, machine, pairs, pipeline, places, points, replays, rivals,
               steady, updates)
from .trials import Outcome, Skipped, random_of

EXPERIMENTS = {
    "kills": kills,
    "points": points.KillPoints,
    "updates": updates.KilledUpdates,
    "rivals": rivals.Rivals,
    "pairs": pairs.Pairs,
    "lies": lies.Lies,
    "calls": points.FailingCalls,
    "losses": losses,
    "deliveries": deliveries,
    "damage": damage,
    "replays": replays,
    "clocks": machine.Clocks,
    "disk": machine.FullDisk,
    "memory": machine.Memory,
    "addresses": limits.Addresses,
    "groups": limits.Groups,
    "special_files": limits.SpecialFiles,
    "slow": machine.Slow,
    "workers": steady.Workers,
    "durability": steady.Durability,
    "goodput": steady.Goodput,
}

# experiments whose store may be outside of the run's folder
ELSEWHERE = ("kills", "losses", "damage", "replays")


def arguments():
    parser = argparse.ArgumentParser(prog="tests/faults/run.sh", description=__doc__)
    level = parser.add_mutually_exclusive_group(required=True)
    level.add_argument("--quick", dest="level", action="store_const", const="quick", help="some minutes; what CI runs")
    level.add_argument("--full", dest="level", action="store_const", const="full",
                       help="all of it; stopped, it goes on where it was")
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=" ".join(EXPERIMENTS) + " (default: all)")
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier --full has done")
    parser.add_argument("--graph", choices=list(pipeline.INGEST), default="generated",
                        help="generated: GraphSAGE on one relation; links: its link prediction; relations: R-GCN on three node types; "
                        "relation_links: its link prediction; embeddings: the same graph with rows that are learnt instead of features; "
                        "vertex_cut: GraphSAGE over a vertex cut; stale: GraphSAGE whose rounds start from weights two rounds old; "
                        "stale_up_to: from the newest ones, at most two rounds old, where what comes out must replay from its own records; "
                        "warm: GraphSAGE that begins with the weights of another run; "
                        "layers: GraphSAGE whose steps are pipelines of layers; relation_layers: R-GCN with such steps over a vertex cut of three node types; ranges: GraphSAGE whose gradients are added up by range, as a tree; subgraphs: GraphSAINT's walks; gradients: their largest numbers alone; times: neighbourhoods in time")
    parser.add_argument("--place", choices=places.NAMES, default="inside",
                        help="where stores lie (of kills, losses, damage and replays): inside their run's folder; tiered: in two, of which the fast one is lost, "
                        "too; bucket: in SeaweedFS; cluster: in a Redis Cluster")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("FAULTS_JOBS", "2")), help="trials side by side")
    parser.add_argument("--trial", help="only trials whose name begins with this")
    parser.add_argument("--results", default=os.environ.get("FAULTS_RESULTS"), help="folder for results and broken runs")
    options = parser.parse_args()
    unknown = [name for name in options.experiments if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"no experiment {unknown[0]}; there are {' '.join(EXPERIMENTS)}")
    if options.place != "inside" and not options.experiments:
        options.experiments = list(ELSEWHERE)
    elsewhere = [name for name in options.experiments if name not in ELSEWHERE]
    if options.place != "inside" and elsewhere:
        parser.error(f"--place is of {', '.join(ELSEWHERE)}, not of {elsewhere[0]}")
    return options


class Ledger:
    """The results of the trials, a line of JSON each, so that a stopped --full can resume."""

    def __init__(self, path, seed, fresh):
        self._path, self._seed = path, seed
        self._lock = threading.Lock()
        self.rows = {}
        if not fresh and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    try:
                        row = json.loads(line)
                    except ValueError:
                        continue
                    if row["seed"] == seed and not row["violation"]:
                        self.rows[row["experiment"], row["trial"]] = row
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            for row in self.rows.values():
                file.write(json.dumps(row) + "\n")

    def has(self, experiment, trial):
        return (experiment, trial) in self.rows

    def add(self, experiment, trial, outcome, violation, skipped):
        row = {"seed": self._seed, "experiment": experiment, "trial": trial, "count": outcome.count,
               "samples": outcome.samples, "notes": outcome.notes, "violation": violation, "skipped": skipped}
        with self._lock:
            self.rows[experiment, trial] = row
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    def of(self, experiment):
        return [row for (name, _), row in self.rows.items() if name == experiment]


def attempt(bench, ledger, name, trial):
    """Runs one trial and prints the promises that it broke."""
    room = bench.room(f"{name}-{trial.name}"[:180])
    outcome, violation, skipped = Outcome(1), None, None
    try:
        outcome = trial.work(room, random_of(bench.seed, name, trial.name))
    except pipeline.Violation as error:
        violation = str(error)
    except Skipped as error:
        outcome, skipped = Outcome(0), str(error)
    except Exception:  # pylint: disable=broad-except
        violation = "the harness itself: " + traceback.format_exc()
    bench.leave(room, bool(violation))
    ledger.add(name, trial.name, outcome, violation, skipped)
    if violation:
        print(f"VIOLATION {name} {trial.name}: {violation}", flush=True)


def run_trials(bench, ledger, options, names):
    work = queue.Queue()
    for name in names:
        for trial in EXPERIMENTS[name].plan(bench, options.level):
            wanted = not options.trial or trial.name.startswith(options.trial)
            if wanted and not ledger.has(name, trial.name):
                work.put((name, trial))
    total, started = work.qsize(), time.monotonic()

    def loop():
        while True:
            try:
                name, trial = work.get_nowait()
            except queue.Empty:
                return
            attempt(bench, ledger, name, trial)
            done = total - work.qsize()
            if done % 100 == 0:
                print(f"... {done} of {total} trials, {time.monotonic() - started:.0f} s", flush=True)

    threads = [threading.Thread(target=loop) for _ in range(max(1, options.jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def row_of(name, rows):
    """Returns (promise, text, count with unit, violations, figure) of one experiment."""
    experiment = EXPERIMENTS[name]
    samples, notes = {}, {}
    for row in rows:
        for key, values in row["samples"].items():
            samples.setdefault(key, []).extend(values)
        for key, count in row["notes"].items():
            notes[key] = notes.get(key, 0) + count
    reasons = sorted({row["skipped"] for row in rows if row["skipped"]})
    figure = experiment.figure(samples, notes) + (f"; skipped: {'; '.join(reasons)}" if reasons else "")
    count = sum(row["count"] for row in rows)
    violations = sum(1 for row in rows if row["violation"])
    return experiment.PROMISE, experiment.TEXT, f"{count:,} {experiment.UNIT}", violations, figure


def report(ledger, names, path, seed):
    """Prints the lines, and writes them into the table of README.md."""
    rows = [(name, *row_of(name, ledger.of(name))) for name in names]
    lines = ["| promise | experiment | trials | violations | figure |", "| --- | --- | --- | --- | --- |"]
    for name, promise, text, count, violations, figure in rows:
        print(f"{promise:4} {name:9} {count}, {violations} violations. {figure}")
        lines.append(f"| {promise} {text} | `{name}` | {count} | {violations} | {figure} |")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + f"\n\nSEED={seed}\n")
    return sum(row[4] for row in rows)


def main():
    options = arguments()
    build = os.path.dirname(os.environ["GRAPHMILL_BIN"])
    results = options.results or os.path.join(build, "faults")
    full = options.level == "full"
    # A stopped --full resumes with its own seed, so the seed is fixed.
    seed = int(os.environ.get("SEED") or (1 if full else random.randrange(1 << 30)))
    names = options.experiments or list(EXPERIMENTS)
    tag = options.level if full else f"quick-{'-'.join(options.experiments) or 'all'}"
    tag += "" if options.graph == "generated" else f"-{options.graph}"
    tag += "" if options.place == "inside" else f"-{options.place}"
    print(f"SEED={seed}", flush=True)
    bench = pipeline.Bench(os.environ["GRAPHMILL_BIN"], os.path.join(build, "tests", "libfault_shim.so"),
                           os.path.join(results, "broken"), seed, options.graph, options.place)
    started = time.monotonic()

    def stop(number, _frame):
        """Ends everything that was started."""
        bench.close()
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        ledger = Ledger(os.path.join(results, f"ledger-{tag}.jsonl"), seed, options.fresh or not full)
        run_trials(bench, ledger, options, names)
        violations = report(ledger, names, os.path.join(results, f"table-{tag}.md"), seed)
    finally:
        bench.close()
    print(f"{time.monotonic() - started:.0f} s; table in {results}/table-{tag}.md"
          + (f"; broken runs in {results}/broken" if violations else ""))
    return 1 if violations else 0


sys.exit(main())
