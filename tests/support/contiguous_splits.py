"""Small problems of contiguous splits, and their best splits by brute force."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from math import inf
from typing import Any

import numpy as np

from streamplace import Cluster, Constraints, Device, Network, Operator, Problem, Stream
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import Multicast
from streamplace.scoring.throughput import max_source_rate
from streamplace.util.arrays import Ints

MIPS = 1e-6  # so that an instruction takes a second
OVERLOAD = 1e6  # tuples/s


def random_split_problem(
    seed: int,
    network: str = "free",
    multicast: Multicast = "none",
    memory: bool = False,
    colocated: bool = False,
    operators: int = 6,
) -> Problem:
    """Return a random directed graph on three devices of two kinds.

    The streams of an operator have one payload, and messages cost CPU time by byte on two of the
    devices, as on the accelerators of dnn-partitioning.
    """
    rng = np.random.default_rng((seed, operators))
    names = [f"v{i}" for i in range(operators)]
    payload = rng.integers(1, 20, operators) * 1.0
    nodes = [
        Operator(
            name,
            1.0,
            float(payload[i]),
            float(rng.integers(1, 6)),
            seconds_on={"fast": float(rng.integers(1, 10)), "slow": float(rng.integers(5, 30))},
        )
        for i, name in enumerate(names)
    ]
    streams = [
        Stream(names[a], names[b], payload_bytes=float(payload[a]))
        for b in range(operators)
        for a in range(b)
        if (a == b - 1 and rng.random() < 0.8) or rng.random() < 0.2
    ]
    groups = [rng.choice(names, 2, replace=False).tolist()] if colocated else []
    room = 3.0 * operators if memory else inf
    held: dict[str, Any] = {"memory_bytes": room / 2} if memory else {}
    fast = Device("fast0", MIPS, kind="fast", overhead_s_per_byte=0.3, **held)
    cluster = Cluster(
        [
            fast,
            replace(fast, name="fast1"),
            Device("slow", MIPS, kind="slow", overhead_s_per_byte=0.0),
        ],
        _network(network),
    )
    graph = StreamGraph(
        nodes,
        streams,
        constraints=Constraints(colocate=groups),
        firing="all",
        multicast=multicast,
    )
    return Problem(graph, cluster, source_rate=OVERLOAD)


def _network(kind: str) -> Network:
    if kind == "free":
        return Network("free", bandwidth_mbps=None, latency_s=0.0)
    return Network(kind, bandwidth_mbps=8e-6, latency_s=0.0)  # type: ignore[arg-type]


def seconds_per_sample(problem: Problem, devices: Ints) -> float:
    """Return the largest utilisation of a placement over the source rate."""
    rate = max_source_rate(problem, devices)
    return 0.0 if rate is None else 1.0 / rate


def feasible_rows(problem: Problem) -> Iterator[Ints]:
    """Yield all feasible placements, (V,) each."""
    devices = range(len(problem.cluster.devices))
    for row in product(devices, repeat=len(problem.graph.names)):
        made = np.array(row, dtype=np.int32)
        if problem.feasibility.violation(made) is None:
            yield made


def is_contiguous(
    problem: Problem, devices: Ints, orders: list[tuple[int, ...]] | None = None
) -> bool:
    """Return whether the devices have an order in which no stream leads backwards.

    Parameters
    ----------
    orders
        The orders of devices that count; None: all.
    """
    a, b = devices[problem.graph.stream_source], devices[problem.graph.stream_target]
    for order in orders or list(permutations(range(len(problem.cluster.devices)))):
        place = np.argsort(order)
        if np.all(place[a] <= place[b]):
            return True
    return False


def best_split(problem: Problem, orders: list[tuple[int, ...]] | None = None) -> float:
    """Return the fewest seconds per sample of any contiguous split; inf if none is feasible."""
    rows = (row for row in feasible_rows(problem) if is_contiguous(problem, row, orders))
    return min((seconds_per_sample(problem, row) for row in rows), default=inf)
