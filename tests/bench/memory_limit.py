"""Runs programs in a memory cgroup: their memory and the kernel's cache of their files stay
within a limit."""
import os
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def bytes_of(text):
    """Parses 8000000000, 900M or 8G like graphmill's --memory, by powers of two."""
    unit = UNITS.get(text[-1:].upper(), 1)
    return int(float(text[:-1] if unit > 1 else text) * unit)


class MemoryLimit:
    """A group for the children that call enter(), of the kernel's version 1 or 2. Raises OSError
    without the right to make one."""

    def __init__(self, limit):
        self.is_second = (ROOT / "cgroup.controllers").exists()
        self.folder = (ROOT if self.is_second else ROOT / "memory") / f"graphmill-limit-{os.getpid()}"
        if self.is_second:
            (ROOT / "cgroup.subtree_control").write_text("+memory")
        self.folder.mkdir()
        try:
            self.file("memory.max", "memory.limit_in_bytes").write_text(str(limit))
        except OSError:
            self.folder.rmdir()
            raise
        swap = self.folder / "memory.swap.max"
        if swap.exists():
            swap.write_text("0")

    def file(self, second, first):
        return self.folder / (second if self.is_second else first)

    def enter(self):
        """Is called in a child before it becomes another program, so that the programs it starts
        are in the group, too."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def killed(self):
        """Returns the number of programs that the kernel killed because of the limit."""
        text = self.file("memory.events", "memory.oom_control").read_text()
        return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("oom_kill "))

    def close(self):
        try:
            self.folder.rmdir()
        except OSError:
            pass  # a program is still there; the group will be empty soon, and is small
