"""Numbers of instances: fields of graphs, and their expansion."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace import (
    Cluster,
    Constraints,
    Device,
    Job,
    Jobs,
    Operator,
    Problem,
    Stream,
    StreamGraph,
    place,
    place_jobs,
)
from streamplace.errors import GraphError, InfeasibleError
from streamplace.files.clusters import cluster_from, cluster_to
from streamplace.problem.counts import expanded, limits_of_count, with_counts
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.parallelism import PARTITIONINGS
from tests.support.graph_formats import check_formats

COUNT = st.none() | st.integers(1, 9)
KEYS = st.dictionaries(st.text('ab\\" ü', min_size=1, max_size=3), st.floats(0, 0.3), max_size=3)


@st.composite
def graphs_with_counts(draw: st.DrawFn) -> StreamGraph:
    """Return a graph whose operators and streams have any of the fields."""
    count = draw(st.integers(2, 4))
    operators = [
        Operator(
            f"op{v}",
            1e3,
            10.0,
            parallelism=draw(COUNT | st.just("free")),
            min_parallelism=draw(COUNT),
            max_parallelism=draw(COUNT),
            partitions=draw(COUNT),
            scaling=draw(st.sampled_from([{}, {"sigma": 0.1}, {"sigma": 0.1, "kappa": 0.01}])),
        )
        for v in range(count)
    ]
    streams = [
        Stream(
            f"op{u}",
            f"op{v}",
            draw(st.sampled_from([0.5, 1.0])),
            partitioning=(kind := draw(st.sampled_from(["", *PARTITIONINGS]))),
            key_shares=draw(KEYS) if kind == "hash" else {},
        )
        for u in range(count)
        for v in range(u + 1, count)
        for _ in range(draw(st.integers(0, 2)))
    ]
    return StreamGraph(operators, streams)


@given(graph=graphs_with_counts())
def test_every_format_keeps_the_fields(graph: StreamGraph, tmp_path_factory: Any) -> None:
    check_formats(graph, tmp_path_factory.mktemp("formats"))


@given(graphs_with_counts(), st.randoms())
def test_the_order_of_streams_in_a_file_does_not_matter(graph: StreamGraph, random: Any) -> None:
    streams = list(graph.streams)
    random.shuffle(streams)
    assert StreamGraph(list(graph.operators), streams).sha256 == graph.sha256


@pytest.mark.parametrize(
    "change",
    [
        {"parallelism": 1},
        {"parallelism": "free"},
        {"min_parallelism": 2},
        {"max_parallelism": 2},
        {"partitions": 2},
        {"scaling": {"sigma": 0.1}},
    ],
)
def test_each_field_changes_the_hash(change: dict[str, Any]) -> None:
    plain = StreamGraph([Operator("a", 1.0, 1.0)])
    assert StreamGraph([Operator("a", 1.0, 1.0, **change)]).sha256 != plain.sha256


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"parallelism": 0}, r"^operators\[0\].parallelism: must be 1 to 100,000 \(got 0\)"),
        ({"parallelism": "many"}, r"^operators\[0\].parallelism: must be a whole number or 'free'"),
        ({"parallelism": 1.5}, r"^operators\[0\].parallelism must be a whole number"),
        ({"partitions": -1}, r"^operators\[0\].partitions: must be 1 to 100,000"),
        ({"scaling": {"alpha": 1}}, r"^operator 'a': scaling: unknown name 'alpha'"),
        ({"scaling": {"sigma": 2}}, r"^operator 'a': scaling.sigma must be 0 to 1 \(got 2\)"),
    ],
)
def test_values_of_operators_that_are_refused(row: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        StreamGraph([Operator("a", 1.0, 1.0, **row)])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"partitioning": "hsah"}, r"^streams\[0\].partitioning: unknown .* did you mean 'hash'"),
        ({"key_shares": {"x": 0.7, "y": 0.7}}, "key_shares: must sum to at most 1"),
        (
            {"key_shares": {"x": 0.1}},
            r"^streams\[0\].key_shares: only a stream of partitioning 'hash' .*no partitioning",
        ),
        (
            {"key_shares": {"x": 0.1}, "partitioning": "forward"},
            r"only a stream of partitioning 'hash' may have them \(got 'forward'\); set ",
        ),
    ],
)
def test_values_of_streams_that_are_refused(row: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        StreamGraph([("a", 1.0, 1.0), ("b", 1.0, 1.0)], [Stream("a", "b", **row)])


def job(source: int | None = 3, sink: int | None = 2, **stream: Any) -> StreamGraph:
    """Return a source and a sink with numbers of instances."""
    return StreamGraph(
        [
            Operator("read", 1e3, 10.0, parallelism=source),
            Operator("count", 2e3, 10.0, parallelism=sink, partitions=stream.pop("groups", None)),
        ],
        [Stream("read", "count", **stream)],
        source_rate=100.0,
    )


def shares(graph: StreamGraph) -> dict[tuple[str, str], float]:
    return {(s.source, s.target): s.selectivity for s in expanded(graph).streams}


def test_problems_consist_of_instances() -> None:
    problem = Problem(job(), "2x1000")
    assert problem.graph.names == ("read[0]", "read[1]", "read[2]", "count[0]", "count[1]")
    assert not problem.graph.states_counts
    plain = StreamGraph([("a", 1.0, 1.0)], source_rate=1.0)
    assert Problem(plain, "2x1000").graph is plain


def test_single_instances_are_known_where_the_graph_states_numbers() -> None:
    """Otherwise exports would leave the numbers of a running job as they are."""
    one = StreamGraph([Operator("a", 1.0, 1.0, parallelism=1), ("b", 1.0, 1.0)])
    assert dict(expanded(one).instance_of) == {0: "a", 1: "b"}
    assert expanded(one).names == ("a", "b")
    assert not expanded(StreamGraph([Operator("a", 1.0, 1.0, partitions=4)])).instance_of
    chosen = expanded(StreamGraph([Operator("a", 1.0, 1.0, parallelism=3)]), {"a": 1})
    assert dict(chosen.instance_of) == {0: "a"}


def test_partitionings() -> None:
    each = shares(job(partitioning="rebalance"))
    assert each == {(f"read[{i}]", f"count[{j}]"): 0.5 for i in range(3) for j in range(2)}
    assert shares(job(partitioning="")) == each
    assert shares(job(partitioning="forward")) == each  # the numbers differ
    assert shares(job(sink=3, partitioning="forward")) == {
        (f"read[{i}]", f"count[{i}]"): 1.0 for i in range(3)
    }
    assert shares(job(sink=6, partitioning="rescale")) == {
        (f"read[{i // 2}]", f"count[{i}]"): 0.5 for i in range(6)
    }
    assert {*shares(job(partitioning="broadcast")).values()} == {1.0}


@given(st.integers(1, 40), st.integers(1, 200))
def test_even_keys_load_the_busiest_instance_by_the_formula(count: int, more: int) -> None:
    groups = count + more
    found = shares(job(1, count, partitioning="hash", groups=groups))
    busiest = max(found.values()) * count
    assert busiest == pytest.approx(-(-groups // count) * count / groups)
    assert sum(found.values()) == pytest.approx(1.0)


def test_a_hot_key_loads_its_instance() -> None:
    graph = job(1, 4, partitioning="hash", groups=128, key_shares={"hot": 0.4})
    found = sorted(shares(graph).values())
    assert found == pytest.approx([0.15, 0.15, 0.15, 0.55])


def test_partitions_of_a_source_are_dealt_in_turn() -> None:
    graph = StreamGraph([Operator("a", 1.0, 1.0, parallelism=3, partitions=5)])
    assert expanded(graph).source_share.tolist() == pytest.approx([0.4, 0.4, 0.2])


def test_scaling_raises_the_work_per_tuple() -> None:
    scaling = {"sigma": 0.1, "kappa": 0.01}
    graph = StreamGraph(
        [Operator("a", 1e3, 1.0, parallelism=4, scaling=scaling, seconds_on={"gpu": 2.0})]
    )
    found = expanded(graph)
    cost = 1 + 0.1 * 3 + 0.01 * 4 * 3
    assert found.instructions == pytest.approx(1e3 * cost)
    assert found.operators[0].seconds_on == pytest.approx({"gpu": 2.0 * cost})


@given(graphs_with_counts())
def test_a_logical_graph_keeps_the_numbers_that_its_graph_states(graph: StreamGraph) -> None:
    if graph.states_counts:
        assert with_counts(LogicalGraph(graph))[0] == graph


def test_numbers_beside_a_graph_replace_those_that_it_states() -> None:
    graph = job(partitioning="hash", groups=16)
    stated, _ = with_counts(LogicalGraph(graph, {"count": 5}))
    assert stated.parallelism == {0: 3, 1: 5}
    assert (stated.partitions, stated.partitioning) == ({1: 16}, {0: "hash"})


def test_free_counts_are_for_size_only() -> None:
    graph = StreamGraph([Operator("a", 1.0, 1.0, parallelism="free")], source_rate=1.0)
    with pytest.raises(GraphError, match="parallelism of 'a' is free; run `streamplace size`"):
        Problem(graph)
    assert len(expanded(graph, {"a": 2}).names) == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"parallelism": 5, "max_parallelism": 4}, "'a': parallelism must be 1 to 4"),
        ({"parallelism": 1, "min_parallelism": 2}, "'a': parallelism must be 2 to 100,000"),
        (
            {"min_parallelism": 3, "max_parallelism": 2, "parallelism": 3},
            "'a': min_parallelism must be at most max_parallelism, 2 \\(got 3\\)",
        ),
    ],
)
def test_counts_beyond_their_limits(row: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        expanded(StreamGraph([Operator("a", 1.0, 1.0, **row)]))


def test_instances_beyond_the_key_groups_are_refused() -> None:
    """Flink refuses a parallelism above the maximum parallelism of an operator."""
    message = "'count': parallelism must be 1 to 1 .* because of its partitions"
    with pytest.raises(GraphError, match=message):
        expanded(job(groups=1, partitioning="hash"))


def test_instances_of_a_source_beyond_its_partitions_are_idle() -> None:
    """A Kafka source of Flink runs with more subtasks than partitions; some read nothing."""
    graph = StreamGraph([Operator("a", 1.0, 1.0, parallelism=6, partitions=4)], source_rate=8.0)
    assert expanded(graph).source_share.tolist() == [0.25] * 4 + [0.0, 0.0]
    assert limits_of_count(graph, 0) == (1, 4)  # those to choose


def test_colocated_operators_with_equal_counts_share_devices_by_number() -> None:
    rules = Constraints(colocate=[["read", "count"]])
    graph = job(2, 2, partitioning="forward")
    with_rules = StreamGraph(list(graph.operators), list(graph.streams), constraints=rules)
    groups = expanded(with_rules).constraints.colocate
    assert {frozenset(group) for group in groups} == {
        frozenset({"read[0]", "count[0]"}),
        frozenset({"read[1]", "count[1]"}),
    }
    assert Problem(graph, "2x1000", constraints=rules).constraints.colocate == groups


def test_constraints_may_name_operators() -> None:
    rules = Constraints(pins={"read": "d1", "count[1]": "d0"})
    problem = Problem(job(), Cluster.equal(2), constraints=rules)
    assert {name: d for name, d in problem.constraints.pins.items() if "read" in name} == {
        f"read[{i}]": "d1" for i in range(3)
    }


def test_slots_limit_the_operators_on_a_device() -> None:
    def cluster(*slots: int | None) -> Cluster:
        return Cluster([Device(f"d{i}", 1000, slots=n) for i, n in enumerate(slots)])

    with pytest.raises(InfeasibleError, match=r"slots: the operators need 5 slots, .* have 4 "):
        Problem(job(), cluster(2, 2))
    problem = Problem(job(), cluster(2, 3))
    fault = problem.feasibility.violation(np.zeros(5, np.int32))
    assert fault == "device 'd0' would need 5 slots but has 2"
    assert Problem(job(), cluster(None, 0)).feasibility.violation(np.zeros(5, np.int32)) is None
    value = cluster_to(cluster(2, None))
    assert [row.get("slots") for row in value["devices"]] == [2, None]
    assert cluster_from(value, "x") == cluster(2, None)


def test_jobs_consist_of_instances_and_share_slots() -> None:
    devices = [Device(f"d{i}", 1000, slots=3) for i in range(2)]
    jobs = Jobs([Job("a", job(2, 1)), Job("b", job(1, 2))])
    assert [len(one.graph.names) for one in jobs] == [3, 3]
    found = place_jobs(jobs, Cluster(devices), placer="greedy")
    used = [device for of in found.to_dict()["assignment"].values() for device in of.values()]
    assert {used.count(f"d{i}") for i in range(2)} == {3}
    free = StreamGraph([Operator("read", 1.0, 1.0, parallelism="free")], source_rate=1.0)
    with pytest.raises(GraphError, match="parallelism of 'read' is free"):
        place_jobs(Jobs([Job("a", free), Job("b", job(1, 2))]), Cluster(devices))


def test_a_colocated_group_of_a_graph_may_name_an_instance() -> None:
    rows = [Operator("a", 1.0, 1.0, parallelism=2), Operator("b", 1.0, 1.0, parallelism=2)]
    rules = Constraints(colocate=[["a[1]", "b"]], pins={"a[0]": "d2", "b[0]": "d1"})
    graph = StreamGraph(rows, [Stream("a", "b")], source_rate=1.0, constraints=rules)
    problem = Problem(graph, "3x1000")
    assert problem.constraints.colocate == (("a[1]", "b[0]", "b[1]"),)
    assert problem.constraints.stated == rules
    assert place(graph, "3x1000").placement.assignment == {
        "a[0]": "d2",
        "a[1]": "d1",
        "b[0]": "d1",
        "b[1]": "d1",
    }


def test_constraints_on_instances_of_another_graph_are_stated_themselves() -> None:
    """Two of four instances are pinned, and the names of a graph without instances."""
    two, four = (StreamGraph([Operator("a", 1.0, 1.0, parallelism=n)]) for n in (2, 4))
    names = StreamGraph([Operator("a[0]", 1.0, 1.0), Operator("a[1]", 1.0, 1.0)])
    rules = Problem(two, source_rate=1.0, constraints=Constraints(pins={"a": "d1"})).constraints
    assert Problem(two, source_rate=1.0, constraints=rules).constraints.stated.pins == {"a": "d1"}
    for graph in (four, names):
        found = Problem(graph, source_rate=1.0, constraints=rules).constraints
        assert found == found.stated == Constraints(pins={"a[0]": "d1", "a[1]": "d1"})
    assert rules.stated.pins == {"a": "d1"}
