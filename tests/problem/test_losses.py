"""Changes of clusters, and `Losses`: devices that are lost or become slower."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace import (
    Cluster,
    Constraints,
    Device,
    LinkOverride,
    Makespan,
    Network,
    Operator,
    Placement,
    Problem,
    Stream,
    StreamGraph,
    simulate,
)
from streamplace.errors import ClusterError, UsageError
from streamplace.problem.losses import ClusterChange, Losses

NAMES = ("a", "b", "c", "d", "e")


def full(names: tuple[str, ...]) -> Cluster:
    """Return devices whose links differ by pair."""
    overrides = [
        LinkOverride(x, y, bandwidth_mbps=link(x, y)) for x in names for y in names if x != y
    ]
    return Cluster(
        [Device(name, 1.0 + ord(name)) for name in names],
        Network("free", overrides=tuple(overrides)),
    )


def link(x: str, y: str) -> float:
    """Return the bandwidth from one device to another."""
    return float(100 * ord(x) + ord(y))


def bandwidths(cluster: Cluster) -> dict[tuple[str, str], float]:
    """Return the bandwidth of each pair of devices, by name."""
    column = cluster.link_column("bandwidth_mbps")
    pairs = ((cluster.link_ends(i), column[i]) for i in range(len(column)))
    return {(str(x), str(y)): float(mbps) for (x, y), mbps in pairs if x != y}


@given(st.sets(st.sampled_from(NAMES), max_size=4))
def test_devices_that_leave_and_come_back_restore_the_cluster(names: set[str]) -> None:
    cluster = full(NAMES)
    left = ClusterChange(tuple(sorted(names))).of(cluster)
    assert left == full(tuple(name for name in NAMES if name not in names))
    coming = tuple(device for device in cluster.devices if device.name in names)
    links = tuple(o for o in cluster.network.overrides if {o.source, o.target} & names)
    back = ClusterChange(coming=coming, links=links).of(left)
    assert bandwidths(back) == bandwidths(cluster)
    assert {*back.devices} == {*cluster.devices}
    assert back.names[: len(left.names)] == left.names


def test_operators_on_devices_that_leave_are_forced_to_move() -> None:
    change = ClusterChange(("a", "c"), (Device("new", 1.0),))
    assert change.forced({"x": "b", "y": "c", "z": "a", "w": "new"}) == ("y", "z")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: ClusterChange(("f",)), "change: no device 'f' can leave"),
        (lambda: ClusterChange(NAMES), "change: no device stays"),
        (lambda: ClusterChange(("a",), (Device("a", 1.0),)), "'a' both leaves and comes"),
        (
            lambda: ClusterChange(coming=(Device("b", 1.0),)),
            "duplicate name 'b', see devices[1]",
        ),
        (
            lambda: ClusterChange(("a",), links=(LinkOverride("a", "b", 1.0),)),
            "unknown device 'a'",
        ),
    ],
)
def test_what_a_change_refuses(change: object, message: str) -> None:
    assert callable(change)
    with pytest.raises(ClusterError) as caught:
        change().of(full(NAMES))
    assert message in str(caught.value)


GRAPH = StreamGraph(
    [
        Operator("a", 3e6, 0.0, seconds_on={"gpu": 0.5, "tpu": None}),
        Operator("b", 2e6, 0.0),
        Operator("c", float("nan"), 0.0, seconds_on={"gpu": 1.0}),
    ],
    [Stream("a", "b"), Stream("b", "c")],
    firing="all",
)


CLUSTER = Cluster([Device("g", 1.0, kind="gpu"), Device("t", 1.0, kind="tpu")], Network())


def test_a_slow_device_takes_longer_for_measured_operators_too() -> None:
    placement = Placement.of(
        Problem(GRAPH, CLUSTER, objective=Makespan()), dict.fromkeys("abc", "g")
    )
    assert simulate(placement, objective=Makespan()).makespan_s == 0.5 + 2.0 + 1.0
    slowed = Losses(slow={"g": 0.25}).placement(placement)
    assert simulate(slowed, objective=Makespan()).makespan_s == 4 * (0.5 + 2.0 + 1.0)
    assert slowed.problem.graph.sha256 == GRAPH.sha256
    twice = Losses(slow={"g": 0.5}).placement(slowed)
    assert simulate(twice, objective=Makespan()).makespan_s == 8 * (0.5 + 2.0 + 1.0)


def test_a_slow_device_still_cannot_run_what_its_kind_cannot() -> None:
    losses = Losses(slow={"t": 0.5})
    problem = Problem(GRAPH, losses.cluster(CLUSTER), objective=Makespan())
    assert problem.feasibility.allowed.tolist() == [[True, False], [True, True], [True, False]]


def test_other_devices_keep_their_kind() -> None:
    slowed = Losses(slow={"g": 0.5}).cluster(CLUSTER)
    assert [device.kind for device in slowed.devices] == ["gpu at 0.5 of its speed", "tpu"]
    assert Losses(slow={"g": 1.0}).cluster(CLUSTER).devices == CLUSTER.devices


def test_a_name_of_a_device_and_of_a_group_of_others_is_refused() -> None:
    cluster = Cluster([Device("a", 1.0, group="b"), Device("b", 1.0), Device("c", 1.0)])
    for losses in (Losses(("b",)), Losses((), {"b": 0.5})):
        with pytest.raises(UsageError, match="'b' is both a device and a group; rename one"):
            losses.left(cluster, Constraints())
    alone = Cluster([Device("a", 1.0, group="a"), Device("c", 1.0)])
    assert Losses(("a",)).cluster(alone).names == ("c",)
