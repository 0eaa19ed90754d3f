"""Clusters: devices, links with overrides, the text form, and every error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamplace.errors import ClusterError
from streamplace.files import read_cluster, write_cluster
from streamplace.problem.cluster import (
    Cluster,
    Device,
    LinkOverride,
    Network,
    NetworkKind,
    Uplink,
)

TWO = [Device("a", 100), Device("b", 200, cores=2)]


def test_the_default_is_the_cluster_of_the_paper() -> None:
    cluster = Cluster.equal()
    assert cluster.names == ("d0", "d1", "d2", "d3", "d4")
    assert cluster.capacity.tolist() == [2.5e9] * 5
    network = cluster.network
    assert (network.kind, network.bandwidth_mbps, network.latency_s) == ("pair", 1000.0, 0.001)
    assert (network.overhead_s, network.gap_s, network.overrides) == (0.0, 0.0, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2x2500", [("d0", 2500, 1), ("d1", 2500, 1)]),
        ("1x5000x4, 2x0.5", [("d0", 5000, 4), ("d1", 0.5, 1), ("d2", 0.5, 1)]),
    ],
)
def test_clusters_are_parsed_from_text(text: str, expected: list[tuple[str, float, int]]) -> None:
    devices = Cluster.parse(text).devices
    assert [(d.name, d.mips, d.cores) for d in devices] == expected


@pytest.mark.parametrize(
    "text", ["", "5", "5x", "x2500", "0x2500", "-1x2500", "5x2500,", "5x2500x2x2", "5x1e3", "ax1"]
)
def test_parse_names_the_wrong_part(text: str) -> None:
    with pytest.raises(ClusterError, match="must be COUNTxMIPS") as caught:
        Cluster.parse(text)
    assert repr(text.rsplit(",", maxsplit=1)[-1]) in str(caught.value)


@pytest.mark.parametrize("text", ["1x0", "1x100x0"])
def test_parse_checks_devices(text: str) -> None:
    with pytest.raises(ClusterError, match="d0"):
        Cluster.parse(text)


def test_columns_of_a_cluster() -> None:
    cluster = Cluster([*TWO, Device("c", 400, memory_bytes=7.0)])
    assert cluster.capacity.tolist() == [1e8, 4e8, 4e8]
    assert cluster.memory_bytes.tolist() == [np.inf, np.inf, 7.0]
    assert cluster.fastest_first.tolist() == [1, 2, 0]
    assert cluster.index == {"a": 0, "b": 1, "c": 2}


def test_pair_overrides() -> None:
    override = LinkOverride("b", "a", bandwidth_mbps=5.0, gap_s=0.5)
    cluster = Cluster(TWO, Network(bandwidth_mbps=None, overhead_s=2.0, overrides=(override,)))
    assert cluster.link_column("bandwidth_mbps").tolist() == [np.inf, np.inf, 5.0, np.inf]
    assert cluster.link_column("gap_s").tolist() == [0, 0, 0.5, 0]
    assert cluster.link_column("overhead_s").tolist() == [2.0] * 4
    ends = [cluster.link_ends(i) for i in range(4)]
    assert ends == [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]


def test_a_column_is_a_copy() -> None:
    cluster = Cluster.equal(2)
    first = cluster.link_column("bandwidth_mbps")
    first[:] = 0.0
    assert (cluster.link_column("bandwidth_mbps") > 0.0).all()


def test_nic_overrides() -> None:
    overrides = (LinkOverride("b", None, bandwidth_mbps=5.0), LinkOverride(None, "a", latency_s=9))
    cluster = Cluster(TWO, Network("nic", overrides=overrides))
    assert cluster.link_column("bandwidth_mbps").tolist() == [1000, 5, 1000, 1000]
    assert cluster.link_column("latency_s").tolist() == [0.001, 0.001, 9, 0.001]
    ends = [cluster.link_ends(i) for i in range(4)]
    assert ends == [("a", None), ("b", None), (None, "a"), (None, "b")]


NAN, INF = float("nan"), float("inf")


def overridden(
    kind: NetworkKind, source: str | None, target: str | None, **numbers: Any
) -> Cluster:
    """Return a cluster of two devices and two overrides; the first override is valid."""
    first = LinkOverride("a", "b" if kind == "pair" else None)
    return Cluster(TWO, Network(kind, overrides=(first, LinkOverride(source, target, **numbers))))


FAULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "no devices": (lambda: Cluster([]), "^devices: a cluster needs at least one device"),
    "duplicate": (
        lambda: Cluster([*TWO, Device("a", 1)]),
        r"^devices\[2\]\.name: duplicate name 'a', see devices\[0\]",
    ),
    "no name": (lambda: Device("", 1), "name is empty"),
    "no speed": (lambda: Device("a", 0), "^device 'a': mips must be"),
    "nan speed": (lambda: Device("a", NAN), "^device 'a': mips"),
    "cores": (
        lambda: Device("a", 1, cores=0),
        r"^device 'a': cores must be a whole number from 1 to 1000000 \(got 0\)",
    ),
    "memory": (lambda: Device("a", 1, memory_bytes=-1), "^device 'a': memory_bytes must be"),
    "memory inf": (lambda: Device("a", 1, memory_bytes=INF), "^device 'a': memory_bytes must be"),
    "kind": (lambda: Network("ring"), "^network: kind must be pair, nic, free or egress"),  # type: ignore[arg-type]
    "bandwidth": (lambda: Network(bandwidth_mbps=0), "^network: bandwidth_mbps must be"),
    "inf": (lambda: Network(bandwidth_mbps=INF), "^network: bandwidth_mbps must be"),
    "latency": (lambda: Network(latency_s=-1), "^network: latency_s must be"),
    "overhead": (lambda: Network(overhead_s=NAN), "^network: overhead_s"),
    "gap": (lambda: Network(gap_s=-1e-9), "^network: gap_s"),
    "override number": (lambda: overridden("pair", "b", "a", gap_s=-1), "gap_s must be"),
    "override speed": (lambda: overridden("pair", "b", "a", bandwidth_mbps=0), "bandwidth_mbps"),
    "half a pair": (
        lambda: overridden("pair", "a", None),
        r"^network\.overrides\[1\]: pair links need both",
    ),
    "both of nic": (
        lambda: overridden("nic", "a", "b"),
        r"^network\.overrides\[1\]: nic links need either",
    ),
    "none of nic": (
        lambda: overridden("nic", None, None),
        r"^network\.overrides\[1\]: nic links need either",
    ),
    "twice overridden": (
        lambda: overridden("pair", "a", "b"),
        r"^network\.overrides\[1\]: the link has an override already",
    ),
    "unknown": (
        lambda: overridden("pair", "a", "x"),
        r"^network\.overrides\[1\]: unknown device 'x'",
    ),
    "itself": (
        lambda: overridden("pair", "a", "a"),
        r"^network\.overrides\[1\]: a device has no link to itself",
    ),
}


@pytest.mark.parametrize(("make", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_invalid_clusters_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ClusterError, match=message):
        make()


def test_equal_clusters() -> None:
    assert Cluster(TWO) == Cluster(list(TWO))
    assert hash(Cluster(TWO)) == hash(Cluster(TWO))
    assert Cluster(TWO) != Cluster(TWO[::-1])
    assert Cluster(TWO) != Cluster(TWO, Network("nic"))
    assert Cluster(TWO) != "cluster"
    assert repr(Cluster(TWO)) == "<Cluster 1x100,1x200x2: 2 devices, pair links of 1,000 Mbps>"


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_numbers_of_numpy_become_numbers_of_python(kind: type[Any], tmp_path: Path) -> None:
    two = kind(2)
    device = Device(
        "a",
        two,
        memory_bytes=two,
        group="rack",
        resources={"gpu": two},
        price=two,
        startup_s=two,
        overhead_s_per_byte=two,
    )
    links = {"bandwidth_mbps": two, "latency_s": two, "overhead_s": two, "gap_s": two}
    network = Network(
        **links,
        overrides=(LinkOverride("a", "b", **links),),
        overhead_s_per_byte=two,
        uplinks=(Uplink("rack", two, two),),
    )
    cluster = Cluster([device, Device("b", 1)], network)
    write_cluster(tmp_path / "c.json", cluster)
    assert read_cluster(tmp_path / "c.json") == cluster
    plain = int if kind is np.int64 else float
    assert {type(value) for value in (device.mips, device.price, device.startup_s)} == {plain}
    assert {type(getattr(network, name)) for name in links} == {plain}


def test_whole_numbers_of_numpy() -> None:
    number: Any = np.int64(2)
    device = Device("a", 1, cores=number, slots=number)
    assert device == Device("a", 1, cores=2, slots=2)
    assert (type(device.cores), type(device.slots)) == (int, int)


def test_numbers_of_python_stay_as_they_are() -> None:
    device = Device("a", 2500, memory_bytes=1e9, price=3)
    numbers = (device.mips, device.memory_bytes, device.price)
    assert tuple(map(type, numbers)) == (int, float, int)


@pytest.mark.parametrize("what", ["cores", "slots"])
@pytest.mark.parametrize("value", [True, 1.5, np.float64(2), np.bool_(True), "2"])
def test_cores_and_slots_are_whole_numbers(what: str, value: Any) -> None:
    with pytest.raises(ClusterError, match=f"device 'a': {what} must be a whole number from"):
        Device("a", 1, **{what: value})


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (3.0, r"devices: must be a whole number \(got 3.0\)"),
        (True, "devices: must be a whole number"),
        ("3", "devices: must be a whole number"),
        (0, "a cluster needs at least one device"),
        (10**6, "devices: must be at most 2048"),
    ],
)
def test_equal_devices_need_a_count(count: Any, message: str) -> None:
    with pytest.raises(ClusterError, match=message):
        Cluster.equal(count, 2500)
