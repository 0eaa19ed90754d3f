"""Random graphs with placements of different quality, simulated and measured.

Every result is written as soon as it is measured, one line of JSON each. Existing results are not
measured again.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.result_lines import add, read
from benchmarks.testbed.calibration import calibrate
from benchmarks.testbed.comparing import compare
from benchmarks.testbed.emulator import Emulator
from benchmarks.testbed.scaling import Machine, Scaled, scale
from streamplace import Cluster, Network, Placement, Problem, Recipe, StreamGraph, place
from streamplace.files.writing import make_folder
from streamplace.util.arrays import Ints

RESULTS, CALIBRATION = "campaign.jsonl", "calibration.json"
SIZES = range(8, 27)
SEED = 8
PRESETS = ("dream", "series-parallel", "dream", "layered")
"""Used in turn: half of the graphs are like those of the paper."""
PLACERS = {
    "metis": "metis",
    "metis-recursive": "metis-recursive",
    "fuser": "fuser",
    "policy": "policy",
    "auto": "auto:evaluations=200000",
    "greedy": "greedy",
    "round-robin": "round-robin",
    "random": "random",
}
OVERLOAD = 1.25
"""Source rate relative to what `auto` sustains in simulation, so that no placement sustains it."""


def graphs(count: int, sizes: range = SIZES, seed: int = SEED) -> Iterator[StreamGraph]:
    """Yield `count` graphs, of the presets in turn."""
    per_preset = count // 2 + 1  # at most
    generated = dict.fromkeys(PRESETS, 0)
    for i in range(count):
        preset = PRESETS[i % len(PRESETS)]
        yield Recipe(preset, per_preset, sizes, seed).graph(generated[preset])
        generated[preset] += 1


def problem_of(graph: StreamGraph) -> Problem:
    """Return an overloaded graph on the paper's devices, each with its own network interface."""
    cluster = Cluster.equal(5, network=Network("nic"))
    sustained = place(graph, cluster, source_rate=1e6, placer=PLACERS["auto"]).score.throughput
    return Problem(graph, cluster, source_rate=OVERLOAD * sustained)


def placements(scaled: Scaled) -> Iterator[tuple[str, Ints]]:
    """Yield each placer's name and its placement of a scaled problem, (V,)."""
    small = scaled.problem
    for name, placer in PLACERS.items():
        result = place(small.graph, small.cluster, source_rate=small.source_rate, placer=placer)
        yield name, result.placement.canonical().devices


def run(arguments: argparse.Namespace) -> int:
    """Run the placements that have no results in the folder."""
    folder = make_folder(arguments.folder)
    results = folder / RESULTS
    machine = calibrated(folder)
    done = {(one["graph"], one["placer"]): one for one in read(results)}
    all_graphs = list(graphs(arguments.graphs))
    first = scale(problem_of(all_graphs[0]), machine)
    with Emulator("nic", first.shares, first.mbps) as emulator, results.open("a") as file:
        for i, graph in enumerate(all_graphs):
            known = [one for (name, _), one in done.items() if name == graph.name]
            if len(known) == len(PLACERS):
                continue
            scaled = scale(problem_of(graph), machine)
            for one in measured(emulator, scaled, known):
                add(file, one)
                print(
                    f"{i + 1:3} {one['graph']:20} {one['placer']:16} closed {one['closed']:.3f} "
                    f"engine {one['engine']:.3f} measured {one['measured']:.3f}",
                    flush=True,
                )
    return 0


def measured(
    emulator: Emulator, scaled: Scaled, known: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield one result per placer; equal placements are run once."""
    same = {tuple(one["placement"]): one for one in known}
    finished = {one["placer"] for one in known}
    for name, devices in placements(scaled):
        if name in finished:
            continue
        key = tuple(devices.tolist())
        if key not in same:
            small = scaled.problem
            same[key] = {
                "graph": small.graph.name,
                "operators": len(small.graph.names),
                "source_rate": small.source_rate,
                "placement": list(key),
                **compare(emulator, scaled, devices).to_dict(),
                "at": time.time(),
            }
        yield same[key] | {"placer": name}


def calibrated(folder: Path) -> Machine:
    """Return the machine as calibrated for this folder; calibrate it if the folder is new."""
    path = folder / CALIBRATION
    if not path.exists():
        result = calibrate(Machine())
        document = {"machine": asdict(result.applied_to(Machine())), "found": asdict(result)}
        path.write_text(json.dumps(document, indent=2) + "\n")
    document = json.loads(path.read_text())
    print(f"calibrated: {document['found']}", file=sys.stderr)
    return Machine(**document["machine"])


def placement_of(problem: Problem, one: dict[str, Any]) -> Placement:
    """Return the placement of a result."""
    return Placement(problem, np.array(one["placement"], dtype=np.int32))
