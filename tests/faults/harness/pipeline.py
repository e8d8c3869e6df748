"""The pipelines of the trials: settings, folders, the driver, and the expected results."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from . import places, processes, relations, times
from .places import list_folder

HANG_SECONDS = 30
TRY_AGAIN = 75
GENERATED = """  format: generated
  nodes: {nodes}
  average_degree: 6
  classes: 4
  feature_dim: 8"""
INGEST = {
    "generated": GENERATED,
    "subgraphs": GENERATED,
    "ranges": GENERATED,
    "gradients": GENERATED,
    "stale": GENERATED,
    "stale_up_to": GENERATED,
    "warm": GENERATED,
    "layers": GENERATED,
    "vertex_cut": GENERATED,
    "links": GENERATED + """
  task: link_prediction
  edge_split: random 80/10/10""",
    "times": """  format: edge_list
  path: {folder}/edges
  labels: {folder}/labels
  features: degree+random
  random_dim: 6
  split: random 60/20/20""",
    "relations": """  path: {folder}
  relations: true
  add_reverse: true
  missing_features: degree+random
  random_dim: 6""",
    "relation_links": """  path: {folder}
  relations: true
  add_reverse: true
  missing_features: degree+random
  random_dim: 6
  task: link_prediction
  edge_split: random 80/10/10""",
    "relation_layers": """  path: {folder}
  relations: true
  add_reverse: true
  missing_features: degree+random
  random_dim: 6""",
    "embeddings": """  path: {folder}
  relations: true
  add_reverse: true"""}
MODEL = {"generated": "sage", "links": "sage", "subgraphs": "gcn", "ranges": "sage", "stale": "sage", "stale_up_to": "sage", "warm": "sage", "layers": "sage", "vertex_cut": "sage", "gradients": "sage", "times": "sage", "relations": "rgcn",
         "relation_links": "rgcn", "relation_layers": "rgcn", "embeddings": "rgcn"}
# for each training node of the others; batches are larger by this factor
EXAMPLES = {"links": 12, "relation_links": 6, "ranges": 0.5, "layers": 0.5, "relation_layers": 0.5}
SAMPLER = {  # if it differs from that of the others
    "subgraphs": """  sampler: graphsaint_walk
  walk_length: 2
  sample_coverage: 5
""",
    "times": "  sampler: temporal_neighbor\n"}
LEARNT = {"embeddings": """  embedding: 8
  type_embedding: "venue: 5"
""",
    "gradients": """  gradient: top_k
  gradient_kept: 0.05
""",
    "layers": "  pipeline: layers\n",
    "relation_layers": "  pipeline: layers\n",
    "warm": "  initial: {folder}/cold\n"}
METHOD = {"vertex_cut": "two_phase_hdrf", "relation_layers": "hdrf"}  # of partition
SLOTS = {"ranges": 5, "layers": 5, "relation_layers": 5}  # if a round does not have two
AGGREGATE = {"ranges": """aggregate:
  ranges: 3
  fan_in: 2
""",
             "stale": """aggregate:
  staleness: 2
  compensation: gradient
""",
             "stale_up_to": """aggregate:
  staleness: up_to 2
  compensation: gradient
"""}
CHOOSES = ("stale_up_to",)  # the result depends on what happened, which the records show
REPLAYS = 3  # rounds of such a run that are replayed
YAML = """name: faults
epochs: {epochs}
ingest:
{ingest}
partition:
  method: {method}
  parts: {parts}
sample:
{sampler}  fanouts: [3, 3]
  batch_size: {batch}
  batches_per_round: {slots}
train-step:
  model: {model}
  hidden: {hidden}
  dropout: 0.1
{learnt}{aggregate}checkpoint:
  keep: {keep}
"""


class Violation(Exception):
    """A promise was broken."""


class Setting:
    """A pipeline file and its sizes."""

    def __init__(self, name, nodes=300, epochs=2, parts=2, batch=40, hidden=8, keep=2):
        self.name, self.nodes = name, nodes
        self.sizes = {"epochs": epochs, "parts": parts, "batch": batch, "hidden": hidden, "keep": keep}

    def text(self, graph, folder):
        """Returns the file for a graph of INGEST; `folder` is that of its files, if it has any."""
        ingest = INGEST[graph].format(nodes=self.nodes, folder=folder)
        sizes = dict(self.sizes, batch=int(self.sizes["batch"] * EXAMPLES.get(graph, 1)))
        return YAML.format(ingest=ingest, model=MODEL[graph], sampler=SAMPLER.get(graph, ""), learnt=LEARNT.get(graph, "").format(folder=folder),
                           slots=SLOTS.get(graph, 2), method=METHOD.get(graph, "metis"), aggregate=AGGREGATE.get(graph, ""), **sizes)


TINY = Setting("tiny")
SMALL = Setting("small", nodes=600, epochs=25, parts=3, batch=40)
ALL_KEPT = Setting("all-kept", nodes=300, epochs=3, keep=0)
WIDE = Setting("wide", nodes=20000, epochs=40, parts=4, batch=512, hidden=64)
LONG = Setting("long", nodes=600, epochs=200, parts=3, batch=40)


class Bench:
    """The folder of the programs, a scratch folder, and the undisturbed run of each setting,
    made once."""

    def __init__(self, bin_folder, shim, keep_folder, seed, graph="generated", place="inside"):
        self.bin = bin_folder
        self.graph = graph
        self.shim = shim
        self.keep_folder = keep_folder
        self.seed = seed
        self.scratch = tempfile.mkdtemp(prefix="graphmill-faults-", dir=scratch_base())
        self._references = {}
        self._lock = threading.Lock()
        self._kept = 0
        self.counting = threading.Lock()
        self.counted = None
        self.place = places.place_of(place, self.scratch)
        self.sessions = set()  # of started drivers; most have ended

    def close(self):
        for session in list(self.sessions):
            processes.end_session(session)
        self.place.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    @property
    def is_variant(self):
        """Returns whether the setting mostly runs the same code as the generated graph; quick
        then tries half as much of it."""
        return self.graph != "generated"

    def program(self, name):
        return os.path.join(self.bin, name)

    def yaml(self, setting):
        path = os.path.join(self.scratch, setting.name + ".yaml")
        if not os.path.exists(path):
            with open(path + f".{threading.get_ident()}", "w", encoding="utf-8") as file:
                file.write(setting.text(self.graph, self._graph_folder(setting)))
            os.rename(file.name, path)
        return path

    def _graph_folder(self, setting):
        folder = os.path.join(self.scratch, f"graph-{setting.name}" if self.graph == "warm" else f"graph-{setting.nodes}")
        if self.graph in ("relations", "relation_links", "relation_layers", "embeddings"):
            relations.write(folder, setting.nodes, self.graph in ("relations", "relation_layers"))
        if self.graph == "times":
            times.write(folder, setting.nodes)
        if self.graph == "warm" and not os.path.exists(os.path.join(folder, "cold")):
            self._run_cold(setting, folder)
        return folder

    def _run_cold(self, setting, folder):
        """Returns the run whose weights other runs begin with."""
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "cold.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(setting.text("generated", folder))
        subprocess.run([self.program("graphmill"), "run", path, "--directory", os.path.join(folder, "cold"), "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)

    def reference(self, setting):
        """Returns the undisturbed run of a setting; its folder must not be changed."""
        with self._lock:
            if setting.name not in self._references:
                self._references[setting.name] = Reference(self, setting)
            return self._references[setting.name]

    def room(self, name):
        path = os.path.join(self.scratch, name)
        os.makedirs(path)
        return path

    def leave(self, room, broken):
        """Removes the folder of a trial, or keeps it for the first few violations."""
        with self._lock:
            self._kept += broken
            kept = broken and self._kept <= 20
        if kept:
            os.makedirs(self.keep_folder, exist_ok=True)
            target = os.path.join(self.keep_folder, os.path.basename(room))
            shutil.rmtree(target, ignore_errors=True)
            subprocess.run(["cp", "-a", room, target], check=False)
        make_writable(room)
        shutil.rmtree(room, ignore_errors=True)


def scratch_base():
    """Returns a folder in memory if there is one, because trials flush thousands of files."""
    if os.environ.get("TMPDIR"):
        return os.environ["TMPDIR"]
    shared = "/dev/shm"
    try:
        free = os.statvfs(shared)
        if os.access(shared, os.W_OK) and free.f_bavail * free.f_frsize > 1 << 30:
            return shared
    except OSError:
        pass
    return "/tmp"


def make_writable(folder):
    for path, folders, _ in os.walk(folder):
        for name in folders:
            os.chmod(os.path.join(path, name), 0o755)


class Reference:
    """Prepared: a folder whose store has only dataset and partition. Whole: the finished run."""

    def __init__(self, bench, setting):
        self.setting = setting
        self.whole = os.path.join(bench.scratch, f"reference-{setting.name}")
        run = Run(bench, setting, self.whole)
        run.must_end_well()
        self.seconds = run.seconds
        self.result = run.result()
        again = run.again()
        again.must_end_well()
        if again.result() != self.result:
            raise Violation(f"the same command again changes a finished run: {self.result} {again.result()}")
        self.prepared = os.path.join(bench.scratch, f"prepared-{setting.name}")
        if not bench.place.can_be_copied:
            return
        copy(self.whole, self.prepared)
        for name in ("run", "switch/run", "switch/current/run"):
            shutil.rmtree(os.path.join(self.prepared, "store", name), ignore_errors=True)
        for name in ("outputs", "metrics.jsonl"):
            if os.path.islink(os.path.join(self.prepared, name)):
                os.unlink(os.path.join(self.prepared, name))

    def must_equal(self, run, damage=None):
        """Requires equal results. damage: "unseen": records that were not read may be damaged,
        so those of a run that keeps its choices are not made again; "healed": choices of rounds
        that are not kept may be lost."""
        found = run.result()
        if run.bench.graph in CHOOSES:
            if damage != "unseen" or found != self.result:
                must_replay(run, found, damage == "healed")
        elif found != self.result:
            names = [name for name in sorted(self.result.keys() | found.keys()) if self.result.get(name) != found.get(name)]
            raise Violation("WRONG RESULT: " + ", ".join(
                f"{name} is {found.get(name)}, undisturbed {self.result.get(name)}" for name in names))


def must_replay(run, found, may_lack_choices=False):
    """The course of this run is its own. So units are made again from its records, including the
    first and the last kept ones, and must be equal; each round must have a choice, and the same
    command must change nothing."""
    rounds = sorted(int(name) for store in run.bench.place.stores(run.folder) for path in list_folder(os.path.join(store, "run"))
                    for name in list_folder(os.path.join(store, "run", path, "round"))
                    if os.path.exists(os.path.join(store, "run", path, "round", name, "base.record")))
    with open(run.answer_path, encoding="utf-8") as file:
        count = json.loads(file.read())["rounds"]
    kept = [number for number in range(count) if run.has_gradients(number)]
    if not set(kept if may_lack_choices else range(count)) <= set(rounds):
        raise Violation(f"choices of the rounds {rounds}, of {count}")
    step = max(1, len(kept) // REPLAYS)
    for number in sorted({*kept[::step], *kept[-1:]}):
        for unit in (["train-step", "--slot", "0"], ["aggregate"]):
            done = subprocess.run([run.bench.program("graphmill"), "replay", run.folder, unit[0], "--round", str(number), *unit[1:]],
                                  capture_output=True, text=True, errors="replace", timeout=120, check=False)
            # A run that was set back may have gradients of rounds whose mini-batches are gone.
            is_pruned = number != kept[-1] and "was pruned or never made" in done.stderr
            if not done.stdout.startswith("MATCH") and not is_pruned:
                raise Violation(f"WRONG RESULT: round {number} of {unit[0]} does not replay: {done.stdout} {done.stderr[-300:]}")
    again = run.again()
    status = again.wait()
    if status != 0:
        raise Violation(f"the same command again ends with {status}: {again.said()}")
    if again.result() != found:
        raise Violation(f"the same command again ends with {again.result()}, before with {found}")


def copy(source, target):
    subprocess.run(["cp", "-a", source, target], check=True)


def tail(path, lines=2):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return " | ".join(line.strip() for line in file.read().splitlines()[-lines:])
    except OSError:
        return ""


class Run:
    """`graphmill run` in a folder, under supervision."""

    def __init__(self, bench, setting, folder, workers=1, lease=500, arguments=(), environment=None, limits=None):
        self.bench, self.setting, self.folder = bench, setting, folder
        self.workers, self.lease, self.arguments = workers, lease, tuple(arguments)
        self.environment = environment or {}
        self.limits = limits
        self.child = None
        self.started = self.seconds = 0.0
        self.answer_path, self.error_path = folder + ".answer", folder + ".progress"

    def command(self):
        uri = self.bench.place.uri(self.folder)
        return [self.bench.program("graphmill"), "run", self.bench.yaml(self.setting), "--directory", self.folder,
                *(["--store", uri] if uri else []), "--quiet", "--json", "--workers", str(self.workers), "--lease", str(self.lease), *self.arguments]

    def start(self):
        with open(self.answer_path, "wb") as answer, open(self.error_path, "ab") as error:
            self.child = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=answer, stderr=error,
                                          env={**os.environ, **self.environment}, start_new_session=True,
                                          preexec_fn=self.limits)
        self.bench.sessions.add(self.child.pid)
        self.started = time.monotonic()
        return self

    def again(self, **changed):
        """Runs the same command, undisturbed unless said otherwise."""
        settings = {"workers": self.workers, "lease": self.lease, "arguments": self.arguments, **changed}
        return Run(self.bench, self.setting, self.folder, **settings).start()

    def running(self):
        return self.child.poll() is None

    def progress(self):
        """Returns a value that changes whenever something is stored."""
        return self.bench.place.progress(self.folder)

    def wait(self, look=None):
        """Returns the exit status. A run that stores nothing for HANG_SECONDS is a violation. It
        calls look() meanwhile."""
        seen, since = -1, time.monotonic()
        while processes.wait(self.child, 2) is None:
            if look:
                look()
            now = self.progress()
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > HANG_SECONDS:
                self.end()
                raise Violation(f"HANG: nothing stored for {HANG_SECONDS} s; {self.said()}")
        self.seconds = time.monotonic() - self.started
        self.bench.sessions.discard(self.child.pid)
        return self.child.returncode

    def end(self):
        """Ends the run with all its programs."""
        if self.child:
            processes.end_session(self.child.pid)
            self.child.wait()
            self.bench.sessions.discard(self.child.pid)

    def said(self):
        return tail(self.error_path)

    def must_end_well(self):
        if not self.child:
            self.start()
        status = self.wait()
        if status != 0:
            raise Violation(f"status {status}: {self.said()}")

    def result(self):
        """Returns the hash of the weights, and of each file of the outputs."""
        with open(self.answer_path, encoding="utf-8") as file:
            text = file.read()
        try:
            found = {"weights": json.loads(text)["weights_hash"]}
        except (ValueError, KeyError) as error:
            raise Violation(f"no answer in {text[:200]!r}") from error
        return {**found, **output_hashes(self.folder)}

    def wait_for_weights(self, version):
        """Waits until they are stored, or the run has ended; like wait(), it does not wait for
        ever."""
        seen, since = -1, time.monotonic()
        while self.running() and seen < version:
            now = self.newest_weights()
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > HANG_SECONDS:
                self.end()
                raise Violation(f"HANG: after weights {seen} nothing for {HANG_SECONDS} s; {self.said()}")
            time.sleep(0.003)

    def has_gradients(self, number):
        """Returns whether all records that a replay of this round reads exist."""
        return any(os.path.exists(os.path.join(store, "run", run, "round", f"{number:010d}", "slot", "00000", "gradient.record"))
                   for store in self.bench.place.stores(self.folder) for run in list_folder(os.path.join(store, "run")))

    def programs(self):
        """Returns {pid: name} of the programs that the driver has started."""
        return processes.children(self.child.pid)

    def redis_path(self):
        """Returns the socket of the private Redis, or None if there is none."""
        try:
            with open(os.path.join(self.folder, "redis", "url"), encoding="utf-8") as file:
                return file.read().removeprefix("unix:")
        except OSError:
            return None

    def newest_weights(self):
        """Returns the version of the newest weights, -1 before there are any."""
        return self.bench.place.newest_weights(self.folder)


def output_hashes(folder):
    """Returns {file: sha256} of outputs/ and of metrics.jsonl."""
    found = {}
    outputs = os.path.join(folder, "outputs")
    for name in sorted(list_folder(outputs)):
        if not name.startswith("."):
            found[name] = file_hash(os.path.join(outputs, name))
    metrics = os.path.join(folder, "metrics.jsonl")
    if os.path.exists(metrics):
        found["metrics.jsonl"] = file_hash(metrics)
    return found


def file_hash(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


def call(words, timeout=300):
    """Returns (status, answer, stderr) of a command."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=timeout, check=False)
    return done.returncode, done.stdout, done.stderr


def verify(bench, folder, *arguments):
    """Returns (status, output) of `graphmill verify`."""
    status, answer, said = call([bench.program("graphmill"), "verify", folder, *arguments], timeout=120)
    return status, answer + said


def verify_must_be_fine(bench, folder):
    status, text = verify(bench, folder)
    lost = bench.place.may_lack_records and " damaged=0 " in text
    if status != 0 and not lost:
        raise Violation(f"verify says {status} at the end: {' | '.join(text.splitlines()[:3])}")


def run_until_done(run, reference, tries=6):
    """After a disturbance the same command, repeated as long as it says "try again", ends well
    with the right result."""
    status = run.wait()
    while status == TRY_AGAIN and tries > 0:
        tries -= 1
        time.sleep(0.2)
        run = run.again()
        status = run.wait()
    if status != 0:
        raise Violation(f"status {status}: {run.said()}")
    reference.must_equal(run)
    return run


def kill_driver(run):
    """Kills the driver with SIGKILL; the programs that it started end by themselves."""
    processes.send(run.child.pid, signal.SIGKILL)
    run.child.wait()
    until = time.monotonic() + 10
    while processes.of_session(run.child.pid):
        if time.monotonic() > until:
            left = processes.of_session(run.child.pid)
            names = [processes.program(pid) for pid in left]
            run.end()
            raise Violation(f"10 s after the driver was killed there still run {names}")
        time.sleep(0.01)
