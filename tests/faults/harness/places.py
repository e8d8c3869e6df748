"""The places of a run's store: in its folder, in two folders as a tiered store, in a bucket of a
real SeaweedFS, or in a real Redis Cluster."""

import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time

from . import stored
from .redis_client import Redis, RedisError
from .trials import Skipped

START_SECONDS = 60


class Inside:
    """In the folder of the run, as without --store."""

    can_be_copied = True
    is_one_folder = True
    # of rounds, at the end: nobody makes losses after the last snapshot again
    may_lack_records = False

    def uri(self, _folder):
        return None

    def stores(self, folder):
        """Returns folders in which something appears whenever something is stored."""
        return [os.path.join(folder, "store")]

    def files(self, folder):
        """Returns all stored data that must last, see stored.py."""
        return [file for store in self.stores(folder) for file in stored.of_folder(store)]

    def newest_weights(self, folder):
        """Returns the version of the newest weights, -1 before there are any."""
        weights = [os.path.join(store, "run", run, "weights") for store in self.stores(folder)
                   for run in list_folder(os.path.join(store, "run"))]
        return max((stored.newest_number(list_folder(path)) for path in weights), default=-1)

    def progress(self, folder):
        """Returns a value that changes whenever something is stored."""
        found = 0
        for store in self.stores(folder):
            for path, folders, files in os.walk(store):
                found += len(folders) + len(files) + sum(size_of(os.path.join(path, name)) for name in files)
        return found

    def take_over(self, _folder, with_rounds=False):
        """Prepares `folder`, a copy of another run's folder, which may have copies of its
        rounds."""

    def lose(self, _folder, _rng):
        """Loses what may be lost while programs work; returns what that was, or None."""
        return None

    def close(self):
        pass


class Tiers(Inside):
    """Rounds in fast/, the rest in store/, where the trials look for lasting data."""

    is_one_folder = False
    may_lack_records = True

    def uri(self, folder):
        return f"tiered:dir:{folder}/fast^dir:{folder}/store"

    def stores(self, folder):
        return [os.path.join(folder, "store"), os.path.join(folder, "fast")]

    def take_over(self, folder, with_rounds=False):
        if not with_rounds:
            shutil.rmtree(os.path.join(folder, "fast"), ignore_errors=True)
        with open(os.path.join(folder, "store.uri"), "w", encoding="utf-8") as file:
            file.write(self.uri(folder) + "\n")

    def lose(self, folder, rng):
        aside = os.path.join(folder, f"lost-{rng.randrange(1 << 60)}")
        try:
            os.rename(os.path.join(folder, "fast"), aside)
        except FileNotFoundError:
            return None
        shutil.rmtree(aside, ignore_errors=True)
        return "fast store"


class Bucket(Inside):
    """One server for all trials. A copy of a run's folder has no store."""

    can_be_copied = False
    is_one_folder = False

    def __init__(self, scratch):
        self.folder = os.path.join(scratch, "weed")
        self.child = None
        self.objects = None
        self.endpoint = self._start(self._program())

    @staticmethod
    def _program():
        given = os.environ.get("GRAPHMILL_WEED", "")
        found = given if os.access(given, os.X_OK) else shutil.which("weed")
        if not found:
            raise Skipped("there is no SeaweedFS (program weed) here")
        return found

    def _start(self, program):
        os.environ.update(AWS_ACCESS_KEY_ID="testkey", AWS_SECRET_ACCESS_KEY="test/secret+key")
        os.makedirs(self.folder, exist_ok=True)
        config = os.path.join(self.folder, "s3.json")
        with open(config, "w", encoding="utf-8") as file:
            file.write('{"identities": [{"name": "test", "credentials": [{"accessKey": "testkey", "secretKey": "test/secret+key"}], '
                       '"actions": ["Admin", "Read", "Write", "List"]}]}')
        for _ in range(5):  # another program may have a port; then others are tried
            port = random.randrange(12000, 20000)
            with open(os.path.join(self.folder, "log"), "ab") as log:
                self.child = subprocess.Popen(
                    [program, f"-logdir={self.folder}", "server", f"-dir={self.folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
                     f"-master.port={port}", f"-volume.port={port + 1}", f"-filer.port={port + 2}", "-s3", f"-s3.port={port + 3}",
                     "-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.config={config}", "-master.volumeSizeLimitMB=64"],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            if self._has_bucket(program, port):
                self.objects = stored.Objects(f"http://127.0.0.1:{port + 2}/buckets/graphmill")
                return f"http://127.0.0.1:{port + 3}"
            self.close()
        raise RuntimeError("SeaweedFS does not start")

    def _has_bucket(self, program, port):
        until = time.monotonic() + START_SECONDS
        while self.child.poll() is None and time.monotonic() < until:
            done = subprocess.run([program, f"-logdir={self.folder}", "shell", f"-master=127.0.0.1:{port}", f"-filer=127.0.0.1:{port + 2}"],
                                  input="s3.bucket.create -name graphmill\n", capture_output=True, text=True, timeout=60, check=False)
            if "bucket" in done.stdout and "create" in done.stdout and self._answers(port + 3):
                return True
            time.sleep(0.5)
        return False

    @staticmethod
    def _answers(port):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return False
        return True

    def uri(self, folder):
        return f"s3://graphmill/{room_of(folder)}?endpoint={self.endpoint}"

    def stores(self, _folder):
        return [self.folder]

    def files(self, folder):
        return self.objects.of_store(room_of(folder))

    def newest_weights(self, folder):
        top = room_of(folder) + "/run"
        return max((stored.newest_number(name for name, _ in self.objects.names(f"{top}/{run}/weights"))
                    for run, is_folder in self.objects.names(top) if is_folder), default=-1)

    def close(self):
        if self.child and self.child.poll() is None:
            self.child.send_signal(signal.SIGKILL)
            self.child.wait()


class Cluster(Inside):
    """Three masters for all trials. A copy of a run's folder has no store."""

    can_be_copied = False
    is_one_folder = False

    def __init__(self, scratch):
        if not shutil.which("redis-cli"):
            raise Skipped("there is no redis-cli here")
        self.folder = os.path.join(scratch, "cluster")
        self.children, self.ports = [], []
        # another program may have a port, or that of the bus 10000 above; then others are tried
        for _ in range(8):
            first = random.randrange(12000, 20000)
            if self._start([first, first + 1, first + 2]):
                break
            self.close()
        else:
            raise RuntimeError("no Redis Cluster starts")
        self.masters = stored.Masters(self.ports)

    def _start(self, ports):
        self.ports = ports
        for port in ports:
            folder = os.path.join(self.folder, str(port))
            os.makedirs(folder)
            with open(os.path.join(folder, "log"), "ab") as log:
                self.children.append(subprocess.Popen(
                    ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--save", "",
                     "--appendonly", "no", "--dir", folder], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))
        until = time.monotonic() + START_SECONDS
        while not all(self._says(port, "PING") == b"PONG" for port in ports):
            if time.monotonic() > until or any(child.poll() is not None for child in self.children):
                return False
            time.sleep(0.05)
        made = subprocess.run(["redis-cli", "--cluster", "create", *(f"127.0.0.1:{port}" for port in ports), "--cluster-yes"],
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=START_SECONDS)
        while not all(b"cluster_state:ok" in (self._says(port, "CLUSTER", "INFO") or b"") for port in ports):
            if made.returncode or time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True

    @staticmethod
    def _says(port, *words):
        try:
            with Redis(("127.0.0.1", port)) as redis:
                return redis(*words)
        except (OSError, RedisError):
            return None

    def uri(self, folder):
        return f"redis+cluster://{','.join(f'127.0.0.1:{port}' for port in self.ports)}/{room_of(folder)}"

    def stores(self, _folder):
        return []

    def files(self, folder):
        return self.masters.of_store(room_of(folder))

    def newest_weights(self, folder):
        keys = self.masters.keys(room_of(folder) + "{*}run/*/weights/*!record")
        return stored.newest_number(key.decode().rsplit("/", 1)[1] for key in keys)

    def progress(self, _folder):
        """Returns the number of writes of all masters so far."""
        return sum(int(line.split(b":")[1]) for port in self.ports for line in (self._says(port, "INFO", "persistence") or b"").splitlines()
                   if line.startswith(b"rdb_changes_since_last_save:"))

    def lose(self, _folder, rng):
        """Suspends a master: for a moment, or so long that the others declare it failed."""
        child, seconds = rng.choice(self.children), rng.choice([0.3, 1.0, 2.5])
        child.send_signal(signal.SIGSTOP)
        waker = threading.Timer(seconds, lambda: child.send_signal(signal.SIGCONT))
        waker.daemon = True
        waker.start()
        return "time of a master"

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)
                child.wait()
        self.children = []
        shutil.rmtree(self.folder, ignore_errors=True)


def room_of(folder):
    """Returns a unique name for the store of that run."""
    return os.path.basename(os.path.dirname(folder)) + "-" + os.path.basename(folder)


def size_of(path):
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def list_folder(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


PLACES = {"inside": lambda _: Inside(), "tiered": lambda _: Tiers(), "bucket": Bucket, "cluster": Cluster}
NAMES = list(PLACES)


def place_of(name, scratch):
    return PLACES[name](scratch)
