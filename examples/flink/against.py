"""Check of `explain --against`: a deliberately wrong cost is found in a running job.

loop.py calls it while the sample job runs as placed.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripting import call, say

WRONG = "parse"  # it gets every tuple, so its noise is small
FACTOR = 2.5  # by which the graph's cost of that operator is too low
WATCH_S = 120  # as long as the profile
TOLERANCE = 0.25  # of the ratio, as of measured instructions in loop.py


def explains(url: str, job: str, folder: Path, placed: Mapping[str, str]) -> bool:
    """Return whether `explain --against` names the operator whose cost is wrong.

    Parameters
    ----------
    folder
        Folder with graph.json and placement.json, the profiled graph and its placement.
    placed
        Operator -> the device that it runs on.
    """
    graph: dict[str, Any] = json.loads((folder / "graph.json").read_text())
    for row in graph["operators"]:
        if row["name"] == WRONG:
            row["instructions"] /= FACTOR
    wrong = folder / "wrong-graph.json"
    wrong.write_text(json.dumps(graph))
    pins = folder / "wrong-pins.json"
    pins.write_text(json.dumps({"pins": dict(placed)}))
    own = json.loads((folder / "placement.json").read_text())["problem"]
    cluster = folder / "wrong-cluster.json"
    cluster.write_text(json.dumps(own["cluster"]))
    placement = folder / "wrong-placement.json"
    settings = ["--cluster", str(cluster), "--constraints", str(pins)]
    rate = ["--source-rate", f"{own['source_rate']}"]
    _streamplace("place", str(wrong), *settings, *rate, "-o", str(placement))
    say(f"explaining a graph in which {WRONG} costs {1 / FACTOR:.0%} of what it does")
    watch = ["--against", url, "--job", job, "--seconds", f"{WATCH_S}", "--json"]
    answer = _streamplace("explain", str(placement), *watch)
    (folder / "against.json").write_text(answer)
    against = json.loads(answer)["against"]
    off = [each for each in against["off"] if each["kind"] == "instructions"]
    for each in against["off"]:
        print(f"explain --against: {each['kind']} of {each['name'] or 'all devices'}, {each}")
    worst = max(off, key=lambda each: each["ratio"], default=None)
    if worst is None or worst["name"] != WRONG:
        print(f"explain --against did NOT name {WRONG}")
        return False
    near: bool = abs(worst["ratio"] / FACTOR - 1) <= TOLERANCE
    verdict = "within" if near else "NOT within"
    print(
        f"explain --against: {WRONG} takes {worst['ratio']:.2f} times what the graph says, "
        f"{verdict} {TOLERANCE:.0%} of the true {FACTOR}"
    )
    return near


def _streamplace(*arguments: str) -> str:
    return call([sys.executable, "-m", "streamplace.cli.main", *arguments])
