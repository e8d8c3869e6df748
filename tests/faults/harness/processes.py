"""Finds the processes of one trial, by /proc."""

import os
import select
import signal
import time


def _stat(pid):
    """Returns (command, state, parent, session) of a process, or None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    command = text[text.index("(") + 1 : text.rindex(")")]
    rest = text[text.rindex(")") + 2 :].split()
    return command, rest[0], int(rest[1]), int(rest[3])


def children(pid):
    """Returns all descendants of a process, {pid: name}; graphmill's programs have their full
    name."""
    found = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        try:
            with open(f"/proc/{parent}/task/{parent}/children", encoding="utf-8") as file:
                pids = [int(word) for word in file.read().split()]
        except OSError:
            continue
        for child in pids:
            name = program(child)
            if name:
                found[child] = name
            waiting.append(child)
    return found


def program(pid):
    """Returns the program of a process: graphmill, graphmill-sample, redis-server; "" if it is
    gone or another one."""
    try:
        path = os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""
    name = os.path.basename(path)
    return "redis-server" if name.startswith("redis-") else name if name.startswith("graphmill") else ""


def of_session(session):
    """Returns the live processes of a session."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = _stat(int(name))
            if stat and stat[3] == session and stat[1] not in "ZX":
                found.append(int(name))
    return found


def send(pid, number):
    """Returns whether the signal was sent."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def end_session(session):
    """Kills the rest of a session that this harness started."""
    for _ in range(50):
        pids = of_session(session)
        if not pids:
            return
        for pid in pids:
            send(pid, signal.SIGKILL)
        time.sleep(0.02)


def wait(child, seconds):
    """Waits for a subprocess without polling: returns its status, or None after the timeout."""
    if child.returncode is not None:
        return child.returncode
    try:
        descriptor = os.pidfd_open(child.pid)
    except (AttributeError, OSError):
        return _wait_polling(child, seconds)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll(max(0, seconds) * 1000)
    finally:
        os.close(descriptor)
    return child.poll()


def _wait_polling(child, seconds):
    until = time.monotonic() + seconds
    while child.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    return child.returncode
