"""Rows of plans beside `place`: monotone, confirmed, none below it, and every number named."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import streamplace as sp
from streamplace.capacity.plan import equal
from streamplace.capacity.plan.plan import plan
from streamplace.capacity.plan.result import Plan
from streamplace.capacity.size import size
from streamplace.display.text import rounded_up
from streamplace.errors import PlacementError, ProblemError
from streamplace.placers.exact.decision import Incumbent
from streamplace.scoring.flow import flow
from streamplace.workflows.migrate import migrate
from streamplace.workflows.place import place
from tests.support.share import Share

NEEDED = 4.4  # devices that the CPU work fills
ROUNDING = 1e-9


def devices(count: int, mbps: float = 1e6) -> sp.Cluster:
    """Return equal devices, whose network interfaces may be the limit."""
    several = [sp.Device(f"d{i}", 64_000.0) for i in range(count)]
    return sp.Cluster(several, sp.Network("nic", mbps))


@cache
def layered(operators: int, family: str = "layered") -> sp.StreamGraph:
    """Return a graph whose source rate fills `NEEDED` devices."""
    graph = sp.Recipe(family, 1, range(operators, operators + 1), 1).graph(0)
    arrays = flow(sp.Problem(graph, devices(1), source_rate=1.0))
    rate = NEEDED / float(arrays.work.sum() / arrays.capacity.sum())
    return graph.with_numbers(source_rate=rate)[0]


def check_rows(graph: sp.StreamGraph, mbps: float, evaluations: int, most: int) -> Plan:
    """Check the rows of a plan beside each other and beside `place`; return the plan."""
    found = plan(graph, devices(most, mbps), most=most, evaluations=evaluations)
    for before, row in pairwise(found.rows):
        assert row.max_source_rate >= before.max_source_rate
        assert row.relative_throughput >= before.relative_throughput
    for row in found.rows:
        cluster = devices(row.devices, mbps)
        placed = place(graph, cluster, placer=f"auto:evaluations={evaluations}")
        assert placed.max_source_rate is not None
        assert row.max_source_rate >= placed.max_source_rate * (1 - ROUNDING)
        assert row.max_source_rate <= row.bound * (1 + ROUNDING)
        assert row.placement is not None
        kept = migrate(
            sp.Problem(graph, cluster), row.placement, placer=f"auto:evaluations={evaluations}"
        )
        assert kept.result.score.value >= (
            row.relative_throughput * found.source_rate * (1 - ROUNDING)
        )
        assert not kept.forced
    assert {row.devices for row in found.rows} | {*found.left_out} == {*range(1, most + 1)}
    return found


@pytest.mark.parametrize("mbps", [8_000.0, pytest.param(300.0, marks=pytest.mark.long)])
def test_rows_grow_and_none_is_below_place(mbps: float) -> None:
    check_rows(layered(40), mbps, evaluations=3_000, most=5)


@pytest.mark.long
@pytest.mark.parametrize("family", ["layered", "series-parallel"])
@pytest.mark.parametrize("operators", [100, 300])
def test_rows_of_larger_graphs_grow_and_none_is_below_place(family: str, operators: int) -> None:
    for mbps in (12_000.0, 1_000.0):
        check_rows(layered(operators, family), mbps, evaluations=20_000, most=9)


def test_numbers_that_the_bound_rules_out_are_named_on_large_graphs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(equal, "OTHERS", 0)
    found = plan(layered(40), devices(9), evaluations=3_000)
    assert [row.devices for row in found.rows] == [5]
    assert found.ruled_out == (1, 2, 3, 4)
    assert found.left_out == (1, 2, 3, 4, 6, 7, 8, 9)
    document = found.to_dict()
    assert (document["fewest_devices"], document["proven"]) == (5, True)
    assert document["left_out"] == [1, 2, 3, 4, 6, 7, 8, 9]
    text = found._repr_html_()
    assert "ruled out by the bound: 1 to 4 devices" in text
    assert "not searched: 6 to 9 devices" in text
    after = plan(layered(40), devices(9), evaluations=3_000, survive=1)
    assert after.fewest_devices == 6
    assert after.rows[0].relative_after_loss is None  # of four devices, three are not searched


@pytest.mark.parametrize("mbps", [8_500.0, pytest.param(9_000.0, marks=pytest.mark.long)])
def test_numbers_are_skipped_on_large_graphs_and_the_fewest_is_bisected(
    monkeypatch: pytest.MonkeyPatch, mbps: float
) -> None:
    monkeypatch.setattr(equal, "OTHERS", 0)
    found = plan(layered(40), devices(3, mbps), evaluations=100)
    for before, row in pairwise(found.rows):
        assert row.devices > before.devices
        assert row.max_source_rate >= before.max_source_rate
    rows = {row.devices: row for row in found.rows}
    assert {*rows} | {*found.left_out} == {*range(1, max(rows) + 1)}
    if (fewest := found.fewest_devices) is not None and fewest - 1 not in found.ruled_out:
        assert not rows[fewest - 1].keeps_up


def test_not_enough_is_stated_only_where_it_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU work fills 4.4 devices; then bounds say nothing of interfaces that are too slow."""
    graph = layered(40)
    short = plan(graph, devices(4), most=4, evaluations=3_000)
    assert (short.fewest_devices, short.to_dict()["proven"]) == (None, True)
    assert short.headline.startswith("4 devices are not enough for ")
    assert short.headline.endswith(" (proven)")
    for name in ("bound", "ceiling"):
        monkeypatch.setattr(equal, name, lambda problem: problem.source_rate)
    slow = plan(graph, devices(6, 300.0), evaluations=3_000)
    assert (slow.fewest_devices, slow.to_dict()["proven"]) == (None, False)
    assert "not enough" not in str(slow)
    assert slow.headline.startswith(f"none found up to {slow.rows[-1].devices} devices that keeps")
    assert slow.headline.endswith(f"(bound {rounded_up(slow.rows[-1].bound)} tuples/s)")
    assert slow.placement is None
    with pytest.raises(PlacementError, match="no placement to write: none found"):
        slow.save("unwritten.json")


def test_the_same_plan_whatever_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits count changes, so that time that passes faster does not matter."""
    first = plan(layered(40), devices(6, 1_000.0)).to_dict()
    monkeypatch.setattr(equal, "SECONDS_OF_A_NUMBER", 200.0)
    assert plan(layered(40), devices(6, 1_000.0)).to_dict() == first


def test_rows_on_unequal_devices_do_not_fall() -> None:
    speeds = (64e3, 48e3, 32e3, 16e3)
    names = [sp.Device(f"d{i}", mips) for i, mips in enumerate(speeds)]
    for mbps in (8_000.0, 300.0):
        cluster = sp.Cluster(names, sp.Network("nic", mbps))
        found = plan(layered(40), cluster, evaluations=500)
        relative = [row.relative_throughput for row in found.rows]
        assert relative == sorted(relative)
        assert [row.devices for row in found.rows] == [1, 2, 3, 4]


@pytest.mark.parametrize("kinds", [("gpu", None), (None, None)])
def test_only_a_graph_without_work_is_unlimited(kinds: tuple[str | None, ...]) -> None:
    """A device on which operators take no time is unlimited, and others are not."""
    operators = [sp.Operator(name, 1e5, 0.0, seconds_on={"gpu": 0.0}) for name in "ab"]
    graph = sp.StreamGraph(operators, [sp.Stream("a", "b")], source_rate=1000.0)
    first = sp.Device("gpu", 1000.0, kind=kinds[0], price=2.0)
    others = [sp.Device("c1", 1000.0, price=1.0), sp.Device("c2", 1500.0, price=1.0)]
    found = plan(graph, sp.Cluster([first, *others]), evaluations=500, survive=1)
    assert found.cheapest is not None
    assert found.cheapest.devices == ("c1", "c2")
    assert [loss.max_source_rate for loss in found.losses] == [7_500.0, 5_000.0]
    if kinds[0] == "gpu":
        assert "at least 1e+15" in found._repr_html_()
        with pytest.raises(ProblemError, match="nothing limits the source rate"):
            plan(graph, sp.Cluster([first, replace(first, name="gpu2")]))


def test_a_fast_device_is_limited_too() -> None:
    graph = sp.StreamGraph([sp.Operator("a", 1e3, 0.0)], source_rate=1000.0)
    assert plan(graph, sp.Cluster([sp.Device("d0", 1e15)])).fewest_devices == 1


@pytest.mark.long
@pytest.mark.parametrize("operators", [1_000, 3_000])
@pytest.mark.parametrize("family", ["layered", "series-parallel"])
def test_large_graphs_need_as_many_devices_as_their_work(family: str, operators: int) -> None:
    graph, cluster = layered(operators, family), devices(12)
    found = plan(graph, cluster)
    assert found.fewest_devices == 5
    sized = size(graph, cluster)
    assert (sized.machines, sized.gap) == (5, 0.0)
    assert {*sized.parallelism.values()} == {1}
    assert sized.throughput == pytest.approx(graph.source_rate)


def chain(operators: int) -> sp.StreamGraph:
    """Return a chain whose halves fill most of a device each, over streams that fill a link."""
    names = [f"o{i}" for i in range(operators)]
    return sp.StreamGraph(
        [sp.Operator(name, 1000.0 + 100.0 * (i % 2), 1000.0) for i, name in enumerate(names)],
        [sp.Stream(*ends) for ends in pairwise(names)],
        source_rate=2000.0,
    )


@pytest.mark.long
@pytest.mark.parametrize("operators", [2_000, 2_001, 4_000])
def test_a_long_chain_is_divided_where_few_streams_cross(operators: int) -> None:
    found = size(chain(operators), "8x2500")
    assert found.machines == -(-operators * 2_000 * 1_050 // 2_500_000_000)
    assert found.gap == 0.0


@pytest.mark.long
def test_forward_pairs_of_many_instances_share_devices() -> None:
    """Interfaces carry few of the streams of 20 kB between numbers of equal instances."""
    pairs = 1_010
    graph = sp.StreamGraph(
        [
            sp.Operator("read", 1e6, 20_000.0, parallelism=pairs),
            sp.Operator("map", 1.1e6, 100.0, parallelism=pairs),
        ],
        [sp.Stream("read", "map", partitioning="forward")],
        source_rate=1_000.0 * pairs,
    )
    found = size(graph, "300x2500x8", target_utilisation=0.8, seconds=60.0)
    assert found.machines <= found.bound * 1.05


@pytest.mark.long
def test_plans_are_within_brute_force(share: Share) -> None:
    """No bound excludes a number of devices on which a placement carries everything."""
    for seed in share.of(range(100)):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(4, 8))
        operators = [
            sp.Operator(f"o{v}", float(rng.uniform(1e5, 9e5)), float(rng.uniform(0, 4e4)))
            for v in range(count)
        ]
        streams = [sp.Stream(f"o{int(rng.integers(0, v))}", f"o{v}") for v in range(1, count)]
        graph = sp.StreamGraph(operators, streams, source_rate=float(rng.uniform(300, 2000)))
        cluster = sp.Cluster.equal(4, 1000.0, sp.Network("nic", float(rng.uniform(50, 500))))
        found = plan(graph, cluster, most=4, evaluations=200)
        for row in found.rows:
            problem = sp.Problem(graph, sp.Cluster(cluster.devices[: row.devices], cluster.network))
            best = Incumbent(problem, row.placement)  # type: ignore[arg-type]
            assert best.reached <= row.bound * (1 + ROUNDING)
