"""Small passes for the testbed."""

import numpy as np

from benchmarks.testbed.passes.job import Job
from streamplace import Cluster, Device, Makespan, Network, Operator, Problem, Stream, StreamGraph
from streamplace.problem.network import NetworkKind


def small_problem(kind: NetworkKind = "pair", **network: float) -> Problem:
    """Return two chains from a to f on three unequal devices, with times of 1 to 4 s.

    Parameters
    ----------
    network
        Fields of the network that differ from 8 Mbit/s and a latency of 0.1 s.
    """
    times = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 1.0, "e": 4.0, "f": 1.0}
    operators = [Operator(name, 1e6 * t, 1e6) for name, t in times.items()]
    streams = [Stream(*ends) for ends in ("ab", "ac", "bd", "ce", "df", "ef")]
    graph = StreamGraph(operators, streams, firing="all")
    devices = [Device("d0", 1.0), Device("d1", 1.0), Device("d2", 0.5)]
    fields = {"bandwidth_mbps": 8.0, "latency_s": 0.1} | network
    cluster = Cluster(devices, Network(kind, **fields))  # type: ignore[arg-type]
    return Problem(graph, cluster, objective=Makespan())


def random_job(seed: int, *, shared: bool = False) -> Job:
    """Return a random pass of up to 12 operators on up to 4 devices, with parallel streams."""
    rng = np.random.default_rng(seed)
    operators, count = int(rng.integers(1, 13)), int(rng.integers(1, 5))
    streams = int(rng.integers(0, 20)) if operators > 1 else 0
    target = rng.integers(1, operators, streams) if streams else np.zeros(0, int)
    ends = sorted((int(rng.integers(0, w)), int(w)) for w in target)
    source, target = np.array(ends, np.int32).reshape(-1, 2).T
    return Job(
        rng.integers(count, size=operators).astype(np.int32),
        rng.uniform(0, 1e5, operators),
        source,
        target,
        rng.integers(0, 5000, streams).astype(np.int32),
        rng.uniform(0, 1e-3, (count, count)),
        shared,
    )
