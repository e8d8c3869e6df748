"""Limits of the system for a run: addresses (ulimit -v), memory groups of both versions, and
inputs that are no files."""

import os
import resource
import socket
import subprocess

from . import pipeline
from .trials import Outcome, Skipped, Trial, counts


def machine_bytes():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


class Addresses:
    """Limits addresses to a share of the machine's memory, which is far more than such a run
    needs."""

    PROMISE = "P14"
    TEXT = "a limit of addresses (ulimit -v) that leaves room for the budget changes nothing"
    UNIT = "limits"
    SHARES = [0.1, 0.25, 0.5, 0.9, 1.0, 1.5]

    @staticmethod
    def plan(bench, level):
        shares = Addresses.SHARES * {"quick": 1, "full": 5}[level]
        return [Trial(f"share-{i}-{share}", lambda room, rng, share=share: Addresses._limit(bench, room, rng, share))
                for i, share in enumerate(shares)]

    @staticmethod
    def _limit(bench, room, rng, share):
        reference = bench.reference(pipeline.TINY)
        size = max(int(machine_bytes() * share), 1 << 30) + rng.randrange(1 << 22)
        budget = ("--memory", "768M") if rng.random() < 0.5 else ()
        run = pipeline.Run(bench, pipeline.TINY, os.path.join(room, "run"), arguments=budget,
                           limits=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))).start()
        try:
            status = run.wait()
            if status != 0:
                raise pipeline.Violation(f"{size >> 20} MB of addresses: status {status}: {run.said()}")
            reference.must_equal(run)
        finally:
            run.end()
        return Outcome(1)

    @staticmethod
    def figure(_samples, _notes):
        return "status 0 and the same bytes each time"


class Groups:
    """Runs in a memory group below the top. The version that the machine lacks is tested on a
    made-up tree of files (host_test)."""

    PROMISE = "P14"
    TEXT = "the limit of a memory group at any level is seen: status 71 with a word of memory, or the right result"
    UNIT = "groups"
    LIMITS_MB = [32, 48, 64, 96, 128, 192, 256, 512]

    @staticmethod
    def plan(bench, level):
        limits = Groups.LIMITS_MB[::2] if level == "quick" else Groups.LIMITS_MB * 3
        trials = [Trial(f"group-{i}-{size}M", lambda room, rng, size=size: Groups._limit(bench, room, rng, size))
                  for i, size in enumerate(limits)]
        return trials + [Trial("made-up-trees", lambda _room, _rng: Groups._made_up(bench))]

    @staticmethod
    def _made_up(bench):
        program = os.path.join(os.path.dirname(os.path.dirname(bench.program("graphmill"))), "tests", "host_test")
        if not os.path.exists(program):
            raise Skipped("host_test is not built")
        status, answer, said = pipeline.call([program])
        if status != 0:
            raise pipeline.Violation(f"made-up groups of versions 1 and 2: {answer[-400:]}{said[-400:]}")
        return Outcome(1, notes={"both versions on made-up trees": 1})

    @staticmethod
    def _make(name):
        """Makes a group with a group in it, of the existing version; the outer one gets the
        limit."""
        for above, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            outer = os.path.join(above, name)
            try:
                os.mkdir(outer)
            except OSError:
                continue
            inner = os.path.join(outer, "job")
            try:
                if os.access(os.path.join(outer, file), os.W_OK):
                    os.mkdir(inner)
                    return outer, inner, file
            except OSError:
                pass
            os.rmdir(outer)
        raise Skipped("no memory group can be made here")

    @staticmethod
    def _limit(bench, room, rng, size_mb):
        reference = bench.reference(pipeline.TINY)
        outer, inner, file = Groups._make(f"graphmill-faults-{os.getpid()}-{rng.randrange(1 << 30)}")
        run = None
        try:
            with open(os.path.join(outer, file), "w", encoding="ascii") as out:
                out.write(str(size_mb << 20))

            def join():
                with open(os.path.join(inner, "cgroup.procs"), "w", encoding="ascii") as out:
                    out.write(str(os.getpid()))

            # more than there is, so the kernel may kill
            budget = ("--memory", "2G") if rng.random() < 0.3 else ()
            run = pipeline.Run(bench, pipeline.TINY, os.path.join(room, "run"), arguments=budget, limits=join).start()
            status, said = run.wait(), run.said()
            # The kernel may kill the driver itself; then nobody reports anything.
            if status not in (0, 71) and not (budget and status == -9):
                raise pipeline.Violation(f"a group of {size_mb} MB: status {status}: {said}")
            if status == 71 and "memory" not in str(said):
                raise pipeline.Violation(f"a group of {size_mb} MB: 71 without a word of memory: {said}")
            if status == 0:
                reference.must_equal(run)
        finally:
            if run:
                run.end()
            for folder in (inner, outer):
                try:
                    os.rmdir(folder)
                except OSError:
                    pass
        return Outcome(1, notes={f"status {status}": 1})

    figure = staticmethod(counts)


class SpecialFiles:
    """Replaces one input by a FIFO, a socket or a device."""

    PROMISE = "P15"
    TEXT = "an input that is no file is refused by its name with 65, at once; the mended input is read by the same command"
    UNIT = "inputs"
    FILES = {"edges.csv": "src,dst\n0,1\n1,2\n2,3\n3,4\n4,5\n5,0\n", "node-label.csv": "0\n1\n0\n1\n0\n1\n",
             "node-feat.csv": "1,2\n2,3\n3,4\n4,5\n5,6\n6,7\n", "meta.json": '{"num_nodes": 6, "directed": false}\n',
             "train.csv": "0\n1\n2\n3\n", "valid.csv": "4\n", "test.csv": "5\n"}
    KINDS = {"FIFO": os.mkfifo, "device": lambda path: os.symlink("/dev/zero", path),
             "socket": lambda path: socket.socket(socket.AF_UNIX).bind(path)}

    @staticmethod
    def plan(bench, level):
        pairs = [(name, kind) for name in SpecialFiles.FILES for kind in SpecialFiles.KINDS]
        pairs = pairs if level == "full" else [pair for pair in pairs if pair[1] == "FIFO"]
        return [Trial(f"{kind}-{name}", lambda room, _rng, name=name, kind=kind: SpecialFiles._refuse(bench, room, name, kind))
                for name, kind in pairs]

    @staticmethod
    def _refuse(bench, room, name, kind):
        graph, settings = os.path.join(room, "g"), os.path.join(room, "g.yaml")
        os.makedirs(graph)
        for file, text in SpecialFiles.FILES.items():
            with open(os.path.join(graph, file), "w", encoding="ascii") as out:
                out.write(text)
        with open(settings, "w", encoding="ascii") as out:
            out.write("name: g\ningest: {path: g}\n")
        path = os.path.join(graph, name)
        os.remove(path)
        SpecialFiles.KINDS[kind](path)
        command = [bench.program("graphmill-ingest"), "--store", f"dir:{room}/store", "--pipeline", settings]
        try:
            status, _, said = pipeline.call(command, timeout=20)
        except subprocess.TimeoutExpired as gone:
            raise pipeline.Violation(f"{name} is a {kind}: nothing in 20 s") from gone
        if status != 65 or f"{name} is a {kind}" not in said:
            raise pipeline.Violation(f"{name} is a {kind}: status {status}: {said[-300:]}")
        os.remove(path)
        with open(path, "w", encoding="ascii") as out:
            out.write(SpecialFiles.FILES[name])
        status, _, said = pipeline.call(command, timeout=60)
        if status != 0:
            raise pipeline.Violation(f"{name} is mended: status {status}: {said[-300:]}")
        return Outcome(1)

    @staticmethod
    def figure(_samples, _notes):
        return "65 each time"
