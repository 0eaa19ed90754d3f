"""Random problems of all kinds, reproducible from a seed, and their optimum by brute force."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.reference.rules import obeying
from streamplace import Cluster, Constraints, Device, Network, Problem, StreamGraph
from streamplace.errors import GraphError, InfeasibleError
from streamplace.problem.cluster import LinkOverride
from streamplace.problem.objective import Model
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import throughput
from streamplace.util.arrays import Ints

MAX_OPERATORS = 12
CHUNK = 100_000  # placements scored per call


def random_problem(seed: int, model: Model = "bottleneck", max_placements: int = 10**6) -> Problem:
    """Return a random problem with at most `max_placements` placements, some of them feasible."""
    rng = np.random.default_rng(seed)
    while True:
        try:
            problem = _drawn(rng, model, max_placements)
            flow(problem)
        except (GraphError, InfeasibleError):  # path-average without tuples at sinks; constraints
            continue
        if next(feasible_placements(problem), None) is not None:
            return problem


def feasible_change(
    problem: Problem, change: Callable[[Problem, np.random.Generator], Problem], seed: Sequence[int]
) -> Problem:
    """Return a random change of a problem, drawn until some placement is feasible."""
    rng = np.random.default_rng(seed)
    while True:
        try:
            changed = change(problem, rng)
        except InfeasibleError:  # too few groups, or too little of something
            continue
        if next(feasible_placements(changed), None) is not None:
            return changed


def optimum(problem: Problem) -> float:
    """Return the throughput of the best feasible placement in tuples/s."""
    return max(float(throughput(problem, rows).max()) for rows in feasible_placements(problem))


def feasible_placements(problem: Problem) -> Iterator[Ints]:
    """Yield all feasible placements, in arrays of shape (K, V)."""
    for rows in every_placement(problem):
        feasible = rows[obeying(problem, rows)]
        if len(feasible):
            yield feasible


def every_placement(problem: Problem) -> Iterator[Ints]:
    """Yield all placements, feasible or not, in arrays of shape (K, V)."""
    devices, operators = len(problem.cluster.devices), len(problem.graph.names)
    count = devices**operators
    for begin in range(0, count, CHUNK):
        numbers = np.arange(begin, min(begin + CHUNK, count))
        rows = np.unravel_index(numbers, (devices,) * operators)
        yield np.ascontiguousarray(np.stack(rows, axis=1).astype(np.int32))


def _drawn(rng: np.random.Generator, model: Model, max_placements: int) -> Problem:
    devices = int(rng.integers(1, 6))
    largest = MAX_OPERATORS
    if devices > 1:
        largest = min(MAX_OPERATORS, int(np.log(max_placements) / np.log(devices)))
    graph = _graph(rng, int(rng.integers(max(1, largest - 3), largest + 1)))
    cluster = _cluster(rng, devices)
    rates = rng.integers(3, 30, size=1 if rng.random() < 0.8 else 2) * 100.0
    share = 1.0 if rng.random() < 0.8 else 0.7
    rules = _rules(rng, graph.names, cluster.names) if rng.random() < 0.4 else None
    return Problem(
        graph,
        cluster,
        source_rate=rates.tolist(),
        constraints=rules,
        model=model,
        target_utilisation=share,
    )


def _graph(rng: np.random.Generator, count: int) -> StreamGraph:
    ends = [
        (int(u), v)
        for v in range(1, count)
        for u in rng.choice(v, size=min(v, int(rng.choice([1, 1, 1, 2, 3, 0]))), replace=False)
    ]
    all_equal = rng.random() < 0.3
    instructions = rng.integers(0, 40, size=count) * 1e4
    return StreamGraph.from_columns(
        [f"op{v}" for v in range(count)],
        np.full(count, instructions.max()) if all_equal else instructions,
        rng.integers(0, 50, size=count) * 500.0,
        np.array(ends, dtype=np.int64).reshape(-1, 2),
        selectivity=rng.choice([0.25, 0.5, 1.0, 1.0, 1.0, 1.5, 3.0], size=len(ends)),
        memory_bytes=rng.integers(0, 5, size=count) * 1e6,
        cores=rng.spawn(1)[0].choice([1, 1, 1, 2, 4], size=count),
    )


def _cluster(rng: np.random.Generator, count: int) -> Cluster:
    all_equal, limited = rng.random() < 0.5, rng.random() < 0.2
    mips, cores = rng.integers(5, 50, size=count) * 100.0, rng.integers(1, 5, size=count)
    if all_equal:
        mips[:], cores[:] = mips[0], cores[0]
    room = float(rng.integers(4, 20)) * 1e6 if limited else None
    devices = [Device(f"d{i}", mips[i], int(cores[i]), room) for i in range(count)]
    return Cluster(devices, _network(rng, count))


def _network(rng: np.random.Generator, devices: int) -> Network:
    kind = "nic" if rng.random() < 0.5 else "pair"
    overrides = []
    if devices > 1 and rng.random() < 0.2:
        a, b = rng.choice(devices, size=2, replace=False)
        ends = (f"d{a}", None if kind == "nic" else f"d{b}")
        overrides = [LinkOverride(*ends, bandwidth_mbps=float(rng.integers(5, 100)))]
    return Network(
        kind,  # type: ignore[arg-type]  # it is one of the two kinds
        bandwidth_mbps=None if rng.random() < 0.1 else float(rng.integers(5, 100)),
        overhead_s=rng.choice([0.0, 0.0, 2e-5]),
        gap_s=rng.choice([0.0, 0.0, 2e-5]),
        overrides=tuple(overrides),
    )


def _rules(
    rng: np.random.Generator, operators: tuple[str, ...], devices: tuple[str, ...]
) -> Constraints:
    """Return a random selection of constraints.

    Possible are one pin, one group of two or three operators to colocate, one such group to
    exlocate, and one operator that is limited to two devices.
    """

    def some(names: tuple[str, ...], count: int) -> list[str]:
        size = min(count, len(names))
        return [str(name) for name in rng.choice(names, size=size, replace=False)]

    def groups() -> list[list[str]]:
        return [some(operators, int(rng.integers(2, 4)))] if rng.random() < 0.5 else []

    return Constraints(
        pins={some(operators, 1)[0]: some(devices, 1)[0]} if rng.random() < 0.3 else {},
        colocate=groups(),
        exlocate=groups(),
        allowed={some(operators, 1)[0]: some(devices, 2)} if rng.random() < 0.5 else {},
    )
