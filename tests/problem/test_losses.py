"""Changes of clusters: what stays keeps its links, and what is wrong is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace import Cluster, Device, LinkOverride, Network
from streamplace.errors import ClusterError
from streamplace.problem.losses import ClusterChange

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
        (lambda: ClusterChange(coming=(Device("b", 1.0),)), "devices: duplicate name 'b'"),
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
