"""Errors that say what devices lack, and the highest source rate."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamplace as sp
from streamplace.capacity.size import size
from streamplace.capacity.sizing.shortage import ShortageError
from streamplace.errors import InfeasibleError, PlacementError

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


def test_more_devices_are_not_advised_for_one_that_is_named() -> None:
    """`count` must run on m1, and `read` beside it, so that other devices change nothing."""
    rules = sp.Constraints(pins={"count": "m1"})
    alone = sp.Cluster([sp.Device("m1", 2500.0)])
    found = shortage(job(3e4), alone, constraints=rules)
    assert "allow more devices" not in str(found)


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
