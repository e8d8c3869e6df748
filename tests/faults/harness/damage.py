"""Flips bits of, truncates, swaps, empties and deletes files of a store: verify names them,
removes them, and a run makes equal ones."""

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
SMALL_FILE = 2048  # every bit of files up to this size is tried


def plan(bench, level):
    random_trials, bit_batches = {"quick": (12, 4), "full": (420, 60)}[level]
    every = 24
    # records are the same in all places, and some places are slow
    if not bench.place.is_one_folder:
        random_trials, bit_batches, every = random_trials // 3, 0, 72
    elif level == "quick" and bench.is_variant:
        random_trials, bit_batches, every = random_trials // 2, 1, 48
    kinds = file_kinds(bench)
    one_kind = [(kind, state, way) for kind in sorted(kinds) for state in STATES for way in WAYS]
    if level == "quick":
        one_kind = one_kind[bench.seed % every :: every]
    return ([Trial(f"kind-{kind}-{state}-{way}".replace("/", "_"),
                   lambda room, rng, case=(kind, state, way): damage_kind(bench, room, rng, *case))
             for kind, state, way in one_kind] +
            [Trial(f"random-{i}", lambda room, rng: damage_some(bench, room, rng)) for i in range(random_trials)] +
            [Trial(f"bits-{i}-of-{bit_batches}", lambda room, rng, i=i: every_bit(bench, room, i, bit_batches, level))
             for i in range(bit_batches)])


def setting_of(state):
    return pipeline.TINY if state == "finished" else pipeline.ALL_KEPT if state == "finished-kept" else pipeline.SMALL


def kind_of(path):
    """Returns the kind of a stored file, its path without numbers and ids:
    run/round/slot/gradient.record."""
    parts = [part for part in path.split("/") if not re.fullmatch(r"\d{5,10}(\.record)?", part)]
    if parts[0] in ("dataset", "partition", "run") and len(parts) > 2:
        del parts[1]
    if parts[0] == "switch":
        parts = [part for part in parts if not part.startswith("faults")]
    number = re.fullmatch(r"\d{5,10}\.record", path.rsplit("/", 1)[-1])
    name = "/".join(parts) + ("/N.record" if number else "")
    return re.sub(r"(faults[-0-9a-f]*)", "ID", re.sub(r"(MANIFEST|OPTIONS)-\d+|\d{6}\.(sst|log)", lambda m: m[1] or "N." + m[2], name))


def file_kinds(bench):
    """Returns {kind: files} of a finished run that kept everything."""
    kinds = {}
    for file in bench.place.files(bench.reference(pipeline.ALL_KEPT).whole):
        kinds.setdefault(kind_of(file.path), []).append(file)
    return kinds


# --- ways to damage a file (stored.py); each gets the file, a random source, and the files of its
# kind, and returns whether it changed anything ---


def flip(file, rng, _others):
    data = bytearray(file.read())
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        file.write(bytes(data))
    return bool(data)


def cut(file, rng, _others):
    data = file.read()
    if data:
        file.write(data[: rng.choice([0, len(data) // 2, len(data) - 1, rng.randrange(len(data))])])
    return bool(data)


def grow(file, rng, _others):
    file.write(file.read() + bytes(rng.choice([1, 64, 4096])))
    return True


def zero(file, rng, _others):
    data = file.read()
    at = rng.randrange(len(data)) if data else 0
    changed = data[:at] + bytes(min(512, len(data) - at)) + data[at + 512 :]
    if changed != data:
        file.write(changed)
    return changed != data


def swap(file, rng, others):
    """Replaces the content by that of another file of the same kind."""
    data = file.read()
    candidates = [held for held in (other.read() for other in others if other is not file and other.exists()) if held != data]
    if candidates:
        file.write(rng.choice(candidates))
    return bool(candidates)


def delete(file, _rng, _others):
    file.delete()
    return True


WAYS = {"flip": flip, "cut": cut, "grow": grow, "zero": zero, "swap": swap, "delete": delete}


# --- trials ---


def start_state(bench, room, rng, state):
    """Makes a folder in one of the states: (folder, its setting)."""
    setting = setting_of(state)
    reference = bench.reference(setting)
    folder = os.path.join(room, "run")
    if bench.place.can_be_copied:
        pipeline.copy(reference.prepared if state == "killed" else reference.whole, folder)
        bench.place.take_over(folder, with_rounds=state != "killed")
    run = pipeline.Run(bench, setting, folder)
    if state != "killed":
        if not bench.place.can_be_copied:
            run.must_end_well()
        return folder, setting
    run.start()
    after = rng.randint(1, 75)  # the target of the ref is different at the end
    run.wait_for_weights(after)
    if run.running():
        pipeline.kill_driver(run)
    return folder, setting


def heal(bench, folder, setting, what):
    """Repairs like a user: verify, verify --remove, run; or runs at once, without verify."""
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
    """`run` on the damaged store may refuse (65) or repair, but must never end well with other
    results. It uses a copy if possible."""
    unseen = os.path.join(room, "unseen") if bench.place.can_be_copied else folder
    if unseen != folder:
        pipeline.copy(folder, unseen)
        bench.place.take_over(unseen, with_rounds=True)
    run = pipeline.Run(bench, setting, unseen).start()
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
        if unseen != folder:
            pipeline.make_writable(unseen)
            shutil.rmtree(unseen, ignore_errors=True)
    return status


def damage_kind(bench, room, rng, kind, state, way):
    """Damages one file of one kind in one way."""
    folder, setting = start_state(bench, room, rng, state)
    same = [file for file in bench.place.files(folder) if kind_of(file.path) == kind]
    if not same:
        return Outcome(0, notes={"kind not there yet": 1})
    file = rng.choice(same)
    what = f"{way} {file.path} ({state})"
    if not WAYS[way](file, rng, same):
        return Outcome(0, notes={"nothing to change": 1})
    looks_first = not bench.place.can_be_copied and rng.random() < 0.5
    unseen = "is not tried" if looks_first else run_first(bench, room, folder, setting, what)
    status = heal(bench, folder, setting, what)
    return Outcome(1, notes={way: 1, f"verify {status}": 1, f"run at once {unseen}": 1})


def damage_some(bench, room, rng):
    """Damages some files of any kind."""
    state = rng.choice(STATES)
    folder, setting = start_state(bench, room, rng, state)
    files = bench.place.files(folder)
    kinds = sorted({kind_of(file.path) for file in files})
    done = []
    for kind in rng.sample(kinds, min(FILES_A_TRIAL, len(kinds))):
        same = [file for file in files if kind_of(file.path) == kind]
        file, way = rng.choice(same), rng.choice(sorted(WAYS))
        if file.exists() and WAYS[way](file, rng, same):
            done.append((way, file.path))
    status = heal(bench, folder, setting, f"{done} ({state})")
    return Outcome(len(done), notes={**{way: sum(1 for one, _ in done if one == way) for way, _ in done},
                                     f"verify {status}": 1})


def every_bit(bench, room, batch, batches, level):
    """Flips bits of one small file of each kind, one bit in all of them at once: verify must
    name every file."""
    reference = bench.reference(pipeline.ALL_KEPT)
    folder = os.path.join(room, "run")
    pipeline.copy(reference.whole, folder)
    chosen, kinds = {}, {}
    for file in bench.place.files(folder):
        kinds.setdefault(kind_of(file.path), []).append(file)
    for kind, files in kinds.items():
        file = min(files, key=lambda file: file.size())
        if 0 < file.size() <= SMALL_FILE and not opens_others(kind):
            chosen[kind] = file
    whole = {kind: file.read() for kind, file in chosen.items()}
    step = batches if level == "full" else batches * 97
    missed, tried = {}, 0
    for bit in range(batch, 8 * max(len(data) for data in whole.values()), step):
        struck = {kind: file for kind, file in chosen.items() if bit < 8 * len(whole[kind])}
        for kind, file in struck.items():
            data = bytearray(whole[kind])
            data[bit // 8] ^= 1 << bit % 8
            file.write(bytes(data))
        status, text = pipeline.verify(bench, folder)
        for kind, file in struck.items():
            tried += 1
            if not named(text, file.path):
                missed.setdefault(kind, []).append(bit)
            file.write(whole[kind])
        if status != 65:
            raise pipeline.Violation(f"bit {bit} of {len(struck)} files flipped: verify ends with {status}: {text[-300:]}")
    if missed:
        raise pipeline.Violation("verify did not name: " + "; ".join(
            f"{kind} bits {bits[:5]} ({len(bits)} of this batch)" for kind, bits in sorted(missed.items())))
    return Outcome(tried, notes={"single bits": tried})


def opens_others(kind):
    """Returns whether nothing that depends on the file can be found without it. Such files are
    damaged one at a time, in damage_kind()."""
    return kind.endswith(("plan.record", "book.record", "schema.record")) or kind.startswith("switch/")


def named(text, path):
    """verify names a record by its key, and a file of an artifact by the artifact's key."""
    key = path.removesuffix(".record")
    artifact = re.sub(r"/(shard|outputs)/.*", r"/\1", key)
    return key in text or artifact in text


def figure(_samples, notes):
    return (", ".join(f"{way} {notes[way]}" for way in WAYS if notes.get(way)) +
            f"; {notes.get('single bits', 0)} single bits; `run` before verify healed or did not mind {notes.get('run at once 0', 0)}, "
            f"named the file {notes.get('run at once 65', 0)}")
