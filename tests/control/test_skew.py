"""Uneven shares of instances, and what plans make of them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from streamplace.capacity.sizing.factored import Instances
from streamplace.control.observation import Observation, Reading
from streamplace.control.planning import SizePlanner
from streamplace.control.plans import Plan
from streamplace.control.settings import ControllerSettings
from streamplace.control.skew import with_shares
from tests.support.control import observed

DEVICE_MIPS, MOST = 1000.0, 0.85 / 0.7
UNEVEN = (0.05, 0.85, 0.05, 0.05)
CLUSTER = sp.Cluster([sp.Device(name, DEVICE_MIPS, cores=8) for name in "abcd"])


def chain(kind: str = "hash", source_ms: float = 0.0, **of_count: Any) -> sp.StreamGraph:
    """Return a source, "count" at 10 ms per tuple, and a sink."""
    operators = [
        sp.Operator("read", source_ms * DEVICE_MIPS * 1e3, 0.0, **of_count.pop("of_read", {})),
        sp.Operator("count", 10.0 * DEVICE_MIPS * 1e3, 0.0, **of_count),
        sp.Operator("write", DEVICE_MIPS * 1e3, 0.0),
    ]
    into: Any = {"partitioning": kind} if kind else {}
    streams = [sp.Stream("read", "count", **into), sp.Stream("count", "write")]
    return sp.StreamGraph(operators, streams)


def window(
    rate_s: float, shares: dict[str, tuple[float, ...]], source_ms: float = 0.0
) -> Observation:
    """Return a window at a rate in which operators have shares of instances."""
    cost_s = {"read": source_ms / 1e3, "count": 0.01, "write": 0.001}
    readings, hosts = {}, {}
    for name, cost in cost_s.items():
        each = shares.get(name, (1.0,))
        busy = [rate_s * share * cost for share in each]
        readings[name] = Reading(
            rate_s,
            float(np.mean(busy)),
            max(busy),
            0.0,
            len(each),
            shares=each if len({*each}) > 1 else (),
        )
        hosts[name] = tuple("abcd"[i % 4] for i in range(len(each)))
    base = observed(0.5, hosts=hosts, offered_s=rate_s, devices=frozenset("abcd"))
    return replace(base, readings=readings)


def plan_of(graph: sp.StreamGraph, observation: Observation, rate_s: float) -> Plan | str:
    return SizePlanner(graph, CLUSTER, ControllerSettings())(observation, rate_s, 10.0)


@pytest.mark.parametrize("kind", ["hash", "", "rebalance"])
def test_more_instances_do_not_divide_the_busiest_one(kind: str) -> None:
    """85% of the tuples at 10 ms: 117.6 tuples/s at most, however many instances there are."""
    observation = window(110.0, {"count": UNEVEN})
    reason = plan_of(chain(kind), observation, 130.0)
    assert isinstance(reason, str)
    assert (
        "count: 0.85 of all tuples are of one instance, and perhaps of one key, which more "
        "instances do not divide, 117.648 tuples/s at most" in reason
    )


def test_what_runs_now_carries_what_its_busiest_instance_does() -> None:
    plan = plan_of(chain(), window(60.0, {"count": UNEVEN}), 70.0)
    assert isinstance(plan, Plan), plan
    assert plan.now_carries_s == pytest.approx(100.0 / 0.85)
    assert plan.carries_s <= 100.0 / 0.85 + 1e-9


def test_other_operators_get_instances_beside_an_uneven_one() -> None:
    """The sink carries 1,000 tuples/s, and at 80 tuples/s a branch of it is too slow."""
    graph = chain()
    slow = sp.Operator("audit", 20.0 * DEVICE_MIPS * 1e3, 0.0)
    graph = sp.StreamGraph([*graph.operators, slow], [*graph.streams, sp.Stream("read", "audit")])
    observation = window(50.0, {"count": UNEVEN})
    audit = Reading(50.0, 1.0, 1.0, 0.0, 1)
    observation = replace(
        observation,
        readings={**observation.readings, "audit": audit},
        hosts={**observation.hosts, "audit": ("d",)},
    )
    plan = plan_of(graph, observation, 80.0)
    assert isinstance(plan, Plan), plan
    assert plan.deployment.parallelism["audit"] >= 2
    assert plan.now_carries_s == pytest.approx(50.0)


@pytest.mark.parametrize("count", [2, 3, 4, 7, 40])
@pytest.mark.parametrize("groups", [None, 64, 1000])
def test_shares_of_instances_are_kept_also_if_more_run(count: int, groups: int | None) -> None:
    shares = np.random.default_rng(count).dirichlet(np.full(count, 0.5))
    of_count: Any = {} if groups is None else {"partitions": groups}
    graph = chain(**of_count)
    observation = window(10.0, {"count": tuple(shares.tolist())})
    found, stays = with_shares(graph, observation, 1.0)
    assert stays == []
    for factor in (1, 2, 3):
        counts = {"read": 1, "count": count * factor, "write": 1}
        if groups is not None and count * factor > groups:
            continue
        rates = Instances(found, counts, 1.0).rates[1]
        assert rates.sum() == pytest.approx(1.0)
        assert sorted(rates[rates > 1e-12]) == pytest.approx(sorted(shares)), factor
        if factor == 1:
            assert rates == pytest.approx(shares)


@pytest.mark.parametrize("busiest", range(8))
def test_key_groups_of_the_graph_may_be_fewer_than_instances(busiest: int) -> None:
    """Flink runs no such job, so the graph is wrong; plans keep its limit, and every share."""
    shares = [0.05] * 8
    shares[busiest] = 0.65
    plan = plan_of(chain(partitions=5), window(50.0, {"count": tuple(shares)}), 50.0)
    assert isinstance(plan, Plan), plan
    assert plan.deployment.parallelism["count"] <= 5
    assert plan.carries_s <= 100.0 / 0.65 + 1e-6


@pytest.mark.parametrize("shares", [(0.3, 0.25, 0.25, 0.2), (0.25,) * 4])
def test_shares_within_the_headroom_are_even(shares: tuple[float, ...]) -> None:
    graph = chain()
    found, stays = with_shares(graph, window(10.0, {"count": shares}), MOST)
    assert (found, stays) == (graph, [])


def test_shares_of_the_graph_are_kept_while_they_hold() -> None:
    keys = {"berlin": 0.85}
    operators, streams = chain().operators, chain().streams
    graph = sp.StreamGraph(operators, [replace(streams[0], key_shares=keys), streams[1]])
    counts = {"read": 1, "count": 4, "write": 1}
    expected = Instances(graph, counts, 1.0).rates[1]
    found, _ = with_shares(graph, window(10.0, {"count": tuple(expected.tolist())}), MOST)
    assert found == graph
    more = np.full(4, 0.1 / 3)
    more[expected.argmin()] = 0.9
    found, _ = with_shares(graph, window(10.0, {"count": tuple(more.tolist())}), 1.01)
    assert Instances(found, counts, 1.0).rates[1] == pytest.approx(more)


@pytest.mark.parametrize("kind", ["hash", "forward"])
def test_an_uneven_source_keeps_its_instances_and_counts_as_its_busiest(kind: str) -> None:
    """85% of the tuples at 8 ms: 147 tuples/s at most; what follows one to one stays, too."""
    shares: dict[str, tuple[float, ...]] = {
        "read": UNEVEN,
        "count": UNEVEN if kind == "forward" else (0.25,) * 4,
    }
    observation = window(60.0, shares, source_ms=8.0)
    graph = chain(kind, source_ms=8.0)
    plan = plan_of(graph, observation, 70.0)
    assert isinstance(plan, Plan), plan
    assert plan.deployment.parallelism["read"] == 4
    assert plan.now_carries_s == pytest.approx(100.0 / 0.85 if kind == "forward" else 125.0 / 0.85)
    if kind == "forward":
        assert plan.deployment.parallelism["count"] == 4
    reason = plan_of(graph, observation, 200.0)
    assert isinstance(reason, str)
    assert "stays at 4 instances, of which one has 85% of the tuples" in reason


def test_partitions_that_explain_the_shares_of_a_source_are_even() -> None:
    """Three partitions over two instances: two and one."""
    graph = chain(source_ms=1.0, of_read={"partitions": 3})
    observation = window(10.0, {"read": (2 / 3, 1 / 3)}, source_ms=1.0)
    assert with_shares(graph, observation, MOST) == (graph, [])


def test_times_of_an_uneven_source_grow_on_every_kind_of_device() -> None:
    graph = chain(source_ms=1.0, of_read={"seconds_on": {"gpu": 1e-4, "npu": None}})
    found, stays = with_shares(graph, window(10.0, {"read": UNEVEN}, source_ms=1.0), MOST)
    assert stays == [0]
    assert found.instructions[0] == pytest.approx(3.4 * graph.instructions[0])
    assert found.seconds_on[0]["gpu"] == pytest.approx(3.4e-4)
    assert found.seconds_on[0]["npu"] is None
