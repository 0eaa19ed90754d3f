"""Equal utilisations: few streams between racks, and then low prices."""

import numpy as np
import pytest

from streamplace import (
    Cluster,
    Constraints,
    Device,
    LinkOverride,
    Network,
    Operator,
    Placement,
    Problem,
    Stream,
    StreamGraph,
)
from streamplace.placers.registry import make_placer
from streamplace.placers.search.ties import settled, ties
from streamplace.scoring.quality import qualities
from tests.support.graphs import chain_graph
from tests.support.placers import seeded_rng

PLACERS = ("auto", "search", "auto:prefer=balance")


def racks(count: int, of: int, prices: tuple[float, ...] = (1.0,)) -> Cluster:
    """Return equal devices in racks, whose devices alternate, so that their order says nothing."""
    devices = [
        Device(f"d{i}", 1000.0, group=f"r{i % count}", price=prices[i % len(prices)])
        for i in range(count * of)
    ]
    return Cluster(devices, Network("nic", None, latency_s=0.0))


def pairs(count: int) -> StreamGraph:
    """Return chains of two operators, each of which fills half a device."""
    names = [f"{kind}{i}" for i in range(count) for kind in "ab"]
    streams = [Stream(f"a{i}", f"b{i}") for i in range(count)]
    return StreamGraph([Operator(v, 5e5 * count, 10.0) for v in names], streams)


@pytest.mark.parametrize("placer", PLACERS)
@pytest.mark.parametrize("count", [2, 4])  # all placements are compared; or a search finds one
def test_pairs_stay_in_their_racks_once_devices_are_balanced(placer: str, count: int) -> None:
    """Each operator has a device of its own, so that a pair has two of one rack."""
    problem = Problem(pairs(count), racks(count, 2), source_rate=999.0)
    found = make_placer(placer)(problem, seeded_rng())
    assert len(np.unique(found.devices)) == 2 * count
    (joining,), _ = ties(problem, found.devices[None])
    assert joining == 0


@pytest.mark.parametrize("placer", PLACERS)
@pytest.mark.parametrize("devices", [6, 12])
def test_the_cheapest_of_equal_devices_are_used(placer: str, devices: int) -> None:
    problem = Problem(
        chain_graph(5e5, 5e5, 5e5, payload_bytes=10.0),
        Cluster([Device(f"d{i}", 1000.0, price=float(devices - i)) for i in range(devices)]),
        source_rate=1000.0,
    )
    found = make_placer(placer)(problem, seeded_rng())
    assert sorted(np.unique(found.devices)) == list(range(devices - 3, devices))


def test_racks_come_before_prices() -> None:
    """The devices at a price of 1 are in different racks."""
    problem = Problem(pairs(1), racks(2, 2, prices=(1.0, 2.0, 3.0, 1.0)), source_rate=999.0)
    found = make_placer("auto")(problem, seeded_rng())
    (joining,), (price,) = ties(problem, found.devices[None])
    assert (joining, price) == (0.0, 3.0)


def test_devices_without_a_price_or_a_group_have_no_ties() -> None:
    graph, devices = chain_graph(5e5, 5e5, payload_bytes=10.0), [Device("a", 1000.0, price=1.0)]
    problem = Problem(graph, Cluster([*devices, Device("b", 1000.0)]), source_rate=1000.0)
    rows = np.array([[0, 1], [1, 1]], dtype=np.int32)
    assert [column.tolist() for column in ties(problem, rows)] == [[0.0, 0.0], [0.0, 0.0]]


def test_exchanges_raise_no_utilisation_and_satisfy_the_constraints() -> None:
    """The rack that would do has a slow link, or the operator is pinned."""
    graph = chain_graph(9e5, 9e5, payload_bytes=1e4)
    devices = [Device("a", 1000.0, group="x"), Device("b", 1000.0, group="y")]
    devices += [Device("c", 1000.0, group="x"), Device("d", 500.0, group="x")]
    first, second = graph.names
    pinned = Constraints(pins={second: "b"})
    for mbps, rules, wanted in (
        (1000.0, None, ["a", "c"]),
        (100.0, None, ["a", "b"]),
        (1000.0, pinned, ["a", "b"]),
    ):
        link = LinkOverride("a", "c", bandwidth_mbps=mbps)
        cluster = Cluster(devices, Network("pair", 1000.0, overrides=(link,)))
        problem = Problem(graph, cluster, source_rate=1000.0, constraints=rules)
        start = Placement(problem, [0, 1])
        found = settled(problem, [start])
        assert [found.assignment[name] for name in (first, second)] == wanted
        assert qualities(problem, [found])[0] >= qualities(problem, [start])[0]
