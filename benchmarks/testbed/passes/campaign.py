"""The campaign of passes: graphs with several placements, simulated and measured.

The results of a graph are written as soon as they are measured, as one line of JSON. Existing
results are not measured again.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.result_lines import add, origin, read
from benchmarks.testbed import disturbance
from benchmarks.testbed.passes.executors import Executors
from benchmarks.testbed.passes.measuring import makespans
from benchmarks.testbed.passes.overheads import calibrate
from benchmarks.testbed.passes.problems import SEED, placements, predicted, problems
from benchmarks.testbed.passes.scaling import scale_pass
from streamplace import Problem
from streamplace.files.writing import make_folder

RESULTS = "passes.jsonl"


def run(folder: Path, graphs: int, most: int, runs: int, repeats: int) -> None:
    """Measure the graphs that have no results in the folder.

    Parameters
    ----------
    most
        Number of placements of a graph.
    runs
        How often the whole campaign is repeated.
    repeats
        Passes of a placement in a run.
    """
    results = make_folder(folder) / RESULTS
    done = {(one["run"], one["graph"]) for one in read(results)}
    with results.open("a") as file:
        for number in range(1, runs + 1):
            for problem in problems(graphs):
                if (number, problem.graph.name) not in done:
                    one = {"run": number, **measured(problem, most, repeats), "seed": SEED}
                    add(file, one | origin("benchmarks.testbed.passes"))


def measured(problem: Problem, most: int, repeats: int) -> dict[str, Any]:
    """Return the simulated and measured makespans of placements of a problem, and print them."""
    scaled = scale_pass(problem)
    chosen = dict(list(placements(scaled).items())[:most])
    rows = np.array(list(chosen.values()), np.int32)
    kind = problem.cluster.network.kind
    before = disturbance.times()
    with Executors(kind, scaled.shares, scaled.mbps) as executors:
        overheads = calibrate(executors)
        seconds = makespans(executors, scaled, list(rows), repeats)
    simulated = predicted(scaled.problem(overheads), rows)
    disturbed = disturbance.times().since(before)
    print(f"{problem.graph.name} ({kind}): {overheads}; {disturbed}")
    by_name: dict[str, dict[str, Any]] = {}
    for name, devices, expected, each in zip(chosen, rows, simulated, seconds, strict=True):
        print(
            f"  {name:12} simulated {expected:.4f} s, measured {np.median(each):.4f} s", flush=True
        )
        by_name[name] = {
            "simulated_s": round(float(expected), 6),
            "measured_s": np.round(each, 6).tolist(),
            "placement": devices.tolist(),
        }
    return {
        "graph": problem.graph.name,
        "operators": len(problem.graph.names),
        "network": kind,
        "shares": np.round(scaled.shares, 4).tolist(),
        "overheads": asdict(overheads),
        "disturbance": disturbed,
        "placements": by_name,
    }
