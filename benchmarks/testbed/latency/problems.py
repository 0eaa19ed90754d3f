"""Graphs of the campaign of latencies, as they run, and the placements to start from."""

from dataclasses import dataclass

import numpy as np

from benchmarks.testbed.campaign import PRESETS, graphs
from benchmarks.testbed.latency.devices import MACHINE, PACE
from benchmarks.testbed.latency.simulated import Service
from benchmarks.testbed.scaling import scale
from streamplace import Cluster, Device, Network, Problem, StreamGraph, place
from streamplace.latency.tuples import busiest, deployment_of, estimate
from streamplace.sim.tuples import Arrivals
from streamplace.util.arrays import Ints

SEED = 31
SIZES = range(6, 15)
SPEEDS = ((1.0, 1.0, 1.0, 1.0), (1.0, 0.9, 0.6, 0.5), (1.0, 1.0, 0.7), (1.0,) * 5)
LOADS = (0.5, 0.6, 0.7, 0.8)
"""Utilisation of what is busiest under the placement of `auto`, in turn."""
MOST_LOAD = 0.9  # of the other placement
AUTO = "auto:evaluations=50000"
WORSE = 1.5
"""Estimated mean latency of the other placement, relative to that of `auto`."""
TRIES, MOVES = 300, 4
"""Placements among which the other one is chosen, and operators that they move at most."""


@dataclass(frozen=True, eq=False)
class Case:
    """A problem to run, before it is scaled, and the placements to start from, (V,) each."""

    problem: Problem
    service: Service
    starts: dict[str, Ints]

    @property
    def name(self) -> str:
        """Name of the graph."""
        return str(self.problem.graph.name)


def cases(count: int) -> list[Case]:
    """Return `count` cases; presets, devices, services and loads take turns."""
    return [_case(i, graph) for i, graph in enumerate(graphs(count, SIZES, SEED))]


def _case(i: int, graph: StreamGraph) -> Case:
    """Return a case whose source rate uses the devices of the testbed as much as intended."""
    speeds = SPEEDS[(i + i // len(PRESETS)) % len(SPEEDS)]
    devices = [Device(f"d{d}", 1000.0 * speed) for d, speed in enumerate(speeds)]
    cluster = Cluster(devices, Network("pair"))
    auto = place(graph, cluster, source_rate=1e6, placer=AUTO, seed=SEED)
    rate = auto.score.throughput * LOADS[i // 3 % len(LOADS)] * PACE
    problem = Problem(graph, cluster, source_rate=rate)
    service: Service = "exponential" if i // len(PRESETS) % 2 else "deterministic"
    first = auto.placement.devices
    other = _worse(
        scale(problem, MACHINE).problem, first, service, np.random.default_rng((SEED, i))
    )
    return Case(problem, service, {"auto": first, "other": other})


def _worse(problem: Problem, start: Ints, service: Service, rng: np.random.Generator) -> Ints:
    """Return the placement whose estimate is nearest to `WORSE` times that of the first one.

    The placements are random, or a few random moves from the first one.
    """
    devices = len(problem.cluster.devices)
    rows = np.tile(start, (TRIES, 1))
    for k, row in enumerate(rows):
        most = len(start) if k % 2 else MOVES
        moved = rng.choice(len(start), rng.integers(1, most + 1), replace=False)
        row[moved] = rng.integers(devices, size=len(moved))
    aim = WORSE * _mean_s(problem, start, service)
    distance = [
        abs(_mean_s(problem, row, service) - aim)
        if busiest(problem, deployment_of(problem, row)).utilisation <= MOST_LOAD
        else np.inf
        for row in rows
    ]
    chosen: Ints = rows[int(np.argmin(distance))]
    return chosen


def _mean_s(problem: Problem, devices: Ints, service: Service) -> float:
    exponential = service == "exponential"
    return estimate(problem, devices, Arrivals(), exponential=exponential).value("mean")
