"""Expansion of parallel operators into instances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import GraphError
from streamplace.problem import expansion
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.constraints import Constraints
from streamplace.problem.expansion import to_instances, to_operators
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.logical import (
    AnyDistribution,
    Distribution,
    GroupedDistribution,
    LogicalGraph,
)
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from tests.support.instance_placements import logical_graphs


def rates(graph: StreamGraph) -> dict[str, float]:
    """Return the tuples/s of each operator at a source rate of 1,000 tuples/s."""
    cluster = Cluster([Device("d0", 1000.0, labels=("gpu",))])
    tuples = flow(Problem(graph, cluster, source_rate=1000.0)).operator_tuples
    return dict(zip(graph.names, tuples.tolist(), strict=True))


def copies(job: LogicalGraph, stream: Stream) -> int:
    """Return the number of instances to which a stream copies each tuple."""
    ways = job.distributions.get((stream.source, stream.target), ())
    return job.parallelism.get(stream.target, 1) if Distribution.BROADCAST in ways else 1


def recounted(job: LogicalGraph) -> StreamGraph:
    """Return the folded graph; selectivities of broadcast streams include the copies."""
    graph = job.graph
    streams = [
        Stream(s.source, s.target, s.selectivity * copies(job, s), s.payload_bytes)
        for s in graph.streams
    ]
    return StreamGraph(graph.operators, streams, name=graph.name)


def pair(how: AnyDistribution, sources: int, targets: int, **options: object) -> StreamGraph:
    """Return a -> b, expanded to these numbers of instances of a and b."""
    graph = StreamGraph(
        [Operator("a", 1.0, 8.0), Operator("b", 2.0, 0.0, 3.0, ("gpu",))],
        [Stream("a", "b", 0.5)],
        **options,  # type: ignore[arg-type]
    )
    return to_instances(LogicalGraph(graph, {"a": sources, "b": targets}, {("a", "b"): [how]}))


@given(logical_graphs())
def test_tuples_are_conserved(job: LogicalGraph) -> None:
    """Instances process the tuples of their operator, times the copies of a broadcast."""
    uniform = {ends: [spread[0]] * len(spread) for ends, spread in job.distributions.items()}
    job = LogicalGraph(job.graph, job.parallelism, uniform)
    graph = to_instances(job)
    total = dict.fromkeys(job.graph.names, 0.0)
    for (v, name), rate in zip(enumerate(graph.names), rates(graph).values(), strict=True):
        total[graph.instance_of.get(v, name)] += rate
    assert total == pytest.approx(rates(recounted(job)))


@given(st.sampled_from([*Distribution]), st.integers(1, 9), st.integers(1, 9))
def test_every_source_sends_all_its_tuples(how: Distribution, sources: int, targets: int) -> None:
    graph = pair(how, sources, targets)
    sent = np.zeros(len(graph.names))
    np.add.at(sent, graph.stream_source, graph.selectivity)
    times = targets if how is Distribution.BROADCAST else 1
    assert sent[:sources] == pytest.approx(0.5 * times)


@pytest.mark.parametrize(
    ("how", "sources", "targets", "streams"),
    [
        (Distribution.POINTWISE, 2, 2, {(0, 0): 0.5, (1, 1): 0.5}),
        (Distribution.POINTWISE, 2, 4, {(0, 0): 0.25, (0, 1): 0.25, (1, 2): 0.25, (1, 3): 0.25}),
        (Distribution.POINTWISE, 2, 3, {(0, 0): 0.25, (0, 1): 0.25, (1, 2): 0.5}),
        (Distribution.POINTWISE, 3, 2, {(0, 0): 0.5, (1, 1): 0.5, (2, 1): 0.5}),
        (Distribution.ALL, 2, 2, {(0, 0): 0.25, (0, 1): 0.25, (1, 0): 0.25, (1, 1): 0.25}),
        (Distribution.BROADCAST, 1, 2, {(0, 0): 0.5, (0, 1): 0.5}),
        (Distribution.FIRST, 2, 3, {(0, 0): 0.5, (1, 0): 0.5}),
    ],
)
def test_streams_between_instances(
    how: Distribution, sources: int, targets: int, streams: dict[tuple[int, int], float]
) -> None:
    names = {f"b[{i}]" if targets > 1 else "b": i for i in range(targets)}
    names |= {f"a[{i}]" if sources > 1 else "a": i for i in range(sources)}
    graph = pair(how, sources, targets)
    assert {(names[s.source], names[s.target]): s.selectivity for s in graph.streams} == streams


@given(st.integers(1, 40), st.integers(1, 40))
def test_pointwise_agrees_with_flink(sources: int, targets: int) -> None:
    """The expected pairs follow the formulas of Flink's VertexInputInfoComputationUtils."""
    a, b, share = expansion.pairs(Distribution.POINTWISE, sources, targets)
    if sources >= targets:
        ranges = [(t, t * sources // targets, (t + 1) * sources // targets) for t in range(targets)]
        flinks = {(s, t) for t, begin, end in ranges for s in range(begin, end)}
    else:
        ceil = [(s * targets + sources - 1) // sources for s in range(sources + 1)]
        flinks = {(s, t) for s in range(sources) for t in range(ceil[s], ceil[s + 1])}
    assert {*zip(a.tolist(), b.tolist(), strict=True)} == flinks
    assert len(a) == len(flinks) == max(sources, targets)
    assert np.bincount(a, share).tolist() == pytest.approx([1.0] * sources)


@pytest.mark.parametrize(
    ("sources", "targets", "feeds"),
    [
        (3, 2, [[0], [1, 2]]),
        (5, 2, [[0, 1], [2, 3, 4]]),
        (6, 4, [[0], [1, 2], [3], [4, 5]]),
        (2, 3, [[0], [0], [1]]),
    ],
)
def test_pointwise_by_hand(sources: int, targets: int, feeds: list[list[int]]) -> None:
    """The four cases are those of Flink's tests of VertexInputInfoComputationUtils."""
    a, b, _ = expansion.pairs(Distribution.POINTWISE, sources, targets)
    assert [a[b == t].tolist() for t in range(targets)] == feeds


def test_tuples_stay_within_groups_of_instances() -> None:
    """Instances are connected all-to-all within a group; `copies` targets get every tuple."""
    a, b, share = expansion.pairs(GroupedDistribution(2, 3), 4, 6)
    assert {*zip(a.tolist(), b.tolist(), strict=True)} == {
        (s, t) for s in range(4) for t in range(6) if s // 2 == t // 3
    }
    assert share.tolist() == [1.0] * 12
    assert expansion.pairs(GroupedDistribution(2), 4, 6)[2].tolist() == [1 / 3] * 12
    assert expansion._number(GroupedDistribution(2), 4, 6) == 12
    with pytest.raises(
        GraphError,
        match=r"^streams: .*: cannot divide 3 source and 2 target instances into 2 equal groups",
    ):
        pair(GroupedDistribution(2), 3, 2)


def test_instances_without_inputs_get_no_tuples() -> None:
    graph = pair(Distribution.FIRST, 2, 3)
    assert graph.source_share.tolist() == [0.5, 0.5, 0.0, 0.0, 0.0]
    assert rates(graph)["b[0]"] == pytest.approx(500.0)


def test_names_and_numbers_of_instances() -> None:
    graph = pair(Distribution.ALL, 1, 2, name="job", source_rate=7.0)
    assert graph.names == ("a", "b[0]", "b[1]")
    assert graph.instance_of == {1: "b", 2: "b"}
    assert graph.operators[2] == Operator("b[1]", 2.0, 0.0, 3.0, ("gpu",), "b")
    assert (graph.name, graph.source_rate) == ("job", 7.0)


def test_shares_are_divided() -> None:
    rows = [Operator("a", 1.0, 8.0), Operator("b", 1.0, 8.0)]
    graph = StreamGraph(rows, [], source_shares={"a": 0.25, "b": 0.75})
    shares = to_instances(LogicalGraph(graph, {"b": 3})).source_share
    assert shares == pytest.approx([0.25, 0.25, 0.25, 0.25])


def test_memory_and_cores_are_per_instance() -> None:
    """Folding changes neither total memory, nor all cores together, nor the cost of a tuple."""
    rows = [Operator("a", 1.0, 8.0, 5.0), Operator("b", 2.0, 0.0, 7.0, ("gpu",))]
    shares = {"a": 1.0}
    graph = StreamGraph(rows, [Stream("a", "b", 0.5)], source_rate=3.0, source_shares=shares)
    job = LogicalGraph(graph, {"b": 4})
    assert to_operators(job).memory_bytes.tolist() == [5.0, 28.0]
    assert to_instances(job).memory_bytes.sum() == to_operators(job).memory_bytes.sum()
    assert to_operators(job).operators[1] == Operator("b", 2.0, 0.0, 28.0, ("gpu",), cores=4)
    assert (to_operators(job).streams[0], to_operators(job).source_rate) == (graph.streams[0], 3.0)
    assert to_operators(LogicalGraph(graph)) is graph


def test_a_job_without_parallelism_keeps_its_graph() -> None:
    graph = pair(Distribution.ALL, 1, 1)
    assert to_instances(LogicalGraph(graph)) is graph
    assert to_instances(LogicalGraph(graph, {"a": 1})) is graph


def test_streams_keep_payload_and_unknown_numbers() -> None:
    rows = [Operator("a", UNKNOWN, UNKNOWN), Operator("b", 1.0, 0.0)]
    streams = [Stream("a", "b", 1.0, 5.0), Stream("a", "b", UNKNOWN)]
    graph = to_instances(LogicalGraph(StreamGraph(rows, streams), {"a": 2}))
    payload = [stream.payload_bytes for stream in graph.streams]
    assert sorted(payload, key=str) == [5.0, 5.0, None, None]
    assert graph.lacking == ["instructions of 'a'", "payload_bytes of 'a'", "selectivity of 'a->b'"]


def test_constraints_hold_for_instances() -> None:
    rules = Constraints(
        pins={"a": "d0"}, colocate=[["a", "c"]], exlocate=[["a", "b", "c"]], allowed={"b": ["d1"]}
    )
    rows = [Operator(name, 1.0, 0.0) for name in "abc"]
    got = to_instances(LogicalGraph(StreamGraph(rows, [], constraints=rules), {"b": 2})).constraints
    assert got.pins == {"a": "d0"}
    assert got.colocate == (("a", "c"),)
    assert got.allowed == {"b[0]": ("d1",), "b[1]": ("d1",)}
    assert {frozenset(group) for group in got.exlocate} == {
        frozenset(group)
        for group in (("a", "b[0]"), ("a", "b[1]"), "ac", ("b[0]", "c"), ("b[1]", "c"))
    }


def test_an_exlocate_group_without_parallel_operators_is_not_split() -> None:
    rules = Constraints(exlocate=[["a", "b", "c"]])
    rows = [Operator(name, 1.0, 0.0) for name in "abcd"]
    got = to_instances(LogicalGraph(StreamGraph(rows, [], constraints=rules), {"d": 2})).constraints
    assert got.exlocate == (("a", "b", "c"),)


@pytest.mark.parametrize(
    ("sources", "targets", "message"),
    [
        (0, 1, "at least 1"),
        (-3, 1, "at least 1"),
        (10**12, 1, "operators: more than 1,000,000 instances; use --fold"),
        (3000, 3000, "streams: more than 5,000,000 between instances; use --fold"),
    ],
)
def test_too_many_or_too_few_instances_are_refused(
    sources: int, targets: int, message: str
) -> None:
    with pytest.raises(GraphError, match=message):
        pair(Distribution.ALL, sources, targets)


def test_an_instance_with_the_name_of_another_operator() -> None:
    rows = [Operator("a", 1.0, 0.0), Operator("a[1]", 1.0, 0.0)]
    with pytest.raises(GraphError, match=r"a\[1\]"):
        to_instances(LogicalGraph(StreamGraph(rows, []), {"a": 2}))


def test_streams_are_counted_before_they_are_created() -> None:
    assert expansion._number(Distribution.POINTWISE, 10**6, 10) == 10**6
    assert expansion._number(Distribution.FIRST, 7, 10**6) == 7
    assert expansion._number(Distribution.ALL, 10**4, 10**4) == 10**8
