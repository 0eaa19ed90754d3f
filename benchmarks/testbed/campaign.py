"""Random graphs and placements of different quality: simulated and measured.

Every result is kept as it comes, a line of JSON each; what is there already is not run again.
"""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.testbed.calibration import calibrate
from benchmarks.testbed.comparing import compare
from benchmarks.testbed.emulator import Emulator
from benchmarks.testbed.scaling import Machine, Scaled, scale
from streamplace import Cluster, Network, Placement, Problem, Recipe, StreamGraph, place
from streamplace.files.atomic import make_folder
from streamplace.util.arrays import Ints

RESULTS, CALIBRATION = "campaign.jsonl", "calibration.json"
SIZES = range(8, 27)
SEED = 8
PRESETS = ("dream", "series-parallel", "dream", "layered")
"""In turn: half the graphs are of the paper's kind."""
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
FULL_RATE = 1e4  # tuples/s, what the presets are meant for
OVERLOAD = 1.25
"""Graphs are offered so much more than `auto` sustains in simulation: nothing is at its ceiling."""


def graphs(count: int) -> Iterator[StreamGraph]:
    """Yield so many graphs of the presets in turn."""
    each = count // 2 + 1
    made = dict.fromkeys(PRESETS, 0)
    for i in range(count):
        preset = PRESETS[i % len(PRESETS)]
        yield Recipe(preset, each, SIZES, SEED).graph(made[preset])
        made[preset] += 1


def problem_of(graph: StreamGraph) -> Problem:
    """Return a graph on the paper's devices, each with its network interface, overloaded."""
    cluster = Cluster.equal(5, network=Network("nic"))
    most = place(graph, cluster, source_rate=1e6, placer=PLACERS["auto"]).score.throughput
    return Problem(graph, cluster, source_rate=OVERLOAD * most)


def placements(scaled: Scaled) -> Iterator[tuple[str, Ints]]:
    """Yield what each placer makes of a scaled problem, as devices."""
    small = scaled.problem
    for name, placer in PLACERS.items():
        found = place(small.graph, small.cluster, source_rate=small.source_rate, placer=placer)
        yield name, found.placement.canonical().devices


def run(arguments: argparse.Namespace) -> int:
    """Run what is not in the folder yet."""
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
                file.write(json.dumps(one) + "\n")
                file.flush()
                print(
                    f"{i + 1:3} {one['graph']:20} {one['placer']:16} closed {one['closed']:.3f} "
                    f"engine {one['engine']:.3f} measured {one['measured']:.3f}",
                    flush=True,
                )
    return 0


def measured(
    emulator: Emulator, scaled: Scaled, known: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield a result a placer; placements that are the same but for names are run once."""
    same = {tuple(one["placement"]): one for one in known}
    there = {one["placer"] for one in known}
    for name, devices in placements(scaled):
        if name in there:
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
    """Return the machine as it was calibrated for this folder; calibrate it the first time."""
    path = folder / CALIBRATION
    if not path.exists():
        found = calibrate(Machine())
        told = {"machine": asdict(found.told_to(Machine())), "found": asdict(found)}
        path.write_text(json.dumps(told, indent=2) + "\n")
    told = json.loads(path.read_text())
    print(f"calibrated: {told['found']}", file=sys.stderr)
    return Machine(**told["machine"])


def read(path: Path) -> list[dict[str, Any]]:
    """Return the results so far; a last line that was cut off is none."""
    if not path.exists():
        return []
    if path.suffix == ".gz":
        return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    whole = path.read_text()
    lines = whole[: whole.rfind("\n") + 1].splitlines()
    if len(lines) < len(whole.splitlines()):
        path.write_text("".join(line + "\n" for line in lines))
    return [json.loads(line) for line in lines]


def placement_of(problem: Problem, one: dict[str, Any]) -> Placement:
    """Return the placement of a result."""
    return Placement(problem, np.array(one["placement"], dtype=np.int32))
