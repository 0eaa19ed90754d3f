"""Hypothesis strategies: small jobs and clusters with realistic numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.reference.message_problems import with_message_fields
from streamplace.problem.cluster import Cluster, Device, LinkOverride, Network, NetworkKind
from streamplace.problem.device_kinds import confined
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.objective import Model
from streamplace.problem.problem import Problem

Case = tuple[Problem, list[int]]
"""A problem, and a placement of it: the index of the device of each operator."""

SELECTIVITIES = (0.0, 0.25, 0.5, 1.0, 1.0, 1.0, 1.5, 3.0)


@st.composite
def operators(draw: st.DrawFn, max_size: int = 9) -> list[Operator]:
    """Return operators of unequal weight; work and payload may be 0."""
    count = draw(st.integers(1, max_size) | st.just(max_size))
    return [
        Operator(
            f"op{i}",
            instructions=draw(st.integers(0, 40)) * 1e4,
            payload_bytes=draw(st.integers(0, 50)) * 500.0,
            memory_bytes=draw(st.integers(0, 4)) * 1e6,
            cores=draw(st.sampled_from([1, 1, 2, 3])),
        )
        for i in range(count)
    ]


@st.composite
def graphs(draw: st.DrawFn, max_size: int = 9) -> StreamGraph:
    """Return a graph with any number of sources and sinks, in which some sink receives tuples.

    Operators and streams are in unrelated orders, and streams may be parallel.
    """
    rows = draw(operators(max_size))
    order = draw(st.permutations(rows))
    streams: list[Stream] = []
    few = st.sampled_from([1, 1, 0])
    for later in range(1, len(order)):
        for earlier in draw(st.lists(st.integers(0, later - 1), min_size=draw(few), max_size=3)):
            payload = draw(st.none() | st.integers(0, 50).map(lambda n: n * 500.0))
            selectivity = draw(st.sampled_from(SELECTIVITIES))
            streams.append(Stream(order[earlier].name, order[later].name, selectivity, payload))
    streams = draw(st.permutations(streams))
    targets = {stream.target for stream in streams}
    sources = [o.name for o in rows if o.name not in targets]
    shares = None
    if draw(st.booleans()):
        parts = [draw(st.integers(0, 4)) for _ in sources]
        if sum(parts):
            shares = {s: part / sum(parts) for s, part in zip(sources, parts, strict=True)}
    graph = StreamGraph(rows, streams, source_shares=shares)
    return graph if _sinks_get_tuples(graph) else StreamGraph(rows, _unfiltered(streams))


def _unfiltered(streams: Sequence[Stream]) -> list[Stream]:
    return [Stream(s.source, s.target, s.selectivity or 1.0, s.payload_bytes) for s in streams]


def _sinks_get_tuples(graph: StreamGraph) -> bool:
    reached = {graph.names[v] for v in np.flatnonzero(graph.source_share)}
    for stream in graph.streams:
        if stream.source in reached and stream.selectivity > 0:
            reached.add(stream.target)
    return any(graph.names[v] in reached for v in graph.sinks)


@st.composite
def networks(draw: st.DrawFn, devices: Sequence[str], kind: NetworkKind | None = None) -> Network:
    """Return a network, in which up to three links may differ from the rest."""
    kinds: tuple[NetworkKind, ...] = ("pair", "nic") if kind is None else (kind,)
    chosen_kind = draw(st.sampled_from(kinds))
    ends: list[tuple[str | None, str | None]] = [(a, b) for a in devices for b in devices if a != b]
    if chosen_kind == "nic":
        ends = [(a, None) for a in devices] + [(None, b) for b in devices]
    chosen = draw(st.lists(st.sampled_from(ends), max_size=3, unique=True)) if ends else []
    overrides = [LinkOverride(a, b, **draw(_costs(may_keep=True))) for a, b in chosen]
    return Network(chosen_kind, latency_s=0.002, overrides=tuple(overrides), **draw(_costs()))


@st.composite
def _costs(draw: st.DrawFn, may_keep: bool = False) -> dict[str, Any]:
    microseconds = st.integers(0, 50).map(lambda n: n * 1e-6)
    seconds = st.none() | microseconds if may_keep else st.just(0.0) | microseconds
    mbps = st.none() | st.integers(5, 100).map(float)
    return {
        "bandwidth_mbps": draw(mbps),
        "overhead_s": draw(seconds),
        "gap_s": draw(seconds),
    }


@st.composite
def clusters(draw: st.DrawFn, kind: NetworkKind | None = None) -> Cluster:
    """Return a cluster of one to four devices with unequal speeds and cores."""
    count = draw(st.sampled_from([3, 4, 2, 1]))
    mips, cores = st.integers(5, 50).map(lambda n: n * 100.0), st.integers(1, 4)
    devices = [Device(f"d{i}", draw(mips), draw(cores)) for i in range(count)]
    return Cluster(devices, draw(networks([d.name for d in devices], kind)))


@st.composite
def problems(
    draw: st.DrawFn,
    model: Model = "bottleneck",
    kind: NetworkKind | None = None,
    max_size: int = 9,
    *,
    shared: bool = False,
) -> Problem:
    """Return a graph on a cluster at 300 to 2,000 tuples/s: from idle to heavily overloaded.

    With `shared`, half of them have times by kind of device, shared messages and similar fields.
    """
    rate = draw(st.integers(3, 20)) * 100.0
    graph, cluster = draw(graphs(max_size)), draw(clusters(kind))
    problem = Problem(graph, cluster, source_rate=rate, model=model)
    if shared and draw(st.booleans()):
        seed = draw(st.integers(0, 2**31))
        return with_message_fields(problem, np.random.default_rng(seed))
    return problem


@st.composite
def cases(
    draw: st.DrawFn,
    model: Model = "bottleneck",
    kind: NetworkKind | None = None,
    *,
    shared: bool = False,
) -> Case:
    """Return a problem, see `problems`, and the device index of each of its operators."""
    problem = draw(problems(model, kind, shared=shared))
    return problem, draw(device_lists(problem))


def device_lists(problem: Problem) -> st.SearchStrategy[list[int]]:
    """Return placements of a problem, feasible or not, on devices of kinds that can run each."""
    count = len(problem.cluster.devices)
    confined_to = confined(problem.graph, problem.cluster)
    every = np.ones(count, dtype=np.bool_)
    able = [confined_to.get(v, every) for v in range(len(problem.graph.names))]
    return st.tuples(*(st.sampled_from(np.flatnonzero(a).tolist()) for a in able)).map(list)


@st.composite
def batches(
    draw: st.DrawFn, problem: Problem, min_size: int = 1, max_size: int = 11
) -> NDArray[np.int32]:
    """Return placements of a problem, (K, V)."""
    rows = st.lists(device_lists(problem), min_size=min_size, max_size=max_size)
    return np.array(draw(rows), dtype=np.int32)
