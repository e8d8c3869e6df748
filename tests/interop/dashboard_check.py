"""Checks the dashboard by Grafana's own schema. Started by run.sh --dashboard.

It reads the dashboard with the classes that Grafana generates from its schema, writes it again, and
checks that nothing is lost: anything that the schema does not have, or has in another form, is
lost.
"""
import json
import sys

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard


def lost(before, after, path=""):
    """Returns where the second lacks something of the first."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [place for key, value in before.items()
                for place in (lost(value, after[key], f"{path}.{key}") if key in after else [f"{path}.{key}"])]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [place for i, pair in enumerate(zip(before, after)) for place in lost(*pair, f"{path}[{i}]")]
    return [] if before == after else [path]


def main():
    register_default_plugins()
    with open(sys.argv[1]) as file:
        board = json.load(file)
    again = json.loads(JSONEncoder().encode(Dashboard.from_json(board)))
    places = lost(board, again)
    if places:
        sys.exit(f"{sys.argv[1]}: not of Grafana's schema: {', '.join(places)}")
    kinds = sorted({panel["type"] for panel in again["panels"]})
    print(f"{len(again['panels'])} panels ({', '.join(kinds)}), {len(again['templating']['list'])} variables: all of Grafana's schema")


if __name__ == "__main__":
    main()
