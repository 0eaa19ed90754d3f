"""What `size` claims about the fewest devices, and limits."""

from dataclasses import replace

import pytest

import streamplace as sp
from streamplace.capacity.size import size
from streamplace.errors import GraphError, InfeasibleError, UsageError
from streamplace.problem.counts import ONE_KEY, expanded

SLOTS = [sp.Device(name, 1000, slots=2) for name in ("x", "y", "z")]


def test_operators_without_work_may_need_several_instances() -> None:
    """Only instance by instance do the tuples stay on their device, which the link requires."""
    graph = sp.StreamGraph(
        [sp.Operator("read", 0.0, 1e6), sp.Operator("parse", 8e5, 0.0)],
        [sp.Stream("read", "parse", partitioning="forward")],
        source_rate=2000.0,
    )
    devices = [sp.Device("x", 1000), sp.Device("y", 1000)]
    cluster = sp.Cluster(devices, sp.Network(bandwidth_mbps=1.0))
    found = size(graph, cluster, minimise="instances", evaluations=2_000)
    assert found.parallelism == {"read": 2, "parse": 2}
    assert found.bound == found.value == 4.0


@pytest.mark.parametrize("minimise", ["instances", "machines"])
def test_colocated_operators_may_need_equal_numbers(minimise: str) -> None:
    """One and two instances need a device with three slots; two and two need two slots twice."""
    graph = sp.StreamGraph(
        [sp.Operator("a", 1e5, 1e3), sp.Operator("b", 8e5, 0.0)],
        [sp.Stream("a", "b")],
        source_rate=2000.0,
        constraints=sp.Constraints(colocate=[["a", "b"]]),
    )
    found = size(graph, sp.Cluster(SLOTS), minimise=minimise, evaluations=2_000)  # type: ignore[arg-type]
    assert found.parallelism == {"a": 2, "b": 2}
    assert found.bound <= found.value
    small = sp.Cluster([replace(device, slots=1) for device in SLOTS])
    rules = r"no placement satisfies slots of all 3 devices and constraints\.colocate"
    with pytest.raises(InfeasibleError, match=rules):
        size(graph, small, evaluations=2_000)


def test_a_key_that_overloads_its_instance_is_the_limit() -> None:
    graph = sp.StreamGraph(
        [sp.Operator("read", 1e3, 1.0), sp.Operator("count", 1e6, 0.0)],
        [sp.Stream("read", "count", partitioning="hash", key_shares={"berlin": 0.5})],
        source_rate=3000.0,
    )
    cause = r"up: count: 0\.5 of all tuples are of key 'berlin', 2,000 tuples/s at most"
    with pytest.raises(InfeasibleError, match=cause):
        size(graph, "9x1000")
    found = size(graph, "9x1000", source_rate=1500.0, evaluations=2_000)
    assert [(one.operator, one.at_most) for one in found.limits] == [("count", 2000.0)]


def test_a_stream_to_one_instance_is_the_limit() -> None:
    """A reader of a grouping to one instance keeps it as one key."""
    graph = sp.StreamGraph(
        [sp.Operator("read", 1e3, 1.0), sp.Operator("alarm", 1e6, 0.0)],
        [sp.Stream("read", "alarm", partitioning="hash", key_shares=ONE_KEY)],
        source_rate=3000.0,
    )
    cause = r"up: alarm: all tuples go to one instance, 1,000 tuples/s at most"
    with pytest.raises(InfeasibleError, match=cause):
        size(graph, "9x1000")


@pytest.mark.parametrize("limits", [{"partitions": 128}, {"parallelism": 64}])
def test_a_key_is_the_limit_where_more_instances_would_not_help(limits: dict[str, int]) -> None:
    graph = sp.StreamGraph(
        [sp.Operator("read", 1e3, 1.0), sp.Operator("count", 1e6, 0.0, **limits)],  # type: ignore[arg-type]
        [sp.Stream("read", "count", partitioning="hash", key_shares={"berlin": 0.5})],
        source_rate=3000.0,
    )
    with pytest.raises(InfeasibleError, match=r"0\.5 of all tuples are of key 'berlin'"):
        size(graph, "9x1000x16")


def test_a_largest_number_is_named_by_its_field() -> None:
    graph = sp.StreamGraph([sp.Operator("read", 1e6, 0.0, max_parallelism=4)], source_rate=5e3)
    with pytest.raises(InfeasibleError, match=r"read: max_parallelism 4, 4,000 tuples/s at most"):
        size(graph, "9x1000x16")


def test_colocated_operators_with_many_numbers_get_equal_ones() -> None:
    """No device runs all of these instances, but each runs several pairs."""
    graph = sp.StreamGraph(
        [
            sp.Operator("read", 2e4, 0.0, partitions=16),
            sp.Operator("parse", 9e5, 0.0),
            sp.Operator("count", 4e5, 0.0, partitions=128),
        ],
        [sp.Stream("read", "parse"), sp.Stream("parse", "count", partitioning="hash")],
        source_rate=2e4,
        constraints=sp.Constraints(colocate=[["parse", "count"]]),
    )
    found = size(graph, "4x2500x4", evaluations=2_000)
    assert found.parallelism == {"read": 1, "parse": 8, "count": 8}
    assert found.machines == 3


@pytest.mark.parametrize(
    "rules",
    [sp.Constraints(exlocate=[["a", "b", "c"]]), sp.Constraints(apart_groups=[["a", "b", "c"]])],
)
def test_operators_that_are_kept_apart_need_a_device_each(rules: sp.Constraints) -> None:
    """The bound on devices is that of `plan`, however little work there is."""
    graph = sp.StreamGraph(
        [sp.Operator(name, 1e3, 0.0) for name in "abc"], source_rate=30.0, constraints=rules
    )
    found = size(graph, "5x1000", evaluations=2_000)
    assert found.machines == found.bound == 3


def test_limits_are_the_same_at_any_source_rate() -> None:
    graph = sp.StreamGraph([sp.Operator("read", 1e6, 0.0, partitions=64)])
    found = size(graph, "99x1000", source_rate=1e3, evaluations=2_000)
    assert [one.at_most for one in found.limits] == [64_000.0]
    with pytest.raises(InfeasibleError, match=r"read: 64 partitions, 64,000 tuples/s at most"):
        size(graph, "99x1000", source_rate=1e5)


def test_more_instances_than_devices_carry_are_too_many_for_the_devices() -> None:
    """More than twenty thousand instances would be needed, which is no limit of the operator."""
    graph = sp.StreamGraph([sp.Operator("read", 1e9, 0.0)], source_rate=25_000.0)
    with pytest.raises(InfeasibleError, match="4 devices cannot keep up"):
        size(graph, "4x1000")


def test_instances_that_take_a_tuple_from_each_input_are_refused() -> None:
    """Each of them would process every tuple."""
    graph = sp.StreamGraph(
        [sp.Operator(name, 1.0, 1.0) for name in "abj"],
        [sp.Stream("a", "j"), sp.Stream("b", "j")],
        source_rate=1.0,
        firing="all",
    )
    with pytest.raises(UsageError, match='size: does not support firing "all"'):
        size(graph, "2x1000")
    assert expanded(graph, {"j": 1}).names == graph.names
    with pytest.raises(GraphError, match="parallelism must be 1 where operators take a tuple"):
        expanded(graph, {"j": 2})


def test_messages_are_about_the_planned_source_rate() -> None:
    """Capacity for restarts is needed in addition, but is no part of what is offered."""
    graph = sp.StreamGraph([sp.Operator("read", 1e6, 0.0)], source_rate=1000.0)
    with pytest.raises(InfeasibleError, match=r"they carry 500 of 1,000 tuples/s at most"):
        size(graph, "1x1000", restart=60, catch_up=60)


@pytest.mark.parametrize(
    ("rate", "count"), [(64_000, 64), (80_000, 86), (85_000, 86), (86_000, 128), (128_000, 128)]
)
def test_flink_has_more_key_groups_for_more_instances(rate: float, count: int) -> None:
    """With 85 of 128 key groups the busiest has two; with 86 there are 256, of which it has three.

    At 1 ms a tuple, an instance carries 1,000 tuples/s: ceil(K / p) / K times the rate is at most
    that. The least such p is found by trying all.
    """
    graph = sp.StreamGraph(
        [sp.Operator("read", 1.0, 0.0), sp.Operator("count", 1e3, 0.0, partitions="flink")],
        [sp.Stream("read", "count", partitioning="hash")],
        source_rate=rate,
    )
    groups = {p: 128 if p <= 85 else 256 for p in range(1, 172)}
    fits = [p for p, k in groups.items() if -(-k // p) / k * rate <= 1000]
    found = size(graph, "20x1x10", minimise="instances", evaluations=500)
    assert found.parallelism["count"] == min(fits) == count
    assert found.gap == 0.0
