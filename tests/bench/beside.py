"""Shared by the programs that compare graphmill with a rival: both commands, which alternate,
and the printed lines."""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
BIN = Path(os.environ.get("GRAPHMILL_BIN", SOURCE / "build/bin"))
# Some environments pin OpenBLAS for all their machines, often to kernels half as fast as its own
# choice. Both sides are measured as for people who set nothing.
PINNED = [name for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if name in os.environ]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in PINNED}


def die(status, message):
    print(f"{Path(sys.argv[0]).name}: {message}", file=sys.stderr)
    sys.exit(status)


def parse(usage, counts, texts=()):
    """Parses a folder, --rival, --directory, and options that are numbers or texts: (name,
    default)."""
    parser = argparse.ArgumentParser(usage=usage, add_help=False)
    parser.add_argument("folder")
    parser.add_argument("--rival", required=True)
    parser.add_argument("--directory")
    for name, value in counts:
        parser.add_argument(f"--{name}", type=int, default=value)
    for name, value in texts:
        parser.add_argument(f"--{name}", default=value)
    for name in PINNED:
        print(f"{name}={os.environ[name]} is left out, on both sides", file=sys.stderr)
    return parser.parse_args()


def answer_of(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, **{"env": ENVIRONMENT, **more})
    if done.returncode:
        die(70, f"{shlex.join(map(str, command))} ended with status {done.returncode}")
    return done.stdout


class Pipeline:
    """A pipeline file of ours for a folder that an environment variable names."""

    def __init__(self, name, variable, folder, directory, threads, settings=()):
        self.command = [SOURCE / "pipelines" / name, "--directory", directory, "--threads", str(threads)]
        self.command += [word for setting in settings for word in ("--set", setting)]
        self.environment = {**ENVIRONMENT, variable: str(Path(folder).resolve())}

    def measure(self, *amount):
        """Returns the lines of tests/bench/epoch."""
        said = answer_of([SOURCE / "tests/bench/epoch", *self.command, "--json", *amount], env=self.environment)
        return {line["name"]: line["value"] for line in json.loads(said)["lines"]}

    def result(self, *more):
        """Returns the answer of graphmill run."""
        return json.loads(answer_of([BIN / "graphmill", "run", *self.command, "--quiet", "--json", *more], env=self.environment))


def rival_of(options, *more, folder=None):
    """Returns the lines of the rival, and the object after `result`."""
    said = answer_of([*shlex.split(options.rival), folder or options.folder, "--threads", str(options.threads), *more])
    found = re.search(r"^result (\{.*\})$", said, re.MULTILINE)
    return said, json.loads(found.group(1)) if found else die(70, f"the rival did not say its result: {said[-500:]}")


def in_turns(options, rival, own):
    """Returns pairs of the results of rival() and own(directory), which alternate, the rival
    first."""
    with tempfile.TemporaryDirectory(prefix=f"graphmill-{Path(sys.argv[0]).name}-") as made:
        return [(rival(), own(options.directory or made)) for _ in range(options.turns)]


def print_turns(pairs, names):
    """Prints each turn, and for each (name, unit) the least of the turns, ours with its ratio to
    the rival's."""
    for number, (theirs, own) in enumerate(pairs):
        said = lambda values: " ".join(f"{value:.6g} {unit}" for value, (_, unit) in zip(values, names))
        print(f"turn {number}: rival {said(theirs)}, ours {said(own)}")
    for at, (name, unit) in enumerate(names):
        rival, own = (min(pair[side][at] for pair in pairs) for side in range(2))
        print(f"rival_{name} {rival:.3f} {unit} 1.00\n{name} {own:.3f} {unit} {own / rival:.2f}")
