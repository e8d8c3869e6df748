"""The parts of an experiment: trials that can be run in any order, alone, and again from their
seed."""

import random


class Skipped(Exception):
    """This machine cannot run the trial."""


class Trial:
    """work(room, random) breaks one run in `room` and returns an Outcome; it may raise a
    Violation."""

    def __init__(self, name, work):
        self.name = name
        self.work = work


class Outcome:
    """The contribution of a trial to the figures. `count`: how many kills, points, losses ... it
    represents."""

    def __init__(self, count=1, samples=None, notes=None):
        self.count = count
        self.samples = samples or {}  # name -> list of numbers
        self.notes = notes or {}  # name -> number of times


def counts(_samples, notes):
    """Returns the figure of an experiment whose notes are counts."""
    return ", ".join(f"{name} {count}" for name, count in sorted(notes.items()))


def random_of(seed, experiment, trial):
    """Returns a random source that gives the same numbers whichever trials run before or at the
    same time."""
    return random.Random(f"{seed}/{experiment}/{trial}")


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
