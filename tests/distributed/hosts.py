"""Hosts made of namespaces, and the network between them.

A host has process ids, a host name, mounts and a network device of its own. What it writes lies in a folder that it alone sees,
as /mnt: the folders of the others, /tmp and /dev/shm of this machine are hidden from it. The programs and the source are seen
by all, as an image would be. Needs root.
"""
import json
import os
import signal
import subprocess
import time
from pathlib import Path

MTU = 9000
PERIOD_US = 5000  # in which a share of a core is counted
SHARES = 100000  # against what else the machine does

# Arguments: the host's own folder, the folder of all, its name, and what else is hidden from it.
INIT = r"""
set -e
mount --make-rprivate /
mount --bind "$1" /mnt
mount -t tmpfs hidden "$2"
mount -t proc proc /proc
hostname "$3"
for folder in "${@:4}"; do mount -t tmpfs hidden "$folder"; done
trap 'exit 0' TERM
echo ready
while :; do sleep 1000 & wait; done
"""


class Failure(Exception):
    """What went wrong, in one sentence."""


def command(*words, **options):
    result = subprocess.run([str(w) for w in words], capture_output=True, text=True, **options)
    if result.returncode:
        raise Failure(f"{' '.join(map(str, words))} ended with {result.returncode}: {(result.stderr or result.stdout).strip()[-400:]}")
    return result.stdout


def wait_for(what, question, seconds=60):
    """Asks again and again, until the answer is one."""
    end = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > end:
            raise Failure(f"no {what} after {seconds} s")
        time.sleep(0.1)


class Core:
    """A core for the workers of a host, of which they get that share of the time: services and the network need some of the machine, too."""

    def __init__(self, number, share):
        self.number = number
        self.folder = Path(f"/sys/fs/cgroup/cpu/graphmill-distributed-{os.getpid()}-{number}")
        try:
            self.folder.mkdir()
            for name, value in (("cfs_period_us", PERIOD_US), ("cfs_quota_us", int(share * PERIOD_US)), ("shares", SHARES)):
                (self.folder / f"cpu.{name}").write_text(str(value))
        except OSError as error:
            raise Failure(f"a share of a core takes cgroups of version 1 for cpu: {error}") from error

    def words(self, words):
        return ["bash", "-c", 'echo $$ >"$0" && exec taskset -c "$@"', self.folder / "tasks", self.number, *words]

    def end(self):
        try:
            wait_for("end of all that has a core", lambda: not (self.folder / "tasks").read_text(), 10)
            self.folder.rmdir()
        except (OSError, Failure):
            pass


class Host:
    def __init__(self, number, folder, core=None):
        self.number, self.name, self.address, self.core = number, f"host{number}", f"10.77.0.{number}", core
        self.folder = folder / self.name
        self.folder.mkdir()
        (self.folder / "scratch").mkdir()
        self.is_cut = False
        here = str(Path(__file__).resolve())
        hidden = [f for f in ("/tmp", "/dev/shm") if not here.startswith(f + "/") and not str(folder).startswith(f + "/")]
        words = ["unshare", "--pid", "--mount", "--uts", "--net", "--fork", "--kill-child",
                 "bash", "-c", INIT, "init", str(self.folder), str(folder), self.name, *hidden]
        self.keeper = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if self.keeper.stdout.readline() != "ready\n":
            raise Failure(f"{self.name} cannot be made")
        self.pid = child_of(self.keeper.pid)

    def words(self, words):
        """The same command, for in here."""
        enter = ["nsenter", "-t", self.pid, "-m", "-u", "-p", "-n", "--wd=/mnt", "setpriv", "--pdeathsig", "KILL"]
        return [str(w) for w in [*enter, *words]]

    def run(self, *words, **options):
        return command(*self.words(words), **options)

    def start(self, name, *words, environment=None, on_core=False):
        """In the background; what it says goes to NAME.log of its folder. `on_core`: it has the host's core and no other, if that has one."""
        words = self.words(words)
        if on_core and self.core:
            words = [str(w) for w in self.core.words(words)]
        with open(self.folder / f"{name}.log", "ab") as log:
            return Process(self, name, subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                        env={**os.environ, **(environment or {})}))

    def in_network(self, *words):
        return command("nsenter", "-t", self.pid, "-n", *words)

    def limit(self, rate):
        """The device sends so much: 100mbit, 10gbit."""
        self.in_network("tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "256kb", "latency", "100ms")

    def cut_off(self):
        self.is_cut = True
        self.in_network("ip", "link", "set", "eth0", "down")

    def moved_bytes(self):
        """Sent by the device so far."""
        link = json.loads(self.in_network("ip", "-s", "-j", "link", "show", "dev", "eth0"))[0]
        return link["stats64"]["tx"]["bytes"]

    def end(self):
        self.keeper.terminate()
        try:
            os.kill(self.pid, signal.SIGKILL)  # and with it all that runs in there
        except ProcessLookupError:
            pass
        self.keeper.wait()
        if self.core:
            self.core.end()


def child_of(pid):
    return int(wait_for(f"child of {pid}", Path(f"/proc/{pid}/task/{pid}/children").read_text, 10).split()[0])


class Process:
    def __init__(self, host, name, outer):
        self.host, self.name, self.outer = host, name, outer

    def status(self):
        """None while it runs; negative: a signal."""
        return self.outer.poll()

    def kill(self):
        """The program itself, not what carries it into its host."""
        try:
            os.kill(child_of(self.outer.pid), signal.SIGKILL)
        except (Failure, FileNotFoundError, ProcessLookupError):
            pass
        self.outer.wait()

    def last_words(self):
        lines = (self.host.folder / f"{self.name}.log").read_text(errors="replace").splitlines()
        return lines[-1] if lines else "nothing"


class Network:
    """Hosts, each with a device at one switch that keeps every frame for the delay."""

    def __init__(self, folder, count, switch, delay_us=1000, rate="1gbit", cores=None):
        self.hosts = []
        self.switch = None
        try:
            self.build(folder, count, switch, delay_us, rate, cores)
        except BaseException:
            self.end()
            raise

    def build(self, folder, count, switch, delay_us, rate, cores):
        for number in range(1, count + 1):
            self.hosts.append(Host(number, folder, Core(*cores[number - 1]) if cores and cores[number - 1] else None))
        self.switch = subprocess.Popen([switch, str(delay_us), *(str(h.pid) for h in self.hosts)], stdout=subprocess.PIPE, text=True)
        if self.switch.stdout.readline() != "ready\n":
            raise Failure("there is no switch")
        for host in self.hosts:
            host.in_network("ip", "link", "set", "lo", "up")
            host.in_network("ip", "link", "set", "dev", "eth0", "address", f"02:00:00:00:00:{host.number:02x}", "mtu", MTU, "up")
            host.in_network("ip", "address", "add", f"{host.address}/24", "dev", "eth0")
            host.limit(rate)

    def end(self):
        for host in self.hosts:
            host.end()
        if self.switch:
            self.switch.kill()
            self.switch.wait()
