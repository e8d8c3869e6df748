"""Measures the memory of all programs of a run: the sum of their proportional set sizes, sampled
while they run."""
import os
import re
import threading
import time
from pathlib import Path

LOOK_SECONDS = 0.25
FIRST_LOOKS_SECONDS = 0.01  # a short run ends before a second sample at the later interval
LOOK_SHARE = 0.005  # share of a core, once a run has taken a while
LIST_SECONDS = 0.5  # between two searches for new programs
MOVED_SHARE = 0.01  # change of plain sizes after which proportional ones are read


def read_text(path):
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def children_of(pid):
    return [int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in read_text(task).split()]


def family_of(pid):
    try:
        return [pid] + [member for child in children_of(pid) for member in family_of(child)]
    except OSError:
        return [pid]


def name_of(pid):
    words = read_text(f"/proc/{pid}/cmdline").split("\0")
    if "--worker" in words:
        return words[words.index("--worker") + 1]
    return os.path.basename(words[0].split(" ")[0]) if words[0] else ""


def kilobytes(text, field):
    found = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


class Memory(threading.Thread):
    """Samples all processes of the run until it is told to stop."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.stopping = pid, threading.Event()
        self.family, self.started, self.listed = [], time.monotonic(), 0.0
        self.plain = {}  # by process, at the last sample of proportional sizes
        self.peak, self.together, self.looks, self.walks, self.seconds = {}, [], 0, 0, 0.0

    def plain_sizes(self):
        """Returns the plain size of each process; also notes the peaks that the kernel keeps."""
        now = time.monotonic()
        # programs are started at the beginning
        if now - self.listed >= min(LIST_SECONDS, (now - self.started) / 8):
            self.family, self.listed = family_of(self.pid), now
        sizes = {}
        for pid in self.family:
            status = read_text(f"/proc/{pid}/status")
            name, size = name_of(pid), kilobytes(status, "VmRSS")
            if name and size:
                sizes[pid, name] = size
                self.peak[name] = max(self.peak.get(name, 0), kilobytes(status, "VmHWM"))
        return sizes

    def has_moved(self, plain):
        before, now = sum(self.plain.values()), sum(plain.values())
        return plain.keys() != self.plain.keys() or abs(now - before) > MOVED_SHARE * before

    def walk(self, plain):
        sizes = {}
        for pid, name in plain:
            sizes[name] = sizes.get(name, 0) + kilobytes(read_text(f"/proc/{pid}/smaps_rollup"), "Pss")
        self.plain = plain
        self.walks += 1
        return sum(sizes.values()), sizes

    def look(self):
        before = time.thread_time()
        plain = self.plain_sizes()
        total, sizes = self.walk(plain) if not self.together or self.has_moved(plain) else self.together[-1][1:]
        self.together.append((time.monotonic(), total, sizes))
        self.looks += 1
        spent = time.thread_time() - before
        self.seconds += spent
        elapsed = time.monotonic() - self.started  # so a short run gets more than a few samples
        return max(min(LOOK_SECONDS, FIRST_LOOKS_SECONDS + elapsed / 8), min(spent / LOOK_SHARE, elapsed / 8))

    def run(self):
        while not self.stopping.wait(self.look()):
            pass

    def most(self, first, last):
        """Returns the sample with the largest sum between two moments; if there is none, the
        nearest one."""
        inside = [look for look in self.together if first <= look[0] <= last]
        if not inside and self.together:
            inside = [min(self.together, key=lambda look: max(first - look[0], look[0] - last))]
        return max(inside, key=lambda look: look[1], default=(0, 0, {}))
