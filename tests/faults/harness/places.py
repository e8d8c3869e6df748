"""Where the store of a run lies: in its folder, in two folders as a tiered store, or in a bucket of a real SeaweedFS."""

import os
import random
import shutil
import signal
import socket
import subprocess
import time

from .trials import Skipped

START_SECONDS = 60


class Inside:
    """In the folder of the run, as without --store."""

    can_be_copied = True
    may_lack_records = False  # of rounds, in the end: what was lost behind the last snapshot nobody makes again

    def uri(self, _folder):
        return None

    def stores(self, folder):
        """Folders in which something appears whenever something is stored."""
        return [os.path.join(folder, "store")]

    def take_over(self, _folder):
        """`folder` is a copy of another run's."""

    def lose(self, _folder, _rng):
        """Loses what may be lost while programs work; what that was, or None."""
        return None

    def close(self):
        pass


class Tiers(Inside):
    """Rounds in fast/, the rest in store/, where the trials look for what lasts."""

    may_lack_records = True

    def uri(self, folder):
        return f"tiered:dir:{folder}/fast^dir:{folder}/store"

    def stores(self, folder):
        return [os.path.join(folder, "store"), os.path.join(folder, "fast")]

    def take_over(self, folder):
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

    def __init__(self, scratch):
        self.folder = os.path.join(scratch, "weed")
        self.child = None
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
        for _ in range(5):  # another program may have a port: then others are tried
            port = random.randrange(12000, 20000)
            with open(os.path.join(self.folder, "log"), "ab") as log:
                self.child = subprocess.Popen(
                    [program, f"-logdir={self.folder}", "server", f"-dir={self.folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
                     f"-master.port={port}", f"-volume.port={port + 1}", f"-filer.port={port + 2}", "-s3", f"-s3.port={port + 3}",
                     "-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.config={config}", "-master.volumeSizeLimitMB=64"],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            if self._has_bucket(program, port):
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
        room = os.path.basename(os.path.dirname(folder)) + "-" + os.path.basename(folder)
        return f"s3://graphmill/{room}?endpoint={self.endpoint}"

    def stores(self, _folder):
        return [self.folder]

    def close(self):
        if self.child and self.child.poll() is None:
            self.child.send_signal(signal.SIGKILL)
            self.child.wait()


def place_of(name, scratch):
    return {"inside": Inside, "tiered": Tiers}[name]() if name != "bucket" else Bucket(scratch)


NAMES = ["inside", "tiered", "bucket"]
