"""Scenarios on hosts of one's own: see README.md beside this file, and run.sh, which starts it."""
import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
from fleet import Fleet
from hosts import Failure, Network, command
from services import Cluster, Queue, Seaweed

SOURCE = Path(__file__).resolve().parent.parent.parent
BINARIES = Path(os.environ.get("GRAPHMILL_BIN", SOURCE / "build/bin"))
SWITCH = BINARIES.parent / "tests/delayed_switch"


def say(name, value, unit=""):
    print(f"{name:<32} {value:>16} {unit}".rstrip(), flush=True)


class Place:
    """Hosts with all services, and what a run on them is made of."""

    def __init__(self, options, count=3, **network):
        self.folder = Path(tempfile.mkdtemp(prefix="graphmill-distributed-"))
        self.network = None
        try:
            self.network = Network(self.folder, count, SWITCH, **{"delay_us": options.delay // 2, "rate": options.rate, **network})
            self.hosts = self.network.hosts
            self.queue = Queue(self.hosts[0])
            self.seaweed = Seaweed(self.hosts, options.weed)
            self.store = f"s3://graphmill/runs?endpoint={self.seaweed.endpoint}"
            if options.store == "tiered":
                self.cluster = Cluster(self.hosts)
                self.store = f"tiered:redis+cluster://{self.cluster.nodes}/rounds?password-file=/mnt/password^{self.store}"
        except BaseException:
            self.end(keep=True)
            raise

    def fleet(self, pipeline, settings, hosts=None, options=()):
        return Fleet(BINARIES, pipeline, settings, self.store, self.queue, hosts or self.hosts, options)

    def end(self, keep=False):
        if self.network:
            self.network.end()
        if keep:
            print(f"logs are in {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.end(keep=kind is not None)


def hash_here(pipeline, settings):
    """Of the same run, on this machine alone, in a folder."""
    with tempfile.TemporaryDirectory(prefix="graphmill-peace-") as folder:
        words = [word for s in settings for word in ("--set", s)]
        return json.loads(command(BINARIES / "graphmill", "run", pipeline, "--directory", folder, "--quiet", "--json", *words))["weights_hash"]


def train(options, name, pipeline, settings, disturb=None, at=0.3):
    """Trains on three hosts and compares; `disturb` is done to the place when that share of the rounds is over."""
    expected = hash_here(pipeline, settings)
    with Place(options) as place:
        fleet = place.fleet(pipeline, settings)
        fleet.prepare()
        began = time.monotonic()
        fleet.add_everywhere()
        if disturb:
            fleet.to_round(1)
            fleet.to_round(max(1, int(at * fleet.status()["rounds"])))
            disturb(place)
        found = fleet.to_the_end()
        if found != expected:
            raise Failure(f"{name}: weights {found}, on one machine {expected}")
        say(f"{name}_training", f"{time.monotonic() - began:.1f}", f"s; weights {found}, {fleet.restarts()} programs started again")


def karate(options):
    train(options, "karate", SOURCE / "pipelines/karate.yaml", ["epochs=20", "infer.weights=last"])


def quickstart(options):
    train(options, "quickstart", SOURCE / "pipelines/quickstart.yaml", [])


def cora(options):
    train(options, "cora", SOURCE / "pipelines/cora.yaml", [])


PRODUCTS = ["epochs=2"]


def products(options):
    if not os.environ.get("GRAPHMILL_PRODUCTS_LIKE"):
        say("products", "skipped:", "GRAPHMILL_PRODUCTS_LIKE names no folder (tests/bench/README.md)")
        return
    train(options, "products", SOURCE / "pipelines/products-like.yaml", PRODUCTS)


LONG = ["epochs=100", "infer.weights=last"]  # what is disturbed has to be going on; the last weights, which every round has made


def cut(options):
    """A host is cut off for good: its worker of each stage, its Redis and its volumes are gone."""
    train(options, "cut", SOURCE / "pipelines/karate.yaml", LONG, lambda place: place.hosts[2].cut_off())


def redis_master(options):
    if options.store != "tiered":
        say("redis_master", "skipped:", "with --store s3 there is no Redis Cluster")
        return
    train(options, "redis_master", SOURCE / "pipelines/karate.yaml", LONG, lambda place: place.cluster.kill_master(place.hosts[1]))


def volume(options):
    """A server of volumes is killed: what lay on it lies on another one too."""
    train(options, "volume", SOURCE / "pipelines/karate.yaml", LONG, lambda place: place.seaweed.kill_volume(place.hosts[1]))


def steady(place, fleet, first, last):
    """Seconds, bytes between the hosts, and mini-batches from one round to another."""
    fleet.to_round(first)
    at, moved, start = fleet.round(), sum(h.moved_bytes() for h in place.hosts), time.monotonic()
    fleet.to_round(last)
    seconds, moved = time.monotonic() - start, sum(h.moved_bytes() for h in place.hosts) - moved
    return seconds, moved, fleet.round() - at


# Work of the products-like size for a batch (207,000 parameters, 1,024 seeds, fan-outs 15, 10, 5); a snapshot each epoch.
STEADY = ["epochs=40"]


def steady_pipeline():
    if os.environ.get("GRAPHMILL_PRODUCTS_LIKE"):
        return SOURCE / "pipelines/products-like.yaml"
    return SOURCE / "tests/bench/round.yaml"


def moved_bytes(options):
    """What a mini-batch costs at the interfaces of all hosts, once parts are cached."""
    with Place(options) as place:
        fleet = place.fleet(steady_pipeline(), STEADY)
        fleet.prepare()
        fleet.add_everywhere()
        _, moved, rounds = steady(place, fleet, 36, 108)
        say("bytes_a_batch", f"{moved / rounds / 1e6:.2f}", f"MB; {rounds} rounds of one mini-batch, DistDGL 155")


def throughput(options):
    """Two hosts of a core each against one; what they share is on a third, and has what these cores leave."""
    rate = {}
    for count in (1, 2):
        with Place(options, cores=[None, (0, options.share), (1, options.share)]) as place:
            fleet = place.fleet(steady_pipeline(), [*STEADY, "sample.batches_per_round=4"])
            fleet.prepare()
            fleet.add(place.hosts[0], "aggregate", "checkpoint", "infer")
            for host in place.hosts[1:count + 1]:
                fleet.add(host, "sample", "train-step")
            seconds, _, rounds = steady(place, fleet, 9, 27)
            rate[count] = rounds / seconds
            say(f"rounds_a_second_{count}", f"{rate[count]:.3f}", "")
    say("two_hosts_for_one", f"{rate[2] / rate[1]:.2f}", "times")


def hand_over(options):
    """A round with hardly any work: what is left is the way from step to aggregate and back."""
    with Place(options) as place:
        fleet = place.fleet(SOURCE / "pipelines/karate.yaml", ["epochs=2000", "checkpoint.every_epochs=20", "sample.batches_per_round=1"])
        fleet.prepare()
        fleet.add(place.hosts[1], "sample", "train-step")
        fleet.add(place.hosts[2], "aggregate", "checkpoint", "infer")
        seconds, _, rounds = steady(place, fleet, 20, 200)
        say("round_without_work", f"{seconds * 1000 / rounds:.2f}", f"ms over {rounds} rounds: from step to aggregate and back")
        say("hand_over", f"{seconds * 500 / rounds:.2f}", "ms: half of it, with the store and the queue of each")


SCENARIOS = [karate, quickstart, cora, products, cut, redis_master, volume, moved_bytes, throughput, hand_over]


def main():
    parser = argparse.ArgumentParser(prog="tests/distributed/run.sh", description=__doc__)
    parser.add_argument("scenario", nargs="*", metavar="SCENARIO", help="of " + ", ".join(s.__name__ for s in SCENARIOS) + " (default: all)")
    parser.add_argument("--store", choices=("s3", "tiered"), default="s3", help="where rounds are: with the rest in S3, or in Redis Cluster before it")
    parser.add_argument("--rate", default="1gbit", help="of each host's link, as tc has it: 100mbit to 10gbit (default: %(default)s)")
    parser.add_argument("--delay", type=int, default=1000, metavar="US", help="there and back between two hosts (default: %(default)s)")
    parser.add_argument("--share", type=float, default=0.5, metavar="S", help="of its time that a core of `throughput` has (default: %(default)s)")
    parser.add_argument("--weed", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    known = {s.__name__: s for s in SCENARIOS}
    for name in options.scenario:
        if name not in known:
            parser.error(f"there is no scenario {name}, expected one of {', '.join(known)}")
    status = 0
    for name in options.scenario or known:
        try:
            known[name](options)
        except Failure as failure:
            say(name, "FAILED:", str(failure))
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
