"""Unusual problems for solvers, drawn by number: rare shapes, and values from 0 to too large."""

from collections.abc import Callable

import numpy as np

from streamplace import Cluster, Constraints, Device, Network, Problem, StreamGraph
from streamplace.errors import StreamplaceError
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats
from tests.hardening.graph_shapes import SHAPES

SIZES = (2, 3, 5, 8, 17, 40)
LARGE, LARGE_EVERY = 10_000, 250  # one problem in 250 has 10,000 operators
Numbers = Callable[[np.random.Generator, int], Floats]
"""Draws a number of random numbers."""


def one_large_number(rng: np.random.Generator, count: int) -> Floats:
    """Return one very large number among very small ones."""
    numbers = np.full(count, 1e-12)
    numbers[rng.integers(count) :][:1] = 1e12
    return numbers


NUMBERS: tuple[Numbers, ...] = (
    lambda rng, n: np.zeros(n),
    lambda rng, n: np.full(n, 1e5),
    lambda rng, n: rng.uniform(1e4, 1e6, n),
    one_large_number,
    lambda rng, n: 10.0 ** rng.uniform(-300, 80, n),
    lambda rng, n: 10.0 ** rng.uniform(-9, 12, n),
    lambda rng, n: np.full(n, 1e-300),
    lambda rng, n: np.full(n, 5e-324),
    lambda rng, n: np.full(n, 1e300),  # too large for a problem
    lambda rng, n: np.full(n, 2.0**31 - 1),  # the edge of 32-bit integers
    lambda rng, n: rng.choice([2.0**30, 2.0**31, 2.0**32, 2.0**62, 2.0**63], n),
    lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, rng.uniform(1e4, 1e6, n)),
    lambda rng, n: rng.integers(0, 3, n).astype(np.float64),
)
"""Kinds of work (instructions per tuple) and of payload (bytes)."""
SELECTIVITIES: tuple[Numbers, ...] = (
    lambda rng, n: np.ones(n),
    lambda rng, n: np.ones(n),
    lambda rng, n: rng.choice([0.0, 0.25, 1.0, 3.0], n),
    lambda rng, n: 10.0 ** rng.uniform(-30, 3, n),
    lambda rng, n: np.zeros(n),
)
"""Kinds of selectivities; 1 everywhere is drawn twice as often as the others."""


class NoProblemError(Exception):
    """The draw is not a valid problem, so no solver can try it."""


def unusual_problem(number: int, seed: int, largest: int = LARGE) -> Problem:
    """Return a problem; successive numbers cover all shapes and all kinds of values.

    Parameters
    ----------
    number, seed
        The number of the problem, and the seed of its random choices.
    largest
        The largest number of operators.

    Raises
    ------
    NoProblemError
        If the draw is not a valid problem: its constraints contradict one another, its loads
        overflow, or no tuple ever reaches a sink.
    """
    try:
        problem = _drawn(number, seed, largest)
        flow(problem)
    except StreamplaceError as error:
        raise NoProblemError(f"{type(error).__name__}: {error}") from None
    return problem


def _drawn(number: int, seed: int, largest: int) -> Problem:
    rng = np.random.default_rng((seed, number))
    graph = _graph(rng, number, largest)
    cluster = _cluster(rng)
    rules = _rules(rng, graph.names, cluster.names) if rng.random() < 0.3 else None
    return Problem(
        graph,
        cluster,
        source_rate=float(rng.choice([1e-9, 1.0, 1e3, 1e4, 1e4, 1e6, 1e15])),
        constraints=rules,
        model="bottleneck" if rng.random() < 0.6 else "path-average",
        target_utilisation=float(rng.choice([1.0, 1.0, 0.5, 1e-9], p=[0.5, 0.3, 0.15, 0.05])),
    )


def _graph(rng: np.random.Generator, number: int, largest: int) -> StreamGraph:
    large = number % LARGE_EVERY == LARGE_EVERY - 1
    size = min(largest, LARGE) if large else int(rng.choice(SIZES))
    count, ends = SHAPES[number % len(SHAPES)](rng, size)
    names = rng.permutation(count)  # so that operators are not in topological order
    work = _one_of(NUMBERS, rng, number // len(SHAPES))(rng, count)
    return StreamGraph.from_columns(
        [f"op{v}" for v in range(count)],
        work,
        _one_of(NUMBERS, rng)(rng, count),
        names[np.array(ends, dtype=np.int64).reshape(-1, 2)],
        selectivity=_one_of(SELECTIVITIES, rng)(rng, len(ends)),
        memory_bytes=rng.integers(0, 5, size=count) * 1e6,
    )


def _one_of(numbers: tuple[Numbers, ...], rng: np.random.Generator, turn: int = -1) -> Numbers:
    """Return the kind of numbers for a turn; a random kind for a negative turn."""
    return numbers[turn % len(numbers) if turn >= 0 else int(rng.integers(len(numbers)))]


def _cluster(rng: np.random.Generator) -> Cluster:
    count = int(rng.choice([1, 2, 3, 5, 5, 40]))
    kinds: tuple[Numbers, ...] = (
        lambda rng, n: np.full(n, 2500.0),
        lambda rng, n: rng.uniform(300, 5000, n),
        lambda rng, n: rng.choice([1e-9, 1.0, 1e3, 1e15], n),
    )
    mips = _one_of(kinds, rng)(rng, count).tolist()
    cores = rng.choice([1, 1, 1, 4, 10**6], size=count).tolist()
    memory_bytes = 5e6 if rng.random() < 0.1 else None
    devices = [
        Device(f"d{d}", m, c, memory_bytes)
        for d, (m, c) in enumerate(zip(mips, cores, strict=True))
    ]
    bandwidths = (None, 1e-9, 10.0, 1000.0, 1000.0, 1e15)
    bandwidth = bandwidths[int(rng.integers(len(bandwidths)))]
    return Cluster(
        devices,
        Network(
            "nic" if rng.random() < 0.4 else "pair",
            bandwidth,
            overhead_s=float(rng.choice([0.0, 0.0, 1e-5, 1e6])),
            gap_s=float(rng.choice([0.0, 0.0, 1e-5, 1e6])),
        ),
    )


def _rules(
    rng: np.random.Generator, operators: tuple[str, ...], devices: tuple[str, ...]
) -> Constraints:
    """Return constraints, some of them extreme, such as one device for all operators."""
    some = [operators[v] for v in rng.permutation(len(operators))[: rng.integers(1, 6)]]
    kind = int(rng.integers(5))
    if kind == 0:
        return Constraints(colocate=[operators])
    if kind == 1:
        return Constraints(exlocate=[operators[: len(devices)]])
    if kind == 2:
        return Constraints(pins=dict.fromkeys(some, devices[-1]))
    if kind == 3:
        return Constraints(colocate=[some], exlocate=[operators[:2]])
    return Constraints(allowed=dict.fromkeys(some, devices[:2]), colocate=[some[:2]])
