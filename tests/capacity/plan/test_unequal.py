"""Plans on unequal devices: prices, proofs, losses and errors."""

import numpy as np
import pytest

from streamplace import Cluster, Constraints, Device, LinkOverride, Network, Problem, StreamGraph
from streamplace.capacity.plan.plan import plan
from streamplace.capacity.plan.result import Plan
from streamplace.capacity.plan.rows import Rows
from streamplace.capacity.subset.cheapest import Search
from streamplace.capacity.subset.conditions import Counts, Kinds, losses, without
from streamplace.capacity.subset.examination import Examiner
from streamplace.capacity.subset.sustained import Sustained
from streamplace.errors import InfeasibleError, ProblemError, UsageError
from streamplace.placers.budget import Budget
from streamplace.problem.cluster import Uplink
from streamplace.scoring.throughput import throughput
from tests.support.device_sets import DEVICES, GRAPH, RACKS, cheapest_prices, random_priced_problem


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
    for cluster in (RACKS, Cluster(DEVICES[1:], RACKS.network)):
        host = cluster.names[0]
        fault = rf"operator 'b' may run only on '{host}', so no set of devices survives the loss"
        rules = Constraints(allowed={"b": [host]})
        assert plan(GRAPH, RACKS, constraints=rules, evaluations=500).cheapest is not None
        with pytest.raises(InfeasibleError, match=fault):
            plan(GRAPH, cluster, constraints=rules, evaluations=500, survive=1)


def test_the_loss_of_a_device_with_pins_is_not_survived_and_named() -> None:
    together = Constraints(pins={"b": "a1"}, colocate=[["b", "c"]])
    found = plan(GRAPH, RACKS, constraints=together, evaluations=500, survive=1)
    assert found.cheapest is not None
    assert "a1" in found.cheapest.devices
    assert [loss.device for loss in found.losses] == sorted({*found.cheapest.devices} - {"a1"})
    assert all(loss.relative_throughput > 1 - 1e-9 for loss in found.losses)
    assert found.to_dict()["not_survived"] == {"a1": ["b", "c"]}
    assert "after the loss of any one device without pinned operators" in found.headline
    pinned = Constraints(pins={"b": "a1"})
    free = plan(GRAPH, RACKS, constraints=pinned, evaluations=500)
    assert free.to_dict()["not_survived"] == {}


def test_one_device_with_pins_has_no_loss_to_survive() -> None:
    found = plan(GRAPH, "3x2500", constraints=Constraints(pins={"a": "d0"}), survive=1)
    assert found.cheapest is not None
    assert found.cheapest.devices == ("d0",)
    assert found.losses == ()
    assert found.pinned == {"d0": ("a",)}
    other = Constraints(pins={"a": "d0"}, allowed={"b": ["d0"], "c": ["d1"]})
    with pytest.raises(InfeasibleError, match="operator 'c' may run only on 'd1'"):
        plan(GRAPH, "3x2500", constraints=other, survive=1)


ABC = Cluster(
    [Device(f"a{i}", 2000.0, price=10.0) for i in range(3)]
    + [Device(f"b{i}", 1500.0, price=4.0) for i in range(3)]
    + [Device(f"c{i}", 1000.0, price=1.0) for i in range(4)]
)


def test_rows_with_losses_are_the_cheapest_that_survive_or_the_best_after_a_loss() -> None:
    found = plan(GRAPH, ABC, source_rate=400.0, survive=1, evaluations=2000)
    assert [(row.devices, row.names) for row in found.rows] == [(1, ("a0",)), (2, ("c0", "c1"))]
    found = plan(GRAPH, ABC, source_rate=600.0, survive=1, evaluations=2000)
    rows = {row.devices: row for row in found.rows}
    assert rows[2].names == ("b0", "b1")
    assert rows[2].price == 8.0
    assert rows[2].relative_after_loss == 1.0
    assert found.cheapest is not None
    assert found.cheapest.price == 3.0
    found = plan(GRAPH, ABC, source_rate=1000.0, survive=1, evaluations=2000)
    left = found.rows[1].relative_after_loss
    assert left == pytest.approx(0.8)
    assert found.rows[1].price == 20.0


def test_most_limits_the_answer() -> None:
    assert _names(plan(GRAPH, ABC, source_rate=500.0, survive=1, evaluations=500)) == "c0 c1 c2"
    found = plan(GRAPH, ABC, source_rate=500.0, survive=1, most=2, evaluations=500)
    assert _names(found) == "b0 b1"
    assert found.cheapest is not None
    assert found.cheapest.gap == 0.0
    one = plan(GRAPH, ABC, source_rate=500.0, survive=1, most=1, evaluations=500)
    assert one.cheapest is None
    assert one.headline.startswith("1 device is not enough")
    assert one.proven
    apart = Constraints(exlocate=[["a", "b", "c"]])
    with pytest.raises(InfeasibleError, match="no placement on at most 2 of 10 devices"):
        plan(GRAPH, ABC, constraints=apart, most=2, evaluations=500)


def _names(found: Plan) -> str:
    return "" if found.cheapest is None else " ".join(found.cheapest.devices)


def test_most_limits_sets_that_cannot_be_enumerated() -> None:
    rng = np.random.default_rng(0)
    devices = [Device(f"d{d}", 850.0 + 40 * d, price=float(rng.integers(1, 99))) for d in range(30)]
    free = plan(GRAPH, Cluster(devices), evaluations=200)
    assert free.cheapest is not None
    most = len(free.cheapest.devices) - 1
    found = plan(GRAPH, Cluster(devices), most=most, evaluations=200)
    assert found.cheapest is None or len(found.cheapest.devices) <= most
    assert max(row.devices for row in found.rows) <= most


@pytest.mark.parametrize("survive", [0, 1])
@pytest.mark.parametrize("seconds", [0.0, 0.02])
def test_no_row_that_keeps_up_is_cheaper_than_the_cheapest_set(
    survive: int, seconds: float
) -> None:
    found = plan(GRAPH, ABC, source_rate=700.0, survive=survive, seconds=seconds)
    assert found.cheapest is not None
    prices = [row.price for row in found.rows if row.keeps_up and row.price is not None]
    assert found.cheapest.price <= min(prices)


def test_rows_measure_each_set_once_and_only_what_is_needed_when_time_is_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = Problem(GRAPH, ABC, source_rate=700.0)
    prices = np.array([device.price for device in ABC.devices], dtype=np.float64)
    examiner = Examiner(problem, Kinds(problem, prices), 0, 500, Budget())
    found = Search(examiner, 1, 0).run()
    measured: list[Counts] = []
    measure = examiner.measure

    def recorded(counts: Counts, effort: int = 0, *, enough: bool = False) -> Sustained | None:
        measured.append(counts)
        return measure(counts, effort, enough=enough)

    monkeypatch.setattr(examiner, "measure", recorded)
    rows, same = Rows(examiner, 1, Budget(0.0), 1.0).of(found, None)
    assert same == found
    assert rows[-1].keeps_up
    assert found.counts is not None
    lossy = losses(found.counts, 1, examiner.kinds.kept)
    needed = {found.counts, *(without(found.counts, lost) for lost in lossy)}
    assert set(measured) <= needed
    measured.clear()
    table = Rows(examiner, 1, Budget(), 1.0)
    table.of(found, None)
    list(table.after_losses(found.counts))
    own = [counts for counts in needed if counts in measured]
    assert [measured.count(counts) for counts in own] == [1] * len(own)


def test_what_is_missing_and_what_is_full_is_named() -> None:
    apart = Constraints(exlocate=[["a", "b", "c"]])
    found = plan(GRAPH, RACKS, constraints=apart, evaluations=500)
    assert found.missing == (1, 2)
    assert "no placement found on 1 or 2 devices" in found._repr_html_()
    uplinks = (Uplink("a", 1.0, 1.0), Uplink("b", 1.0, 1.0))
    halves = Constraints(allowed={"a": ["a1", "a2"], "e": ["b1", "b2"]})
    narrow = Cluster(DEVICES, Network("nic", uplinks=uplinks))
    found = plan(GRAPH, narrow, constraints=halves, evaluations=500)
    assert found.cheapest is None
    assert found.limit is not None
    assert found.limit.kind == "uplink"
    document = found.to_dict()
    assert document["limit"]["kind"] == "uplink"
    assert (document["proven"], document["unpriced"]) == (True, False)


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


def test_a_row_has_the_device_that_sustains_the_most_and_not_the_largest_one() -> None:
    """One core of 1,000 MIPS runs 50,000 instructions 20,000 times/s, one of 800 MIPS 16,000."""
    cluster = Cluster([Device("fast", 1000, price=1), Device("wide", 800, cores=3, price=2)])
    graph = StreamGraph([("a", 5e4, 0.0)], source_rate=24_000)
    row = plan(graph, cluster).rows[0]
    assert (row.names, row.max_source_rate, row.bound) == (("fast",), 20_000.0, 20_000.0)
    assert row.price == 1


def test_a_row_has_the_cheapest_device_that_keeps_up() -> None:
    """The first carries 1,976e6 * 2 / 290,000 tuples/s, enough at less than the price of the last.

    Half of the source rate goes to each operator.
    """
    cluster = Cluster(
        [
            Device("x", 1976, price=1.62),
            Device("y", 800, price=0),
            Device("z", 2500, cores=3, price=9),
        ]
    )
    graph = StreamGraph([("a", 2.7e5, 0.0), ("b", 2e4, 0.0)], source_rate=5900)
    row = plan(graph, cluster).rows[0]
    assert (row.names, row.price) == (("x",), 1.62)
    assert row.max_source_rate == pytest.approx(1976e6 * 2 / 290_000)
    assert row.bound >= 2500e6 * 2 / 270_000 * (1 - 1e-9)  # what one core of the last one carries


def test_a_graph_without_work_has_no_plan_on_unequal_devices() -> None:
    graph = StreamGraph([("a", 0.0, 0.0)], source_rate=1.0)
    with pytest.raises(ProblemError, match="nothing limits the source rate"):
        plan(graph, RACKS)


def test_the_same_seed_gives_the_same_plan() -> None:
    first, second = (plan(GRAPH, RACKS, evaluations=300, survive=1).to_dict() for _ in range(2))
    assert first == second
