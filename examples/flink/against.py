"""Check of `explain --against`: a deliberately wrong cost is found in a running job.

loop.py calls it while the sample job runs as placed.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from local_flink import LocalFlink
from scripting import say, streamplace

from streamplace.engines.flink.plan import running

BUSIEST = ("join", "archive: Writer", "enrich", "parse", "summarise", "render", "split", "score")
"""Operators of the sample job, those that use most CPU time first, so that noise is small."""
FACTOR = 2.5  # by which the graph's cost of that operator is too low
WATCH_S = 120  # as long as the profile
TOLERANCE = 0.25  # of the ratio, as of measured instructions in loop.py


def explains(flink: LocalFlink, job: str, folder: Path, placed: Mapping[str, str]) -> bool:
    """Return whether `explain --against` names the operator whose cost is wrong.

    It is one that runs in no chain, since Flink measures chains as a whole.

    Parameters
    ----------
    folder
        Folder with graph.json and placement.json, the profiled graph and its placement.
    placed
        Operator -> the device that it runs on.
    """
    plan = running(flink.get(f"/jobs/{job}/plan")["plan"], flink.url)
    alone = {vertex.operators[0] for vertex in plan.vertices if len(vertex.operators) == 1}
    wrong_one = next(name for name in BUSIEST if name in alone)
    graph: dict[str, Any] = json.loads((folder / "graph.json").read_text())
    for row in graph["operators"]:
        if row["name"] == wrong_one:
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
    streamplace("place", str(wrong), *settings, *rate, "-o", str(placement))
    say(f"explaining a graph in which {wrong_one} costs {1 / FACTOR:.0%} of what it does")
    watch = ["--against", flink.url, "--job", job, "--seconds", f"{WATCH_S}", "--json"]
    answer = streamplace("explain", str(placement), *watch)
    (folder / "against.json").write_text(answer)
    against = json.loads(answer)["against"]
    off = [each for each in against["off"] if each["kind"] == "instructions"]
    for each in against["off"]:
        print(f"explain --against: {each['kind']} of {each['name'] or 'all devices'}, {each}")
    worst = max(off, key=lambda each: each["ratio"], default=None)
    if worst is None or worst["name"] != wrong_one:
        print(f"explain --against did NOT name {wrong_one}")
        return False
    near: bool = abs(worst["ratio"] / FACTOR - 1) <= TOLERANCE
    verdict = "within" if near else "NOT within"
    print(
        f"explain --against: {wrong_one} takes {worst['ratio']:.2f} times what the graph says, "
        f"{verdict} {TOLERANCE:.0%} of the true {FACTOR}"
    )
    return near
