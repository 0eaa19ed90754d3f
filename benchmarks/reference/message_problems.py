"""Problems with fields about how operators fire, how long they take and what messages cost."""

from dataclasses import replace

import numpy as np

from benchmarks.reference.random_problems import feasible_placements, random_problem
from streamplace.errors import GraphError, InfeasibleError
from streamplace.problem.cluster import Cluster, Device, NetworkKind
from streamplace.problem.device_kinds import confined
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Ints

KINDS: tuple[NetworkKind, ...] = ("pair", "nic", "free", "egress")
FIRINGS, MULTICASTS = ("each", "all"), ("none", "device", "all")
BYTE_S = (0.0, 1e-9, 2e-8)  # seconds per byte of a message


def message_problem(seed: int, model: Model, most: int) -> Problem | None:
    """Return a problem with times by kind of device, firing and multicast; None without any."""
    rng = np.random.default_rng((seed, 3))
    try:
        problem = with_message_fields(random_problem(seed, model, most), rng)
        flow(problem)
    except (GraphError, InfeasibleError):
        return None
    return problem if next(feasible_placements(problem), None) is not None else None


def with_message_fields(problem: Problem, rng: np.random.Generator) -> Problem:
    """Return a problem with random values of those fields, and all else as it was.

    A network of pairs may become another one by pairs. Every operator can run on some device.
    """
    kinds = [[None, "cpu", "gpu"][k] for k in rng.integers(0, 3, size=len(problem.cluster.devices))]
    return Problem(
        _timed(problem.graph, kinds, rng),
        _costly(problem.cluster, kinds, rng),
        source_rate=list(problem.source_rates),
        constraints=problem.constraints,
        model=problem.model,
        target_utilisation=problem.target_utilisation,
    )


def _timed(graph: StreamGraph, kinds: list[str | None], rng: np.random.Generator) -> StreamGraph:
    rows = []
    timed, null = rng.choice([0.0, 0.6]), rng.choice([0.0, 0.3])
    for operator in graph.operators:
        times: dict[str, float | None] = {}
        for kind in ("cpu", "gpu", "tpu"):
            if rng.random() < timed:
                times[kind] = None if rng.random() < null else float(rng.integers(0, 60)) * 1e-5
        if all(kind is not None and times.get(kind, 0.0) is None for kind in kinds):
            times = {}
        rows.append(replace(operator, seconds_on=times))
    shares = {graph.names[v]: float(graph.source_share[v]) for v in graph.sources}
    return StreamGraph(
        rows,
        graph.streams,
        name=graph.name,
        source_rate=graph.source_rate,
        source_shares=shares,
        constraints=graph.constraints,
        firing=rng.choice(FIRINGS),
        multicast=rng.choice(MULTICASTS),
    )


def _costly(cluster: Cluster, kinds: list[str | None], rng: np.random.Generator) -> Cluster:
    kind = cluster.network.kind
    if kind == "pair":
        kind = KINDS[rng.choice([0, 2, 3])]
    network = replace(cluster.network, kind=kind, overhead_s_per_byte=float(rng.choice(BYTE_S)))
    devices: list[Device] = []
    for device, its_kind in zip(cluster.devices, kinds, strict=True):
        own = None if rng.random() < 0.6 else float(rng.choice(BYTE_S))
        devices.append(replace(device, kind=its_kind, overhead_s_per_byte=own))
    return Cluster(devices, network)


def possible_devices(problem: Problem, rng: np.random.Generator) -> Ints:
    """Return a placement on random devices, (V,), of kinds that can run the operators."""
    devices = rng.integers(0, len(problem.cluster.devices), size=len(problem.graph.names))
    for v, runs in confined(problem.graph, problem.cluster).items():
        devices[v] = rng.choice(np.flatnonzero(runs))
    return devices.astype(np.int32)
