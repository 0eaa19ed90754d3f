"""Graphs and placements of the campaign of passes."""

from collections.abc import Iterator

import numpy as np

from benchmarks.testbed.passes.executors import KINDS
from benchmarks.testbed.passes.overheads import Overheads
from benchmarks.testbed.passes.scaling import MBPS, ScaledPass
from streamplace import Cluster, Device, Makespan, Network, Problem, Recipe, StreamGraph, place
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.util.arrays import Floats, Ints

SEED = 8
PRESETS = {
    "layered": range(32, 65),
    "series-parallel": range(32, 65),
    "dream": range(20, 28),  # it has no larger graphs
}
"""Structures of graphs, with their numbers of operators."""
SPEEDS = ((1.0, 1.0, 1.0, 1.0), (1.0, 0.9, 0.6, 0.5))
WORK_S = (0.005, 0.05)  # least and largest time of an operator on a device of speed 1
MESSAGE_S = (0.004, 0.03)  # least and largest time of a message on its link
PLACERS = {
    "auto": "auto:evaluations=20000",
    "heft": "heft",
    "metis": "metis",
    "round-robin": "round-robin",
    "random": "random",
}
NEAR = {"auto+3%": 1.03, "auto+6%": 1.06, "auto+12%": 1.12}
"""Placements of similar quality: a few random moves from the best one, with about these simulated
makespans relative to it."""
ORDER = ("auto", "auto+6%", "heft", "round-robin", "auto+3%", "metis", "auto+12%", "random")
"""Order in which campaigns with fewer placements take them."""
TRIES = 400  # placements among which the nearest in quality is chosen
MOVES = 4  # at most
SAME = 1e-3  # difference of two simulated makespans that no measurement shows


def problems(count: int) -> Iterator[Problem]:
    """Yield `count` problems; structures, networks and speeds of devices take turns."""
    for i in range(count):
        preset, sizes = list(PRESETS.items())[i % len(PRESETS)]
        structure = Recipe(preset, count, sizes, SEED).graph(i)
        rng = np.random.default_rng((SEED, i))
        operators, streams = len(structure.names), len(structure.stream_source)
        graph = StreamGraph.from_columns(
            structure.names,
            1e9 * _between(WORK_S, operators, rng),
            np.zeros(operators),
            np.stack([structure.stream_source, structure.stream_target], axis=1),
            stream_payload_bytes=MBPS * 1e6 / 8 * _between(MESSAGE_S, streams, rng),
            name=f"{structure.name}-{i}",
            firing="all",
        )
        speeds = SPEEDS[i // 2 % 2]
        devices = [Device(f"d{d}", 1000.0 * speed) for d, speed in enumerate(speeds)]
        network = Network(KINDS[i % 2], bandwidth_mbps=MBPS, latency_s=0.001)
        yield Problem(graph, Cluster(devices, network), objective=Makespan())


def _between(ends: tuple[float, float], count: int, rng: np.random.Generator) -> Floats:
    """Return numbers whose logarithms are uniform between those of the ends, (count,)."""
    low, high = ends
    return low * (high / low) ** rng.random(count)


def placements(scaled: ScaledPass) -> dict[str, Ints]:
    """Return placements of a pass by name, (V,) each, with different simulated makespans.

    They do not depend on the calibration. Where a placer's makespan agrees with that of another
    one, its placement is replaced by a few random moves from it.
    """
    problem = scaled.problem(Overheads.none(len(scaled.shares)))
    rng = np.random.default_rng(SEED)
    found = {
        name: place(
            problem.graph, problem.cluster, objective=Makespan(), placer=placer, seed=SEED
        ).placement.devices
        for name, placer in PLACERS.items()
    }
    tried = _moved(found["auto"], len(scaled.shares), rng)
    ratio = predicted(problem, tried) / predicted(problem, found["auto"][None])
    found |= {name: tried[np.abs(ratio - aim).argmin()] for name, aim in NEAR.items()}
    chosen: dict[str, Ints] = {}
    seconds: list[float] = []
    for name in ORDER:
        rows = np.concatenate([found[name][None], _moved(found[name], len(scaled.shares), rng)])
        own = predicted(problem, rows)
        distinct = (np.abs(own[:, None] / np.array([*seconds, np.inf]) - 1) > SAME).all(axis=1)
        first = int(distinct.argmax())
        chosen[f"{name}+moves" if first else name] = rows[first]
        seconds.append(float(own[first]))
    return chosen


def _moved(start: Ints, devices: int, rng: np.random.Generator) -> Ints:
    """Return placements that differ from one in up to `MOVES` operators, (TRIES, V)."""
    rows = np.tile(start, (TRIES, 1))
    for row in rows:
        moved = rng.choice(len(start), rng.integers(1, MOVES + 1), replace=False)
        row[moved] = rng.integers(devices, size=len(moved))
    return rows


def predicted(problem: Problem, rows: Ints) -> Floats:
    """Return the simulated makespan of each of K placements, (K,), in seconds."""
    return makespan_evaluator(problem).makespans(rows)
