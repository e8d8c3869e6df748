"""Faults of a machine: clocks that step, equal pids and host names, full disks, little memory,
slow workers."""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import threading
import time

from . import losses, pipeline, processes, shim
from .trials import Outcome, Skipped, Trial, counts

TEN_YEARS_S = 315_576_000


# --- clocks and names ---


class Clocks:
    """The wall clock of workers and Redis steps during the run; workers of two containers share
    pids and host name."""

    PROMISE = "P7"
    TEXT = "clocks that step by up to ten years, and containers with equal pids and host names, change nothing"
    UNIT = "runs"

    @staticmethod
    def plan(bench, level):
        steps, pairs = {"quick": (6, 2), "full": (60, 15)}[level]
        return ([Trial(f"step-{i}", lambda room, rng: Clocks._step(bench, room, rng)) for i in range(steps)] +
                [Trial(f"containers-{i}", lambda room, rng: Clocks._containers(bench, room, rng)) for i in range(pairs)])

    @staticmethod
    def _step(bench, room, rng):
        reference = bench.reference(pipeline.SMALL)
        folder = os.path.join(room, "run")
        pipeline.copy(reference.prepared, folder)
        board = shim.Board(os.path.join(room, "board"))
        programs = rng.choice([["redis-server"], shim.PROGRAMS[3:8], shim.PROGRAMS, [rng.choice(shim.PROGRAMS)]])
        run = pipeline.Run(bench, pipeline.SMALL, folder, workers=rng.choice([1, 2]),
                           environment=shim.environment(bench.shim, board, clocks=programs)).start()
        steps = 0
        try:
            while run.running() and steps < 8:
                processes.wait(run.child, rng.uniform(0.02, 0.2))
                step = rng.choice([1, 30, 120, 3600, 86_400, TEN_YEARS_S])
                board.set_clock(rng.choice([-step, step]))
                steps += 1
            pipeline.run_until_done(run, reference, tries=0)
            pipeline.verify_must_be_fine(bench, folder)
        finally:
            run.end()
            board.close()
        return Outcome(1, notes={"steps of the clock": steps})

    @staticmethod
    def _containers(bench, room, rng):
        """Two sets of workers take each other's name for their own: same host name, same pids,
        one store."""
        unshare = ["unshare", "--pid", "--uts", "--fork", "--mount-proc", "--kill-child"]
        if os.geteuid() != 0 or subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
            raise Skipped("two containers: only root can make namespaces")
        reference = bench.reference(pipeline.SMALL)
        folder = os.path.join(room, "run")
        pipeline.copy(reference.prepared, folder)
        server, path = losses.own_redis(room)
        workers = []
        try:
            url = "unix:" + path
            yaml = bench.yaml(pipeline.SMALL)
            subprocess.run([bench.program("graphmill"), "start", yaml, "--directory", folder, "--redis", url],
                           check=True, capture_output=True, timeout=60)
            script = Clocks._script(bench, folder, yaml, url)
            for number in range(2):
                with open(os.path.join(room, f"container-{number}.log"), "wb") as log:
                    workers.append(subprocess.Popen([*unshare, "bash", "-c", script], stdout=log, stderr=log,
                                                    start_new_session=True))
            Clocks._kill_some(workers, room, rng, folder)
            run = pipeline.Run(bench, pipeline.SMALL, folder, arguments=("--redis", url))
            pipeline.run_until_done(run.start(), reference)
            pipeline.verify_must_be_fine(bench, folder)
        finally:
            for worker in workers:
                processes.end_session(worker.pid)
                worker.wait()
            server.kill()
            server.wait()
        return Outcome(1, notes={"two containers": 1})

    @staticmethod
    def _script(bench, folder, yaml, url):
        """Each worker is started again whenever it ends, like a Job; with default names: host
        and pid."""
        lines = ["hostname same-name"]
        for stage in shim.PROGRAMS[3:8]:
            lines.append(f"while true; do {bench.program(stage)} --store dir:{folder}/store --pipeline {yaml} --redis {url} "
                         f"--threads 1 --lease 500 --scratch {folder}/.. && break; sleep 0.1; done &")
        return "\n".join([*lines, "wait"])

    @staticmethod
    def _kill_some(workers, room, rng, folder):
        until = time.monotonic() + 60
        while any(worker.poll() is None for worker in workers):
            if time.monotonic() > until:
                raise pipeline.Violation("HANG: two containers have not finished within 60 s: " +
                                         pipeline.tail(os.path.join(room, "container-0.log")))
            time.sleep(rng.uniform(0.1, 0.4))
            victims = [pid for worker in workers for pid, name in processes.children(worker.pid).items()
                       if name.startswith("graphmill-")]
            if victims and rng.random() < 0.5:
                processes.send(rng.choice(victims), rng.choice([signal.SIGKILL]))

    @staticmethod
    def figure(_samples, notes):
        return (f"{notes.get('steps of the clock', 0)} steps of 1 s to 10 years, both ways; "
                f"{notes.get('two containers', 0)} runs by two containers with equal pids and host name, workers killed")


# --- full disks ---


class FullDisk:
    """The run's folder is on a file system that is filled, stays full for a while, and then has
    room again."""

    PROMISE = "P13"
    TEXT = "a full disk is a pause: the run goes on by itself when there is room"
    UNIT = "times full"

    @staticmethod
    def plan(bench, level):
        return [Trial(f"fill-{i}", lambda room, rng: FullDisk._fill(bench, room, rng))
                for i in range({"quick": 4, "full": 60}[level])]

    @staticmethod
    def _fill(bench, room, rng):
        mount = os.path.join(room, "disk")
        os.makedirs(mount)
        with small_file_system(mount):
            folder = os.path.join(mount, "run")
            reference = bench.reference(pipeline.SMALL)
            if rng.random() < 0.7:
                pipeline.copy(reference.prepared, folder)
            run = pipeline.Run(bench, pipeline.SMALL, folder)
            run.answer_path, run.error_path = os.path.join(room, "answer"), os.path.join(room, "progress")
            run.start()
            try:
                full_s, resumed_s = FullDisk._full_for_a_while(run, mount, rng)
                status = run.wait()
                if status != 0:
                    raise pipeline.Violation(f"full for {full_s:.1f} s: status {status}: {run.said()}")
                reference.must_equal(run)
                pipeline.verify_must_be_fine(bench, folder)
            except pipeline.Violation:
                shutil.copytree(os.path.join(folder, "logs"), os.path.join(room, "logs"), dirs_exist_ok=True)
                raise
            finally:
                run.end()
        return Outcome(1, {"full_s": [full_s], "resumed_s": resumed_s})

    @staticmethod
    def _full_for_a_while(run, mount, rng):
        """Returns (seconds it was full, [seconds from room to the next stored file])."""
        processes.wait(run.child, rng.uniform(0.05, 0.6))
        ballast = os.path.join(mount, "ballast")
        fill(ballast, mount, leave=rng.choice([0, 4096, 100_000]))
        full_s = rng.uniform(0.5, 4)
        until = time.monotonic() + full_s
        while time.monotonic() < until and run.running():
            time.sleep(0.05)
            with contextlib.suppress(OSError):
                fill(ballast, mount, leave=0)
        os.unlink(ballast)
        freed, before = time.monotonic(), run.progress()
        while run.running() and run.progress() == before and time.monotonic() - freed < pipeline.HANG_SECONDS:
            time.sleep(0.02)
        return full_s, [time.monotonic() - freed]

    @staticmethod
    def figure(samples, _notes):
        resumed = sorted(samples.get("resumed_s", [0]))
        return (f"full for {sum(samples.get('full_s', [])):.0f} s in all; the next file stored "
                f"{resumed[len(resumed) // 2]:.2f} s after there was room (median), {resumed[-1]:.2f} s at most")


@contextlib.contextmanager
def small_file_system(folder):
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], capture_output=True, check=False)
    if made.returncode != 0:
        raise Skipped("a full disk: only root can mount one")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=False)


def fill(path, mount, leave):
    """Appends to a file until at most `leave` bytes are free."""
    with open(path, "ab") as file:
        while True:
            stat = os.statvfs(mount)
            free = stat.f_bavail * stat.f_frsize - leave
            if free <= 0:
                return
            try:
                os.write(file.fileno(), bytes(min(free, 1 << 20)))
            except OSError:
                return


# --- memory ---


class Memory:
    """Limits addresses, from far too few to enough: 71 is accepted only below ENOUGH_MB."""

    PROMISE = "P14"
    TEXT = "too little memory: status 71 (or 75) with a word, or the right result; the next run is right"
    UNIT = "limits"
    # Below 256 MB the start of OpenBLAS tries for ever to get its buffer, before main() is reached.
    SIZES_MB = [256, 272, 288, 304, 320, 336, 352, 368, 384, 400, 416, 448, 480, 512, 576, 640, 704, 768, 896, 1024, 2048, 16384]
    ENOUGH_MB = 768

    @staticmethod
    def plan(bench, level):
        sizes = Memory.SIZES_MB[::3] if level == "quick" else Memory.SIZES_MB * 3
        return [Trial(f"limit-{i}-{size}M", lambda room, rng, size=size: Memory._limit(bench, room, rng, size))
                for i, size in enumerate(sizes)]

    @staticmethod
    def _limit(bench, room, rng, size_mb):
        reference = bench.reference(pipeline.TINY)
        folder = os.path.join(room, "run")
        if rng.random() < 0.5:
            pipeline.copy(reference.prepared, folder)
        size = (size_mb << 20) + rng.randrange(1 << 22)
        run = pipeline.Run(bench, pipeline.TINY, folder,
                           limits=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))).start()
        try:
            status = run.wait()
            said = run.said()
            if status != 0 and size_mb >= Memory.ENOUGH_MB:
                raise pipeline.Violation(f"{size_mb} MB of address space are enough, but: status {status}: {said}")
            if status not in (0, 71, 75):
                raise pipeline.Violation(f"{size_mb} MB of address space: status {status}: {said}")
            if status != 0 and not said:
                raise pipeline.Violation(f"{size_mb} MB of address space: status {status} without a word")
            if status != 0:
                run = run.again()
                run.must_end_well()
            reference.must_equal(run)
        finally:
            run.end()
        return Outcome(1, notes={f"status {status}": 1})

    figure = staticmethod(counts)


# --- a slow worker ---


class Slow:
    """One of two workers of a stage runs for a tenth of the time."""

    PROMISE = "P16"
    TEXT = "a ten times slower worker holds up a run by little, and changes nothing"
    UNIT = "runs"

    @staticmethod
    def plan(bench, level):
        return [Trial(f"slow-{i}", lambda room, rng, i=i: Slow._run(bench, room, i))
                for i in range({"quick": 2, "full": 10}[level])]

    @staticmethod
    def _run(bench, room, number):
        reference = bench.reference(pipeline.LONG)
        seconds = []
        for slowed in (False, True):
            folder = os.path.join(room, f"run-{slowed}")
            pipeline.copy(reference.prepared, folder)
            run = pipeline.Run(bench, pipeline.LONG, folder, workers=2, lease=1000).start()
            done = threading.Event()
            stage = ["graphmill-train-step", "graphmill-sample", "graphmill-aggregate"][number % 3]
            brake = threading.Thread(target=Slow._brake, args=(run, stage, done))
            try:
                if slowed:
                    brake.start()
                pipeline.run_until_done(run, reference, tries=0)
            finally:
                done.set()
                if slowed:
                    brake.join()
                run.end()
            seconds.append(run.seconds)
        return Outcome(1, {"ratio": [seconds[1] / seconds[0]]})

    @staticmethod
    def _brake(run, stage, done):
        """Suspends one worker of the stage for 90 of every 100 ms."""
        while not done.is_set() and run.running():
            pids = sorted(pid for pid, name in run.programs().items() if name == stage)
            if not pids or not processes.send(pids[0], signal.SIGSTOP):
                time.sleep(0.01)
                continue
            time.sleep(0.09)
            processes.send(pids[0], signal.SIGCONT)
            time.sleep(0.01)

    @staticmethod
    def figure(samples, _notes):
        ratios = sorted(samples.get("ratio", [0]))
        return f"the whole run takes {ratios[len(ratios) // 2]:.2f} times as long (median), {ratios[-1]:.2f} at most"
