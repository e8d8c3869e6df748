"""The board that fault_shim.c and the harness share."""

import mmap
import struct

PROGRAMS = ["graphmill", "graphmill-ingest", "graphmill-partition", "graphmill-sample", "graphmill-train-step",
            "graphmill-aggregate", "graphmill-checkpoint", "graphmill-infer", "redis-server"]
CALLS = ["write", "flush", "rename", "link", "make", "create", "open", "read", "remove", "resize", "map", "talk", "change"]
_HEAD = struct.Struct("<QqQ")
_SIZE = _HEAD.size + 8 * len(PROGRAMS) * len(CALLS)


class Board:
    """The counts of the processes of a trial, the rules that fired, and their clock."""

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as file:
            file.write(bytes(_SIZE))
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _SIZE)

    def close(self):
        self._memory.close()

    def fired(self):
        return _HEAD.unpack_from(self._memory)[0]

    def lift(self):
        """Ends a lasting lack of space."""
        struct.pack_into("<Q", self._memory, 16, 1)

    def set_clock(self, offset_s):
        struct.pack_into("<q", self._memory, 8, offset_s)

    def calls(self, program, call):
        """Returns the number of such calls of the process with most calls of a program."""
        index = PROGRAMS.index(program) * len(CALLS) + CALLS.index(call)
        return struct.unpack_from("<Q", self._memory, _HEAD.size + 8 * index)[0]


def environment(library, board, rules=(), clocks=()):
    """Returns the environment variables for a run with the shim."""
    added = {"LD_PRELOAD": library, "FAULT_BOARD": board.path}
    if rules:
        added["FAULTS"] = ",".join(rules)
    if clocks:
        added["FAULT_CLOCK"] = ",".join(clocks)
    return added
