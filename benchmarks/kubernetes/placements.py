"""Random placements for export, of operators with instances, memory and resources."""

from typing import Any

import numpy as np

import streamplace as sp
from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import Distribution, LogicalGraph

HOSTS = ("rack-1", "Rack 1", "node.example.com", "ü", "true", "9")
RATE = 2000.0  # tuples/s
UTILISATION = 0.8
GIGABYTE = 1e9


def drawn(number: int, seed: int) -> sp.Placement:
    """Return a placement of 2 to 8 operators on 2 to 6 devices.

    Odd numbers have operators with instances, whose shares may differ. Of four successive numbers,
    two have unequal devices (names, speeds and cores). Operators need memory in half of the cases,
    and whole or half GPUs in a quarter. The rate is low enough for most devices, but not for all.
    """
    rng = np.random.default_rng([seed, number])
    names = [f"operator {v}" for v in range(int(rng.integers(2, 9)))]
    operators = [
        sp.Operator(
            name,
            float(rng.integers(1, 16)) * 1e5,
            float(rng.integers(1, 500)),
            memory_bytes=float(rng.integers(2)) * float(rng.integers(1, 40)) * GIGABYTE / 10,
            resources={"gpu": float(rng.choice([0.5, 1.0]))} if rng.random() < 0.25 else {},
        )
        for name in names
    ]
    streams = [
        sp.Stream(names[int(rng.integers(v))], names[v], float(rng.choice([0.5, 1.0])))
        for v in range(1, len(names))
    ]
    graph = sp.StreamGraph(operators, streams, name=f"job {number}", source_rate=RATE)
    if number % 2:
        counts = {name: int(rng.integers(1, 4)) for name in names}
        pairs = [(stream.source, stream.target) for stream in streams]
        rules = {pair: [list(Distribution)[int(rng.integers(4))]] for pair in pairs}
        graph = to_instances(LogicalGraph(graph, counts, rules))
    cluster = _cluster(rng, is_equal=number % 4 < 2)
    found = sp.place(graph, cluster, target_utilisation=UTILISATION, placer="greedy")
    return found.placement


def _cluster(rng: np.random.Generator, *, is_equal: bool) -> sp.Cluster:
    """Return 2 to 6 devices; each has memory and GPUs for most jobs."""
    count = int(rng.integers(2, 7))
    room: dict[str, Any] = {"memory_bytes": 16 * GIGABYTE, "resources": {"gpu": 2.0}}
    if is_equal:
        return sp.Cluster([sp.Device(f"d{d}", 1000.0, 4, **room) for d in range(count)])
    return sp.Cluster(
        [
            sp.Device(
                HOSTS[d], float(rng.integers(5, 20)) * 100.0, int(rng.choice([2, 4, 8])), **room
            )
            for d in range(count)
        ]
    )
