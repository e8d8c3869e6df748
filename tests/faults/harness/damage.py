"""Files of a store flipped, cut, swapped, emptied, deleted: named by verify, taken away, made again, equal."""

import os
import re
import shutil

from . import pipeline
from .trials import Outcome, Trial

PROMISE = "P8"
TEXT = "any damaged, swapped or missing file: verify names it, verify --remove and run end in the same weights and outputs"
UNIT = "damaged files"
STATES = ["finished", "finished-kept", "killed"]
FILES_A_TRIAL = 5
SMALL_FILE = 2048  # every bit is tried of files up to this size


def plan(bench, level):
    random_trials, bit_batches = {"quick": (12, 4), "full": (420, 60)}[level]
    kinds = file_kinds(bench)
    one_kind = [(kind, state, way) for kind in sorted(kinds) for state in STATES for way in WAYS]
    if level == "quick":
        one_kind = one_kind[bench.seed % 24 :: 24]
    return ([Trial(f"kind-{kind}-{state}-{way}".replace("/", "_"),
                   lambda room, rng, case=(kind, state, way): damage_kind(bench, room, rng, *case))
             for kind, state, way in one_kind] +
            [Trial(f"random-{i}", lambda room, rng: damage_some(bench, room, rng)) for i in range(random_trials)] +
            [Trial(f"bits-{i}-of-{bit_batches}", lambda room, rng, i=i: every_bit(bench, room, i, bit_batches, level))
             for i in range(bit_batches)])


def setting_of(state):
    return pipeline.TINY if state == "finished" else pipeline.ALL_KEPT if state == "finished-kept" else pipeline.SMALL


def kind_of(path):
    """What a stored file is, without its numbers and ids: run/round/slot/gradient.record."""
    parts = [part for part in path.split("/") if not re.fullmatch(r"\d{5,10}(\.record)?", part)]
    if parts[0] in ("dataset", "partition", "run") and len(parts) > 2:
        del parts[1]
    if parts[0] == "switch":
        parts = [part for part in parts if not part.startswith("faults")]
    number = re.fullmatch(r"\d{5,10}\.record", path.rsplit("/", 1)[-1])
    name = "/".join(parts) + ("/N.record" if number else "")
    return re.sub(r"(faults[-0-9a-f]*)", "ID", re.sub(r"(MANIFEST|OPTIONS)-\d+|\d{6}\.(sst|log)", lambda m: m[1] or "N." + m[2], name))


def stored_files(store):
    """Paths, relative to the store, of all that is meant to last."""
    found = []
    for path, _, files in os.walk(store):
        relative = os.path.relpath(path, store)
        if relative.split("/")[0] in ("tmp", "logs"):
            continue
        found += [os.path.normpath(os.path.join(relative, name)) for name in files]
    return sorted(found)


def file_kinds(bench):
    """{kind: paths} of a finished run of which everything was kept."""
    kinds = {}
    for path in stored_files(os.path.join(bench.reference(pipeline.ALL_KEPT).whole, "store")):
        kinds.setdefault(kind_of(path), []).append(path)
    return kinds


# --- ways to damage a file; each gets its path and a random source, and says whether it changed anything ---


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    os.chmod(path, 0o644)
    with open(path, "wb") as file:
        file.write(data)


def flip(path, rng, _others):
    data = bytearray(read(path))
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        write(path, data)
    return bool(data)


def cut(path, rng, _others):
    data = read(path)
    if data:
        write(path, data[: rng.choice([0, len(data) // 2, len(data) - 1, rng.randrange(len(data))])])
    return bool(data)


def grow(path, rng, _others):
    write(path, read(path) + bytes(rng.choice([1, 64, 4096])))
    return True


def zero(path, rng, _others):
    data = read(path)
    at = rng.randrange(len(data)) if data else 0
    changed = data[:at] + bytes(min(512, len(data) - at)) + data[at + 512 :]
    if changed != data:
        write(path, changed)
    return changed != data


def swap(path, rng, others):
    """Another file of the same kind in its place."""
    candidates = [other for other in others if other != path and os.path.exists(other) and read(other) != read(path)]
    if candidates:
        write(path, read(rng.choice(candidates)))
    return bool(candidates)


def delete(path, _rng, _others):
    os.unlink(path)
    return True


WAYS = {"flip": flip, "cut": cut, "grow": grow, "zero": zero, "swap": swap, "delete": delete}


# --- trials ---


def start_state(bench, room, rng, state):
    """A folder in one of the states: (folder, its setting)."""
    setting = setting_of(state)
    reference = bench.reference(setting)
    folder = os.path.join(room, "run")
    if state != "killed":
        pipeline.copy(reference.whole, folder)
        return folder, setting
    pipeline.copy(reference.prepared, folder)
    run = pipeline.Run(bench, setting, folder).start()
    after = rng.randint(1, 45)
    run.wait_for_weights(after)
    if run.running():
        pipeline.kill_driver(run)
    return folder, setting


def heal(bench, folder, setting, what):
    """The way a user goes: verify, verify --remove, run; or run at once, when nobody looked."""
    reference = bench.reference(setting)
    status, text = pipeline.verify(bench, folder)
    if status not in (0, 65):
        raise pipeline.Violation(f"{what}: verify ends with {status}: {text[-300:]}")
    removed, said = pipeline.verify(bench, folder, "--remove") if status else (0, "")
    if removed not in (0, 65):
        raise pipeline.Violation(f"{what}: verify --remove ends with {removed}: {said[-300:]}")
    run = pipeline.Run(bench, setting, folder)
    try:
        run.must_end_well()
        reference.must_equal(run, damage="healed")
        pipeline.verify_must_be_fine(bench, folder)
    except pipeline.Violation as violation:
        raise pipeline.Violation(f"{violation}; before: {what}, verify {status} {text.splitlines()[:2]}") from violation
    finally:
        run.end()
    return status


def run_first(bench, room, folder, setting, what):
    """`run` on the damaged store as it is may refuse (65) or mend, but never end well with something else."""
    copy = os.path.join(room, "unseen")
    pipeline.copy(folder, copy)
    run = pipeline.Run(bench, setting, copy).start()
    try:
        status = run.wait()
        if status not in (0, 65):
            raise pipeline.Violation(f"{what}: run without verify ends with {status}: {run.said()}")
        if status == 0:
            bench.reference(setting).must_equal(run, damage="unseen")
    except pipeline.Violation as violation:
        raise pipeline.Violation(f"run without verify: {violation}; before: {what}") from violation
    finally:
        run.end()
        pipeline.make_writable(copy)
        shutil.rmtree(copy, ignore_errors=True)
    return status


def damage_kind(bench, room, rng, kind, state, way):
    """One file of one kind, in one way."""
    folder, setting = start_state(bench, room, rng, state)
    store = os.path.join(folder, "store")
    same = [os.path.join(store, path) for path in stored_files(store) if kind_of(path) == kind]
    if not same:
        return Outcome(0, notes={"kind not there yet": 1})
    path = rng.choice(same)
    what = f"{way} {os.path.relpath(path, store)} ({state})"
    if not WAYS[way](path, rng, same):
        return Outcome(0, notes={"nothing to change": 1})
    unseen = run_first(bench, room, folder, setting, what)
    status = heal(bench, folder, setting, what)
    return Outcome(1, notes={way: 1, f"verify {status}": 1, f"run at once {unseen}": 1})


def damage_some(bench, room, rng):
    """Some files of any kind."""
    state = rng.choice(STATES)
    folder, setting = start_state(bench, room, rng, state)
    store = os.path.join(folder, "store")
    files = stored_files(store)
    kinds = sorted({kind_of(path) for path in files})
    done = []
    for kind in rng.sample(kinds, min(FILES_A_TRIAL, len(kinds))):
        same = [os.path.join(store, path) for path in files if kind_of(path) == kind]
        path, way = rng.choice(same), rng.choice(sorted(WAYS))
        if os.path.exists(path) and WAYS[way](path, rng, same):
            done.append((way, os.path.relpath(path, store)))
    status = heal(bench, folder, setting, f"{done} ({state})")
    return Outcome(len(done), notes={**{way: sum(1 for one, _ in done if one == way) for way, _ in done},
                                     f"verify {status}": 1})


def every_bit(bench, room, batch, batches, level):
    """Bits of one small file of each kind, a bit in all of them at once: verify must name every one."""
    reference = bench.reference(pipeline.ALL_KEPT)
    folder = os.path.join(room, "run")
    pipeline.copy(reference.whole, folder)
    store = os.path.join(folder, "store")
    chosen = {}
    for kind, paths in file_kinds(bench).items():
        path = min((path for path in paths), key=lambda path: os.path.getsize(os.path.join(store, path)))
        if 0 < os.path.getsize(os.path.join(store, path)) <= SMALL_FILE and not opens_others(kind):
            chosen[kind] = os.path.join(store, path)
    whole = {kind: read(path) for kind, path in chosen.items()}
    step = batches if level == "full" else batches * 97
    missed, tried = {}, 0
    for bit in range(batch, 8 * max(len(data) for data in whole.values()), step):
        struck = {kind: path for kind, path in chosen.items() if bit < 8 * len(whole[kind])}
        for kind, path in struck.items():
            data = bytearray(whole[kind])
            data[bit // 8] ^= 1 << bit % 8
            write(path, data)
        status, text = pipeline.verify(bench, folder)
        for kind, path in struck.items():
            tried += 1
            if not named(text, os.path.relpath(path, store)):
                missed.setdefault(kind, []).append(bit)
            write(path, whole[kind])
        if status != 65:
            raise pipeline.Violation(f"bit {bit} of {len(struck)} files flipped: verify ends with {status}: {text[-300:]}")
    if missed:
        raise pipeline.Violation("verify did not name: " + "; ".join(
            f"{kind} bits {bits[:5]} ({len(bits)} of this batch)" for kind, bits in sorted(missed.items())))
    return Outcome(tried, notes={"single bits": tried})


def opens_others(kind):
    """Without these nothing that stands on them can be found: they are damaged one at a time, in damage_kind()."""
    return kind.endswith(("plan.record", "book.record", "schema.record")) or kind.startswith("switch/")


def named(text, path):
    """verify names records by their key and what lies in an artifact by the artifact's."""
    key = path.removesuffix(".record")
    artifact = re.sub(r"/(shard|outputs)/.*", r"/\1", key)
    return key in text or artifact in text


def figure(_samples, notes):
    return (", ".join(f"{way} {notes[way]}" for way in WAYS if notes.get(way)) +
            f"; {notes.get('single bits', 0)} single bits; `run` before verify healed or did not mind {notes.get('run at once 0', 0)}, "
            f"named the file {notes.get('run at once 65', 0)}")
