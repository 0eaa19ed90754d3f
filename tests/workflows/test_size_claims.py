"""What `size` claims about fewest devices and shortages."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamplace as sp
from streamplace.errors import GraphError, InfeasibleError, PlacementError, UsageError
from streamplace.problem.counts import ONE_KEY, expanded
from streamplace.workflows.size import size
from streamplace.workflows.sizing.needs import ShortageError

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


RATE = 2e4


def job(rate: float = RATE, **count: Any) -> sp.StreamGraph:
    """Return a job whose operator `count` needs an instance per 6,250 tuples/s."""
    operators = [sp.Operator("read", 2e4, 100.0), sp.Operator("count", 4e5, 0.0, **count)]
    streams = [sp.Stream("read", "count", partitioning="hash")]
    return sp.StreamGraph(operators, streams, source_rate=rate)


def cluster(**room: Any) -> sp.Cluster:
    labels = (("ssd",), ())
    return sp.Cluster(
        [sp.Device(f"m{i}", 2500.0, cores=4, labels=own, **room) for i, own in enumerate(labels)]
    )


def shortage(graph: sp.StreamGraph, devices: sp.Cluster, **options: Any) -> ShortageError:
    with pytest.raises(ShortageError) as caught:
        size(graph, devices, evaluations=1_000, **options)
    return caught.value


def test_a_shortage_of_memory_or_slots_names_the_highest_source_rate() -> None:
    """Two devices hold four instances of `count`, or three beside `read`."""
    found = shortage(job(6e4, memory_bytes=2e9), cluster(memory_bytes=4e9))
    assert "memory: the operators need 20 GB, but the devices have 8 GB in all" in str(found)
    assert str(found).endswith("at most 25,000 of 60,000 tuples/s are possible")
    assert found.at_most == pytest.approx(25_000)
    found = shortage(job(), cluster(slots=2))
    assert "slots: the operators need 5 slots, but the devices have 4" in str(found)
    assert found.at_most == pytest.approx(18_750)


def test_the_message_says_if_no_rate_would_help() -> None:
    found = shortage(job(memory_bytes=5e9), cluster(memory_bytes=4e9))
    assert str(found).startswith("no device may run operator 'count'")
    assert "no source rate would help" in str(found)
    found = shortage(job(min_parallelism=4), cluster(slots=2))
    assert str(found).endswith("no source rate would help")
    assert found.at_most == 0.0


@pytest.mark.parametrize(
    ("count", "rules", "named"),
    [
        ({}, sp.Constraints(pins={"count": "m1"}), "constraints.pins['count'] leaves"),
        ({}, sp.Constraints(allowed={"count": ["m1"]}), "constraints.allowed['count'] leaves"),
        ({"requires": ("ssd",)}, None, "requires of count leaves too little speed on m0"),
        (
            {},
            sp.Constraints(pins={"count": "m1", "read": "m1"}),
            "constraints.pins['count'] and constraints.pins['read'] leave",
        ),
    ],
)
def test_a_constraint_that_leaves_too_little_is_named(
    count: dict[str, Any], rules: sp.Constraints | None, named: str
) -> None:
    found = shortage(job(3e4, **count), cluster(), constraints=rules)
    assert named in str(found)
    assert "allow more devices" in str(found)
    assert found.at_most == pytest.approx(25_000 if "read" not in named else 1e10 / 4.2e5)


def test_memory_under_a_constraint() -> None:
    rules = sp.Constraints(allowed={"count": ["m0"]})
    found = shortage(job(memory_bytes=2e9), cluster(memory_bytes=4e9), constraints=rules)
    assert "constraints.allowed['count'] leaves too little memory on m0" in str(found)
    assert found.at_most == pytest.approx(12_500)


def test_memory_after_a_loss() -> None:
    found = shortage(job(memory_bytes=2e9), cluster(memory_bytes=4e9), survive=1)
    assert "2 devices have too little memory after the loss of any one of them" in str(found)
    assert found.at_most == pytest.approx(12_500)


def test_an_operator_pinned_to_a_slow_device_names_the_pin() -> None:
    devices = sp.Cluster([sp.Device("slow", 1000.0), sp.Device("fast", 4000.0)])
    graph = job(8e3, parallelism=1)
    rules = sp.Constraints(pins={"count": "slow"})
    found = shortage(graph, devices, constraints=rules)
    because = "2,500 tuples/s at most, because of constraints.pins['count']"
    assert str(found).endswith(f"count: parallelism 1, {because}")
    rules = sp.Constraints(pins={"count": "fast"})
    assert "because" not in str(shortage(job(2e4, parallelism=1), devices, constraints=rules))


def test_rules_are_named_where_no_size_is_found() -> None:
    """Three instances of `count` beside `read` need all four slots, but not all on one device."""
    graph = job(9e3, memory_bytes=0.0)
    rules = sp.Constraints(colocate=[["read", "count[0]", "count[1]"]])
    with pytest.raises((InfeasibleError, PlacementError), match=r"constraints\.colocate\[0\]"):
        size(graph, cluster(slots=2), constraints=rules, evaluations=500)


def test_thousands_of_instances() -> None:
    graph = job(2e7, memory_bytes=2e9)
    devices = sp.Cluster([sp.Device(f"m{i}", 2500.0, cores=16, memory_bytes=4e9) for i in range(9)])
    found = shortage(graph, devices)
    assert "9 devices have too little memory; add devices or memory" in str(found)
    assert found.at_most == pytest.approx(18 * 6_250)


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(
    memory=st.floats(1e8, 3e9),
    rate=st.floats(5e4, 7e4),
    scaling=st.sampled_from([{}, {"sigma": 0.05}, {"sigma": 0.02, "kappa": 1e-3}]),
    partitions=st.sampled_from([None, 64]),
)
def test_the_highest_rate_is_the_boundary(
    memory: float, rate: float, scaling: dict[str, float], partitions: int | None
) -> None:
    """Just above it something is lacking, just below it nothing is, as far as is known."""
    graph = job(rate, memory_bytes=memory, scaling=scaling, partitions=partitions)
    devices = cluster(memory_bytes=8e9)
    highest = shortage(graph, devices).at_most
    above = shortage(graph, devices, source_rate=highest * 1.0001).at_most
    assert above == pytest.approx(highest, rel=1e-5)
    try:
        size(graph, devices, source_rate=highest * 0.9999, evaluations=200)
    except ShortageError as error:
        pytest.fail(str(error))
    except (InfeasibleError, PlacementError):
        pass  # the instances need not fit one by one


def test_operators_that_one_instance_each_cannot_keep_apart_are_a_proof() -> None:
    """Three operators need three devices, whatever their numbers of instances."""
    rows = [sp.Operator("a", 5e5, 0.0), sp.Operator("b", 2e5, 0.0), sp.Operator("c", 5e4, 0.0)]
    rules = sp.Constraints(exlocate=[["a", "b", "c"]])
    with pytest.raises(InfeasibleError, match=r"too few devices to keep 'a', 'b', 'c' apart"):
        size(sp.StreamGraph(rows, source_rate=5_900), cluster(), constraints=rules)
