"""Plans on unequal devices: prices, proofs, losses and errors."""

import pytest

from streamplace import (
    Cluster,
    Constraints,
    Device,
    LinkOverride,
    Network,
    Plan,
    Problem,
    StreamGraph,
)
from streamplace.errors import InfeasibleError, ProblemError, UsageError
from streamplace.problem.cluster import Uplink
from streamplace.scoring.throughput import throughput
from streamplace.workflows.plan import plan
from tests.support.device_sets import cheapest_prices, random_priced_problem
from tests.support.graphs import chain_graph

GRAPH = chain_graph(4e5, 5e5, 7e5, 8e5, 1e5, payload_bytes=2e4)  # 2,500 MIPS at 1,000 tuples/s
DEVICES = (
    Device("a1", 2000.0, group="a", price=5.0),
    Device("a2", 1500.0, group="a", price=2.0),
    Device("b1", 1500.0, group="b", price=3.0),
    Device("b2", 1000.0, group="b", price=1.0),
)
RACKS = Cluster(DEVICES, Network("nic", 1000.0))


def test_the_cheapest_set_is_proven_and_carries_the_rate() -> None:
    found = plan(GRAPH, RACKS, evaluations=2000)
    assert found.cheapest is not None
    assert found.cheapest.devices == ("a2", "b2")
    assert (found.cheapest.price, found.cheapest.bound, found.cheapest.gap) == (3.0, 3.0, 0.0)
    placement = found.cheapest.placement
    assert set(placement.assignment.values()) <= {"a2", "b2"}
    assert throughput(placement.problem, placement.devices)[0] == pytest.approx(1000.0)
    assert "2 devices keep up with 1,000 tuples/s at a price of 3" in str(found)


def test_an_uplink_between_racks_makes_another_set_cheaper() -> None:
    uplinks = (Uplink("a", 10.0, 10.0),)
    found = plan(GRAPH, Cluster(DEVICES, Network("nic", uplinks=uplinks)), evaluations=2000)
    assert found.cheapest is not None
    assert found.cheapest.devices == ("b1", "b2")


def test_equal_devices_with_unequal_links_have_a_cheapest_set() -> None:
    overrides = (LinkOverride("d0", "d1", 1.0), LinkOverride("d1", "d0", 1.0))
    cluster = Cluster.equal(3, 1500.0, Network(overrides=overrides))
    found = plan(GRAPH, cluster, evaluations=2000)
    assert found.unpriced
    assert found.cheapest is not None
    assert len(found.cheapest.devices) == 2
    assert "d2" in found.cheapest.devices
    assert [row.price for row in found.rows] == [None, None]


def test_the_rows_are_sets_whose_rates_hold() -> None:
    found = plan(GRAPH, RACKS, evaluations=2000)
    assert [row.devices for row in found.rows] == [1, 2]
    for row in found.rows:
        assert row.names is not None
        assert row.price == sum(RACKS.devices[RACKS.index[name]].price or 0 for name in row.names)
        assert row.max_source_rate <= row.bound * (1 + 1e-9)
    assert found.rows[0].names == ("a1",)
    assert found.fewest_devices == 2
    assert [row.devices for row in plan(GRAPH, RACKS, evaluations=2000, most=1).rows] == [1]


def test_what_is_left_after_each_loss() -> None:
    found = plan(GRAPH, RACKS, evaluations=2000, survive=1)
    assert found.cheapest is not None
    assert found.cheapest.devices == ("a2", "b1", "b2")
    assert found.cheapest.gap == 0.0
    assert [loss.device for loss in found.losses] == ["a2", "b1", "b2"]
    for loss in found.losses:
        left = [device for device in RACKS.devices if device.name in found.cheapest.devices]
        left = [device for device in left if device.name != loss.device]
        whole = plan(GRAPH, Cluster(left, RACKS.network), evaluations=2000).rows[-1]
        assert loss.max_source_rate == pytest.approx(whole.max_source_rate)
        assert loss.relative_throughput == 1.0
    row = next(row for row in found.rows if row.names == found.cheapest.devices)
    assert row.keeps_up


def test_nothing_keeps_up_with_a_proof() -> None:
    found = plan(GRAPH, RACKS, source_rate=1e5, evaluations=500)
    assert found.cheapest is None
    assert found.fewest_devices is None
    assert found.proven
    assert found.cause is not None
    assert "not enough for 100,000 tuples/s (proven)" in found.headline


def test_a_cluster_that_keeps_up_only_without_losses_shows_what_is_left() -> None:
    cluster = Cluster(DEVICES[1:3], RACKS.network)
    found = plan(GRAPH, cluster, evaluations=500, survive=1)
    assert found.cheapest is None
    assert found.proven
    assert [loss.relative_throughput < 1 for loss in found.losses] == [True, True]


def test_an_operator_that_only_one_device_can_run_survives_no_loss() -> None:
    pinned = Constraints(pins={"b": "a1"})
    assert plan(GRAPH, RACKS, constraints=pinned, evaluations=500).cheapest is not None
    for cluster in (RACKS, Cluster(DEVICES[1:], RACKS.network)):
        host = cluster.names[0]
        fault = rf"operator 'b' may run only on '{host}', so no set of devices survives the loss"
        rules = Constraints(pins={"b": host})
        with pytest.raises(InfeasibleError, match=fault):
            plan(GRAPH, cluster, constraints=rules, evaluations=500, survive=1)
    with pytest.raises(InfeasibleError, match="operator 'a' may run only on 'd0'"):
        plan(GRAPH, "3x2500", constraints=Constraints(pins={"a": "d0"}), survive=1)


def test_devices_that_cost_nothing_are_used_only_where_they_help() -> None:
    free = (Device("old1", 1000.0, price=0.0), Device("old2", 1000.0, price=0.0))
    found = plan(GRAPH, Cluster([*DEVICES, *free], RACKS.network), evaluations=2000)
    assert found.cheapest is not None
    assert found.cheapest.price <= 1.0
    only_free = plan(chain_graph(5e5), Cluster([*DEVICES, *free], RACKS.network), evaluations=2000)
    assert only_free.cheapest is not None
    assert only_free.cheapest.price == only_free.cheapest.gap == 0.0
    assert len(only_free.cheapest.devices) == 1


@pytest.mark.parametrize("survive", [0, 1])
def test_plans_of_random_problems_are_as_brute_force_finds_them(survive: int) -> None:
    checked = 0
    for seed in range(400, 430):
        try:
            problem = random_priced_problem(seed)
            found = _plan(problem, survive)
        except (InfeasibleError, UsageError):
            continue
        price = cheapest_prices(problem, survive)[survive]
        if found.rows[0].names is None:  # all devices are equal
            continue
        assert (found.cheapest is None) == (price is None)
        if found.cheapest is not None:
            checked += 1
            assert found.cheapest.price == pytest.approx(price)
            assert all(loss.relative_throughput > 1 - 2e-9 for loss in found.losses)
    assert checked >= 8


def _plan(problem: Problem, survive: int) -> Plan:
    return plan(
        problem.graph,
        problem.cluster,
        source_rate=problem.source_rate,
        constraints=problem.constraints,
        model=problem.model,
        target_utilisation=problem.target_utilisation,
        evaluations=500,
        survive=survive,
    )


def test_a_graph_without_work_has_no_plan_on_unequal_devices() -> None:
    graph = StreamGraph([("a", 0.0, 0.0)], source_rate=1.0)
    with pytest.raises(ProblemError, match="nothing limits the source rate"):
        plan(graph, RACKS)


def test_the_same_seed_gives_the_same_plan() -> None:
    first, second = (plan(GRAPH, RACKS, evaluations=300, survive=1).to_dict() for _ in range(2))
    assert first == second
