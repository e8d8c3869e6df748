"""Kills and errors at exactly the k-th call of a program, by fault_shim.c."""

import os
import signal

from . import pipeline, shim
from .trials import Outcome, Trial, random_of

KILL_ACTIONS = ["kill", "killed-after"]
ERRORS = {"write": ["ENOSPC", "EIO", "short"], "flush": ["EIO", "ENOSPC"], "rename": ["EIO", "ENOSPC"],
          "link": ["EIO", "ENOSPC"], "make": ["ENOSPC", "EIO"], "create": ["EMFILE", "ENOSPC", "EIO"],
          "open": ["EMFILE", "EIO", "ENOMEM"], "read": ["EIO"], "remove": ["EIO"], "resize": ["ENOSPC", "EIO"],
          "map": ["ENOMEM"], "talk": ["ECONNRESET", "EIO", "EINTR"]}
# The statuses with which a run may end when a call fails: see the table in pipelines/guide/mend.md.
ALLOWED = {0, 71, 74, 75}


def counts(bench):
    """Returns {program: {call: n}} of an undisturbed run, with some margin, because runs differ
    by a few calls."""
    path = os.path.join(bench.scratch, "counting")
    with bench.counting:
        if not bench.counted:
            board = shim.Board(path + ".board")
            run = pipeline.Run(bench, pipeline.TINY, path, environment=shim.environment(bench.shim, board))
            run.must_end_well()
            bench.counted = {program: {call: board.calls(program, call) for call in shim.CALLS}
                             for program in shim.PROGRAMS}
            board.close()
    return bench.counted


def disturbed(bench, room, rules, workers=1):
    """Runs the tiny pipeline under rules to its end: (run, its status, number of rules that
    fired)."""
    folder = os.path.join(room, "run")
    board = shim.Board(os.path.join(room, "board"))
    # Data that the run needs before the program starts are copied, not made.
    if not any(rule.startswith(("graphmill:", "graphmill-ingest", "graphmill-partition")) for rule in rules):
        pipeline.copy(bench.reference(pipeline.TINY).prepared, folder)
    run = pipeline.Run(bench, pipeline.TINY, folder, workers=workers,
                       environment=shim.environment(bench.shim, board, rules)).start()
    try:
        # A full disk has room again after some time, so a run may wait for that.
        status = run.wait(lambda: board.lift() if board.fired() else None)
    finally:
        run.end()
        fired = board.fired()
        board.close()
    return run, status, fired


# --- kill points ---


class KillPoints:
    """SIGKILL before and after the k-th call that changes the disk, and again at a call of the
    recovery."""

    PROMISE = "P2"
    TEXT = "SIGKILL at every k-th write, flush, rename, link, create, mkdir, unlink of every program, and again in recovery"
    UNIT = "points"

    @staticmethod
    def plan(bench, level):
        trials = []
        for program, calls in counts(bench).items():
            if program == "redis-server":
                continue
            points = range(1, calls["change"] + 1)
            if level == "quick":
                rng = random_of(bench.seed, "points", program)
                points = sorted(rng.sample(points, min(5, len(points))))
            for k in points:
                trials.append(KillPoints._trial(bench, program, k))
        return trials

    @staticmethod
    def _trial(bench, program, k):
        return Trial(f"{program}-{k}", lambda room, rng: KillPoints._kill(bench, room, rng, program, k))

    @staticmethod
    def _kill(bench, room, rng, program, k):
        """Odd points die before the call and even ones after it, that is, before the next action
        of the program; two of three die again at a point of the recovery."""
        rules = [f"{program}:change:{k}:{KILL_ACTIONS[k % 2]}"]
        if rng.random() < 2 / 3:
            rules.append(f"{program}:change:{rng.randint(1, k + 20)}:{rng.choice(KILL_ACTIONS)}")
        if program == "graphmill":
            return KillPoints._kill_driver(bench, room, rules)
        run, status, fired = disturbed(bench, room, rules)
        if status != 0:
            raise pipeline.Violation(f"{rules}: status {status}: {run.said()}")
        bench.reference(pipeline.TINY).must_equal(run)
        pipeline.verify_must_be_fine(bench, run.folder)
        return Outcome(fired, notes={f"{program}": fired, "again": max(0, fired - 1), "missed": fired == 0})

    @staticmethod
    def _kill_driver(bench, room, rules):
        board = shim.Board(os.path.join(room, "board"))
        run = pipeline.Run(bench, pipeline.TINY, os.path.join(room, "run"))
        run.environment = shim.environment(bench.shim, board, rules)
        status = -signal.SIGKILL
        for _ in range(len(rules) + 1):
            run.start()
            status = run.wait()
            if status != -signal.SIGKILL:
                break
            pipeline.kill_driver(run)  # waits for the end of its programs
        fired = board.fired()
        if status != 0:
            raise pipeline.Violation(f"{rules}: status {status}: {run.said()}")
        bench.reference(pipeline.TINY).must_equal(run)
        pipeline.verify_must_be_fine(bench, run.folder)
        return Outcome(fired, notes={"graphmill": fired, "again": max(0, fired - 1), "missed": fired == 0})

    @staticmethod
    def figure(_samples, notes):
        programs = ", ".join(f"{name.removeprefix('graphmill-')} {notes[name]}" for name in shim.PROGRAMS if notes.get(name))
        return f"{programs}; {notes.get('again', 0)} of them while recovering; {notes.get('missed', 0)} not reached"


# --- failing calls ---


class FailingCalls:
    """The k-th call of each kind fails, once or for the rest of the process."""

    PROMISE = "P3"
    TEXT = "every call that can fail, once or lasting: right result, or a status of the table and the next run is right"
    UNIT = "failed calls"

    @staticmethod
    def plan(bench, level):
        cases = []
        for program, calls in counts(bench).items():
            for call, errors in ERRORS.items():
                for error in errors:
                    for lasting in ("once", "process"):
                        if lasting == "process" and (error in ("short", "EINTR") or call == "talk"):
                            continue  # a worker that can never reach Redis waits, and says so
                        cases += [(program, call, k, error, lasting) for k in range(1, calls[call] + 1)]
        rng = random_of(bench.seed, "calls", level)
        kept = FailingCalls._sample(rng, cases, {"quick": 1, "full": 6}[level])
        return [FailingCalls._trial(bench, case) for case in kept]

    @staticmethod
    def _sample(rng, cases, each):
        """Samples equally many for each program, call and error, whatever the number of its
        calls; the first and last k are among them."""
        groups = {}
        for case in cases:
            program, call, _, error, lasting = case
            groups.setdefault((program, call) if each == 1 else (program, call, error, lasting), []).append(case)
        kept = []
        for group in groups.values():
            if len(group) <= each:
                kept += group
            else:
                kept += rng.sample(group, each) if each == 1 else [group[0], group[-1], *rng.sample(group[1:-1], each - 2)]
        return kept

    @staticmethod
    def _trial(bench, case):
        name = "-".join(str(word) for word in case)
        return Trial(name, lambda room, rng: FailingCalls._fail(bench, room, case))

    @staticmethod
    def _fail(bench, room, case):
        rule = ":".join(str(word) for word in case)
        run, status, fired = disturbed(bench, room, [rule])
        if status not in ALLOWED:
            raise pipeline.Violation(f"{rule}: status {status}: {run.said()}")
        reference = bench.reference(pipeline.TINY)
        if status == 0:
            reference.must_equal(run)
        else:
            again = run.again()
            try:
                if again.wait() != 0:
                    raise pipeline.Violation(f"{rule}: status {status}, and the next run {again.child.returncode}: {again.said()}")
                reference.must_equal(again)
            finally:
                again.end()
        pipeline.verify_must_be_fine(bench, run.folder)
        return Outcome(fired, notes={f"status {status}": fired, "missed": fired == 0})

    @staticmethod
    def figure(_samples, notes):
        return (f"right at once {notes.get('status 0', 0)}; " +
                ", ".join(f"status {code} and right next time {notes[f'status {code}']}"
                          for code in sorted(ALLOWED - {0}) if notes.get(f"status {code}")) +
                f"; {notes.get('missed', 0)} not reached")
