"""Problems and placements drawn by number, faster than with Hypothesis and from wider ranges."""

from typing import cast

import numpy as np

from benchmarks.reference.grouped_problems import grouped_cluster
from benchmarks.reference.message_problems import possible_devices, with_message_fields
from streamplace import Cluster, Device, LinkOverride, Network, Problem, StreamGraph
from streamplace.problem.cluster import NetworkKind
from streamplace.scoring.flow import flow
from streamplace.util.arrays import SMALLEST_NORMAL, Floats, Ints

PLACEMENTS = 4  # per problem: the fast kernel scores four at once
MAX_OPERATORS, MAX_DEVICES = 12, 5
GROUPED = 2  # remainder of the numbers of problems with groups
SHARED = 1  # remainder of those with times by kind of device, shared messages and similar


def drawn(number: int, seed: int) -> tuple[Problem, Ints]:
    """Return a problem under ``bottleneck`` and placements of it, (PLACEMENTS, V).

    The problems have several sources and sinks, joins, parallel streams and isolated operators;
    work, payloads and selectivities of 0; unequal devices, and networks of both kinds. In every
    third problem, devices are in groups, some of which share links. In every fourth, operators have
    times by kind of device, streams share messages, and networks are of all four kinds.
    """
    rng = np.random.default_rng((seed, number))
    while True:
        graph, cluster = _graph(rng), _cluster(rng)
        if number % 3 == GROUPED:
            cluster = grouped_cluster(cluster, np.random.default_rng((seed, number, GROUPED)))
        problem = Problem(graph, cluster, source_rate=float(rng.integers(3, 3000)))
        others = np.random.default_rng((seed, number, SHARED))
        if number % 4 == SHARED:
            problem = with_message_fields(problem, others)
        if flow(problem).nominal_sink_tuples < SMALLEST_NORMAL:  # path-average counts at sinks
            continue
        if number % 4 == SHARED:
            return problem, np.stack([possible_devices(problem, others) for _ in range(PLACEMENTS)])
        shape = PLACEMENTS, len(graph.names)
        return problem, rng.integers(len(cluster.devices), size=shape, dtype=np.int32)


def _graph(rng: np.random.Generator) -> StreamGraph:
    count = int(rng.integers(1, MAX_OPERATORS + 1))
    order = rng.permutation(count)
    ends = [
        (int(order[u]), int(order[v]))
        for v in range(1, count)
        for u in rng.integers(v, size=rng.choice([0, 1, 1, 1, 2, 3]))  # repeats are possible
    ]
    streams = len(ends)
    payload = np.where(rng.random(streams) < 0.5, np.nan, _numbers(rng, streams, 25_000.0))
    fed = {v for _, v in ends}
    sources = [v for v in range(count) if v not in fed]
    parts = rng.integers(0, 4, size=len(sources)) + (rng.random() < 0.5)
    shares = None
    if parts.sum() > 0 and rng.random() < 0.5:
        shares = {
            f"op{v}": float(part / parts.sum()) for v, part in zip(sources, parts, strict=True)
        }
    return StreamGraph.from_columns(
        [f"op{v}" for v in range(count)],
        _numbers(rng, count, 4e5),
        _numbers(rng, count, 25_000.0),
        np.array(ends, dtype=np.int64).reshape(-1, 2),
        selectivity=_numbers(rng, streams, 3.0, often=1.0),
        stream_payload_bytes=payload,
        source_shares=shares,
    )


def _numbers(rng: np.random.Generator, count: int, largest: float, often: float = 0.0) -> Floats:
    """Return numbers from 0 to `largest`: about 30% are round, 20% are `often`, and 10% are 0."""
    numbers = rng.uniform(0.0, largest, size=count)
    kind = rng.random(count)
    numbers = np.where(kind < 0.3, np.round(numbers / largest, 1) * largest, numbers)
    numbers[kind > 0.7] = often
    numbers[kind > 0.9] = 0.0
    return numbers


def _cluster(rng: np.random.Generator) -> Cluster:
    count = int(rng.integers(1, MAX_DEVICES + 1))
    mips, cores = rng.uniform(300.0, 5000.0, size=count), rng.integers(1, 5, size=count)
    if rng.random() < 0.4:
        mips[:], cores[:] = 2500.0, 1
    devices = [Device(f"d{d}", float(mips[d]), int(cores[d])) for d in range(count)]
    return Cluster(devices, _network(rng, count))


def _network(rng: np.random.Generator, count: int) -> Network:
    kind = cast("NetworkKind", str(rng.choice(["pair", "nic"])))
    ends: list[tuple[int | None, int | None]] = [
        (a, b) for a in range(count) for b in range(count) if a != b
    ]
    if kind == "nic":
        ends = [(d, None) for d in range(count)] + [(None, d) for d in range(count)]
    chosen = rng.permutation(len(ends))[: rng.choice([0, 0, 1, 2, 3])].tolist()
    overrides = [
        _override(_name(ends[i][0]), _name(ends[i][1]), *_costs(rng, override=True)) for i in chosen
    ]
    bandwidth, _, overhead, gap = _costs(rng, override=False)
    return Network(kind, bandwidth, 0.001, overhead or 0.0, gap or 0.0, tuple(overrides))


def _override(source: str | None, target: str | None, *costs: float | None) -> LinkOverride:
    bandwidth, latency, overhead, gap = costs
    return LinkOverride(source, target, bandwidth, latency, overhead, gap)


def _name(device: int | None) -> str | None:
    return None if device is None else f"d{device}"


def _costs(rng: np.random.Generator, *, override: bool) -> tuple[float | None, ...]:
    """Return bandwidth, latency, overhead and gap of a network, or of an `override` for a link.

    In an override, None keeps the value of the network.
    """
    bandwidth = None if rng.random() < 0.15 else float(rng.uniform(5.0, 1000.0))
    costs = [0.0 if rng.random() < 0.6 else float(rng.uniform(0.0, 5e-5)) for _ in range(2)]
    keep = [override and rng.random() < 0.3 for _ in range(2)]
    overhead, gap = (None if kept else cost for kept, cost in zip(keep, costs, strict=True))
    return bandwidth, None, overhead, gap
