"""A Redis loses data, returns to an earlier state, or gets wrong data from others."""

import os
import signal
import subprocess
import time

from . import pipeline, processes
from .redis_client import Redis, RedisError
from .trials import Outcome, Trial

PROMISE = "P5"
TEXT = "Redis may lose, keep, repeat or invent anything: same weights, same outputs, nothing waits for ever"
UNIT = "losses"
LOSSES_A_RUN = 3


def plan(bench, level):
    runs, pairs = {"quick": (26, 2), "full": (190, 20)}[level]
    if not bench.place.can_be_copied:  # remote, and slower
        runs, pairs = runs // 3, pairs // 2
    elif level == "quick" and bench.is_variant:
        runs, pairs = runs // 2, pairs // 2
    names = sorted(LOSSES)
    return ([Trial(f"run-{i}", lambda room, rng, first=names[i % len(names)]: one_run(bench, room, rng, first))
             for i in range(runs)] +
            [Trial(f"two-on-one-{i}", lambda room, rng: two_on_one(bench, room, rng)) for i in range(pairs)])


def keys(redis, kind=None):
    found = sorted(redis("KEYS", "*"))
    return [key for key in found if kind is None or redis("TYPE", key) == kind]


def flush(redis, _rng, _run):
    redis("FLUSHALL")


def delete_key(redis, rng, _run):
    redis("DEL", rng.choice(keys(redis)))


def expire_key(redis, rng, _run):
    redis("PEXPIRE", rng.choice(keys(redis)), 1)


def delete_streams(redis, _rng, _run):
    redis("DEL", *keys(redis, b"stream"))


def delete_entry(redis, rng, _run):
    """Deletes an entry of a stream, preferably one that nobody has claimed yet."""
    streams = [key for key in keys(redis, b"stream") if redis("XLEN", key)]
    key = rng.choice(streams)
    redis("XDEL", key, redis("XRANGE", key, "-", "+")[-1][0])


def delete_member(redis, rng, _run):
    key = rng.choice([key for key in keys(redis, b"set")])
    redis("SREM", key, rng.choice(redis("SMEMBERS", key)))


def delete_field(redis, rng, _run):
    key = rng.choice(keys(redis, b"hash"))
    redis("HDEL", key, rng.choice(redis("HKEYS", key)))


def delete_group(redis, rng, _run):
    redis("XGROUP", "DESTROY", rng.choice(keys(redis, b"stream")), "workers")


def acknowledge_all(redis, _rng, _run):
    """Acknowledges all units: their holders lose them, and nobody else gets them."""
    for key in keys(redis, b"stream"):
        for entry in redis("XPENDING", key, "workers", "-", "+", "100"):
            redis("XACK", key, "workers", entry[0])


def wrong_type(redis, rng, _run):
    key = rng.choice(keys(redis))
    redis("MULTI")
    redis("DEL", key)
    redis(*(("SET", key, "x") if redis_type(rng) else ("RPUSH", key, "x", "y")))
    redis("EXEC")


def redis_type(rng):
    return rng.random() < 0.5


def phantom_unit(redis, rng, run):
    """Adds a unit that is not due, does not exist, belongs to another stage, or is malformed."""
    version = rng.randint(1, 60)
    unit = rng.choice(["infer/1/0", "outputs", f"infer/{version}/1/0", f"infer/{version}/2/0", f"infer/{version}/1/99",
                       f"outputs/{version}", f"train-step/{rng.randint(0, 60)}/0",
                       "train-step/0/70000", f"aggregate/{rng.randint(0, 60)}", "aggregate/999999", "checkpoint/40",
                       "sample/49/1", "evaluate/50/0", "initialise", "nonsense", "", "infer/-1/0", "train-step/1/1/1"])
    words = [unit] if rng.random() < 0.9 else None
    key = rng.choice(keys(redis, b"stream"))
    redis("XADD", key, "*", *(["unit", words[0]] if words else ["other", "x"]))


def phantom_member(redis, rng, _run):
    """Adds names of units to the sets: they look queued, or their inputs look done."""
    key = rng.choice(keys(redis, b"set"))
    redis("SADD", key, *[f"train-step/{n}/0" for n in range(60)], *[f"aggregate/{n}" for n in range(60)], "infer/1/0")


def cut_connections(redis, _rng, _run):
    redis("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


def forget_scripts(redis, _rng, _run):
    redis("SCRIPT", "FLUSH")


def roll_back(redis, rng, run):
    """Sets all keys back to some rounds ago, as if an old copy was restored."""
    kept = [(key, redis("DUMP", key)) for key in keys(redis)]
    version = run.newest_weights()
    until = time.monotonic() + rng.uniform(0.05, 1)
    while run.running() and run.newest_weights() < version + 5 and time.monotonic() < until:
        time.sleep(0.005)
    redis("MULTI")
    redis("FLUSHALL")
    for key, text in kept:
        if text is not None:
            redis("RESTORE", key, 0, text)
    redis("EXEC")


def refuse_writes(redis, rng, _run):
    redis("CONFIG", "SET", "maxmemory", "1")
    time.sleep(rng.uniform(0.1, 1))
    redis("CONFIG", "SET", "maxmemory", "0")


def evict(redis, rng, _run):
    """Sets a policy that evicts keys, for a while."""
    redis("CONFIG", "SET", "maxmemory-policy", "allkeys-random")
    redis("CONFIG", "SET", "maxmemory", "1")
    time.sleep(rng.uniform(0.02, 0.3))
    redis("CONFIG", "SET", "maxmemory", "0")
    redis("CONFIG", "SET", "maxmemory-policy", "noeviction")


def slow(redis, rng, run):
    pid = redis_pid(run)
    if pid:
        processes.send(pid, signal.SIGSTOP)
        time.sleep(rng.uniform(0.1, 2.5))
        processes.send(pid, signal.SIGCONT)


def pause(redis, rng, _run):
    redis("CLIENT", "PAUSE", rng.randint(50, 1500), "ALL")


def restart_empty(_redis, _rng, run):
    pid = redis_pid(run)
    if pid:
        processes.send(pid, signal.SIGKILL)


def redis_pid(run):
    return next((pid for pid, name in run.programs().items() if name == "redis-server"), None)


LOSSES = {"flush": flush, "delete key": delete_key, "expire key": expire_key, "delete streams": delete_streams,
          "delete entry": delete_entry, "delete member": delete_member, "delete field": delete_field,
          "delete group": delete_group, "acknowledge all": acknowledge_all, "wrong type": wrong_type,
          "phantom unit": phantom_unit, "phantom member": phantom_member, "cut connections": cut_connections,
          "forget scripts": forget_scripts, "roll back": roll_back, "refuse writes": refuse_writes, "evict": evict,
          "slow": slow, "pause": pause, "restart empty": restart_empty}


def strike(run, rng, name):
    """Returns whether it was possible: the run may have ended, or the key may not exist yet."""
    path = run.redis_path()
    if not path or not run.running():
        return False
    try:
        with Redis(path) as redis:
            LOSSES[name](redis, rng, run)
        return True
    except (OSError, RedisError, IndexError, ValueError):
        return False


def begin(bench, reference, folder):
    """Runs until after ingest and partition, if a store can be copied."""
    if bench.place.can_be_copied:
        pipeline.copy(reference.prepared, folder)
        bench.place.take_over(folder)


def one_run(bench, room, rng, first):
    """Causes some losses at random moments of a run, the first of a given kind."""
    reference = bench.reference(pipeline.SMALL)
    folder = os.path.join(room, "run")
    begin(bench, reference, folder)
    run = pipeline.Run(bench, pipeline.SMALL, folder, workers=rng.choice([1, 1, 2, 3])).start()
    done = []
    try:
        for number in range(LOSSES_A_RUN):
            after = run.newest_weights() + rng.randint(1, 14)
            run.wait_for_weights(min(after, 49))
            name = first if number == 0 else rng.choice(sorted(LOSSES))
            if strike(run, rng, name):
                done.append(name)
        pipeline.run_until_done(run, reference, tries=0)
        pipeline.verify_must_be_fine(bench, folder)
    except pipeline.Violation as violation:
        raise pipeline.Violation(f"{violation}; after {done}, {run.workers} workers") from violation
    finally:
        run.end()
    return Outcome(len(done), {"seconds": [run.seconds]}, {name: done.count(name) for name in set(done)})


def own_redis(room):
    """Starts a Redis that several runs share: (process, its socket)."""
    path = os.path.join(room, "r.sock")
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--logfile",
                               os.path.join(room, "redis.log")], stdout=subprocess.DEVNULL, start_new_session=True)
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            with Redis(path) as redis:
                redis("PING")
            return server, path
        except (OSError, RedisError, ConnectionError):
            time.sleep(0.01)
    server.kill()
    raise RuntimeError("no redis-server answers")


def two_on_one(bench, room, rng):
    """Runs one pipeline file in two folders on one Redis; one of them was stopped in the middle
    before."""
    reference = bench.reference(pipeline.LONG)
    server, path = own_redis(room)
    arguments = ("--redis", "unix:" + path)
    folders = [os.path.join(room, name) for name in ("a", "b")]
    runs = []
    try:
        if rng.random() < 0.3:  # one store is a copy of the other
            for folder in folders:
                begin(bench, reference, folder)
        stopped = pipeline.Run(bench, pipeline.LONG, folders[1], arguments=arguments).start()
        runs.append(stopped)
        stopped.wait_for_weights(rng.randint(1, 250))
        stopped.child.send_signal(signal.SIGTERM)
        stopped.wait()
        first = pipeline.Run(bench, pipeline.LONG, folders[0], arguments=arguments).start()
        runs.append(first)
        first.wait_for_weights(rng.randint(1, 395))
        second = stopped.again()
        runs.append(second)
        for run in (first, second):
            pipeline.run_until_done(run, reference, tries=0)
            pipeline.verify_must_be_fine(bench, run.folder)
    finally:
        for run in runs:
            run.end()
        server.kill()
        server.wait()
    return Outcome(1, {}, {"two runs": 1})


def figure(samples, notes):
    return f"{notes.get('two runs', 0)} pairs of runs on one Redis; " + ", ".join(
        f"{name} {notes[name]}" for name in sorted(LOSSES) if notes.get(name))
