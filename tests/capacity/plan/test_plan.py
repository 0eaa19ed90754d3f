"""Tests for plans, compared with an exhaustive search of all placements."""

import numpy as np
import pytest

from streamplace import (
    Cluster,
    Constraints,
    Device,
    Network,
    Operator,
    Problem,
    Stream,
    StreamGraph,
)
from streamplace.capacity.plan.plan import plan
from streamplace.capacity.size import size
from streamplace.errors import ClusterError, InfeasibleError, ProblemError, UsageError
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.problem.objective import Model
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import throughput
from streamplace.sim.closed_form.bottleneck import worst_utilisation
from tests.support.graphs import chain_graph
from tests.support.placements import every_placement
from tests.support.share import Share

GRAPH = chain_graph(4e5, 5e5, 7e5, 8e5, 1e5, payload_bytes=2e4)
SLOW = Cluster.equal(3, mips=1000.0, network=Network(bandwidth_mbps=100.0))


def best_rate(graph: StreamGraph, count: int, target: float = 1.0) -> float:
    """Return the highest rate at which no device or link exceeds the target utilisation."""
    problem = Problem(graph, Cluster.equal(count, mips=1000.0, network=SLOW.network))
    worst = worst_utilisation(flow(problem), every_placement(problem)).min()
    return problem.source_rate * target / float(worst)


@pytest.mark.parametrize("target", [1.0, 0.6])
def test_every_row_is_the_optimum(target: float) -> None:
    found = plan(GRAPH, SLOW, target_utilisation=target, most=4, evaluations=20_000)
    assert [row.devices for row in found.rows] == [1, 2, 3, 4]
    for row in found.rows:
        assert row.max_source_rate == pytest.approx(best_rate(GRAPH, row.devices, target), rel=1e-9)
        assert row.max_source_rate <= row.bound * (1 + 1e-9)
        expected = min(1.0, row.max_source_rate / 1000.0)
        assert row.relative_throughput == pytest.approx(expected)


@pytest.mark.parametrize("rate", [300.0, 500.0, 600.0])
def test_the_fewest_devices_that_keep_up(rate: float) -> None:
    found = plan(GRAPH, SLOW, source_rate=rate, evaluations=20_000)
    enough = [n for n in range(1, 6) if best_rate(GRAPH, n) >= rate]
    assert found.fewest_devices == enough[0]
    assert found.rows[-1].devices >= 3


def test_more_devices_do_not_help_one_large_operator() -> None:
    """The plan ends where the largest operator fills a device, not at 64 devices."""
    graph = chain_graph(1e5, 4e6, payload_bytes=1.0)
    found = plan(graph, Cluster.equal(1, mips=1000.0), evaluations=2000)
    assert found.fewest_devices is None
    assert [row.devices for row in found.rows] == [1, 2]
    assert found.rows[-1].max_source_rate == pytest.approx(250.0)


def test_more_devices_do_not_help_if_links_are_full() -> None:
    graph = chain_graph(6e5, 6e5, payload_bytes=1e5)
    found = plan(graph, SLOW, source_rate=5000.0, evaluations=500)
    assert found.fewest_devices is None
    assert len(found.rows) == 5
    assert found.rows[-1].max_source_rate == found.rows[0].max_source_rate


def test_path_average_has_its_own_relative_throughput() -> None:
    model: Model = "path-average"
    found = plan(GRAPH, SLOW, source_rate=2000.0, model=model, most=2, evaluations=20_000)
    problem = Problem(
        GRAPH, Cluster.equal(2, 1000.0, SLOW.network), source_rate=2000.0, model=model
    )
    best = throughput(problem, every_placement(problem)).max() / 2000.0
    assert found.rows[1].relative_throughput == pytest.approx(float(best), rel=1e-9)
    assert found.rows[1].max_source_rate == pytest.approx(best_rate(GRAPH, 2), rel=1e-9)


def test_rows_that_cannot_satisfy_the_constraints_are_left_out() -> None:
    apart = Constraints(exlocate=[["a", "b", "c"]])
    assert plan(GRAPH, SLOW, constraints=apart, evaluations=500).rows[0].devices == 3
    pinned = Constraints(pins={"a": "d1"})  # the one device is then d1
    assert plan(GRAPH, SLOW, constraints=pinned, evaluations=500).rows[0].devices == 1
    with pytest.raises(
        InfeasibleError, match="found no placement on up to 2 devices; with 2 devices, constraints:"
    ):
        plan(GRAPH, SLOW, constraints=apart, most=2, evaluations=500)
    with pytest.raises(ProblemError, match="d9"):
        plan(GRAPH, SLOW, constraints=Constraints(pins={"a": "d9"}), evaluations=500)


def test_numbers_of_devices_with_too_little_room_are_left_out() -> None:
    """Two devices have the memory in sum, but no pair of the operators fits one of them."""
    rows = [Operator(name, 1e4, 10.0, bytes_) for name, bytes_ in (("a", 9), ("b", 9), ("c", 8))]
    graph = StreamGraph(rows, [Stream("a", "b"), Stream("b", "c")], source_rate=10.0)
    cluster = Cluster([Device("d0", 1000.0, memory_bytes=13)])
    assert [row.devices for row in plan(graph, cluster, evaluations=500).rows] == [3]


def has_a_plan(seed: int) -> bool:
    """Check a random problem: where a placement exists, so does a plan; return whether one does."""
    rng = np.random.default_rng(seed)
    names = [f"o{v}" for v in range(int(rng.integers(3, 8)))]
    count, room = int(rng.integers(2, 6)), float(rng.integers(10, 25))
    devices = [f"d{d}" for d in range(count)]
    rows = [Operator(name, 1e5, 10.0, float(rng.integers(0, 14))) for name in names]
    graph = StreamGraph(rows, [Stream(names[0], v) for v in names[1:]], source_rate=10.0)
    rules = Constraints(
        colocate=[names[:2]] if rng.random() < 0.4 else [],
        exlocate=[names[1:4]] if rng.random() < 0.4 else [],
        pins={names[-1]: str(rng.choice(devices))} if rng.random() < 0.3 else {},
        allowed={names[0]: rng.choice(devices, 2).tolist()} if rng.random() < 0.3 else {},
    )
    cluster = Cluster([Device(name, 1000.0, memory_bytes=room) for name in devices])
    try:
        placeable = feasible_rows(Problem(graph, cluster, constraints=rules), most=10**6)
    except InfeasibleError:
        return False
    assert placeable is not None
    if not len(placeable):
        return False
    found = plan(graph, cluster, constraints=rules, evaluations=300)
    assert found.rows[-1].devices <= count
    assert found.rows[-1].keeps_up
    return True


def test_a_plan_exists_wherever_a_placement_does() -> None:
    assert sum(has_a_plan(seed) for seed in range(60)) >= 20


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_a_thousand_plans_exist_wherever_placements_do(part: int, share: Share) -> None:
    seeds = share.of(range(100 + 600 * part, 700 + 600 * part))
    assert sum(has_a_plan(seed) for seed in seeds) >= share.least(250)


def test_a_loss_costs_one_equal_device() -> None:
    found = plan(GRAPH, SLOW, source_rate=500.0, evaluations=20_000)
    after = plan(GRAPH, SLOW, source_rate=500.0, evaluations=20_000, survive=1)
    assert found.fewest_devices is not None
    assert after.fewest_devices == found.fewest_devices + 1
    rows = {row.devices: row for row in after.rows}
    for count, row in rows.items():
        one_less = rows[count - 1].relative_throughput if count > 1 else 0.0
        assert row.relative_after_loss == one_less
    assert after.to_dict()["survive"] == 1
    short = plan(GRAPH, SLOW, source_rate=500.0, evaluations=20_000, survive=1, most=2)
    assert short.fewest_devices is None


def test_a_large_cluster_is_tried_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 7 operators needs its own device, and 4 devices are tried by default."""
    monkeypatch.setattr("streamplace.capacity.plan.equal.MAX_BY_DEFAULT", 4)
    rows = [Operator(f"o{v}", 1e3, 10.0, 9.0) for v in range(7)]
    graph = StreamGraph(rows, [Stream("o0", f"o{v}") for v in range(1, 7)], source_rate=1.0)
    cluster = Cluster([Device(f"d{d}", 1000.0, memory_bytes=10.0) for d in range(7)])
    assert plan(graph, cluster, evaluations=1).rows[-1].devices == 7


def test_labels_come_from_the_cluster() -> None:
    graph = StreamGraph([Operator("a", 1e5, 0.0, requires=("gpu",))], [], source_rate=1000.0)
    cluster = Cluster([Device("d0", 2000.0, labels=("gpu",))])
    assert plan(graph, cluster, evaluations=500).rows[0].relative_throughput == 1.0


def test_a_row_has_the_bound_of_a_placement() -> None:
    """Two of six equal operators must share one of five devices, whatever total CPU allows."""
    graph = chain_graph(*[1e5] * 6, payload_bytes=0.0)
    row = plan(graph, Cluster.equal(5), most=5, evaluations=2000).rows[-1]
    assert row.bound == pytest.approx(2500e6 / 2e5)
    assert row.max_source_rate == pytest.approx(row.bound)


def test_invalid_arguments_are_refused() -> None:
    half_priced = Cluster([Device("a", 2000.0, price=1.0), Device("b", 1000.0)])
    with pytest.raises(ClusterError, match="plan: 'b' has no price, but other devices have one"):
        plan(GRAPH, half_priced)
    with pytest.raises(UsageError, match=r"survive: must be 0 or 1 \(got 2\)"):
        plan(GRAPH, SLOW, survive=2)
    with pytest.raises(UsageError, match="engine"):
        plan(GRAPH, SLOW, model="engine")
    with pytest.raises(UsageError, match="most: must be"):
        plan(GRAPH, SLOW, most=0)
    with pytest.raises(UsageError, match="seconds: must be"):
        plan(GRAPH, SLOW, seconds=-1.0)


@pytest.mark.parametrize("instructions", [0.0, 1e-305])
def test_a_graph_without_work_has_no_plan(instructions: float) -> None:
    graph = StreamGraph(
        [Operator("a", instructions, 0.0), Operator("b", 0.0, 0.0)], [Stream("a", "b")]
    )
    with pytest.raises(ProblemError, match="nothing limits the source rate"):
        plan(graph, source_rate=1.0)


def test_a_link_that_a_stream_has_to_cross_limits_the_source_rate() -> None:
    """1e9 bit/s carry 125,000 tuples/s of 1,000 bytes, although no operator needs CPU time."""
    graph = StreamGraph(
        [Operator("a", 0.0, 1000.0), Operator("b", 0.0, 0.0)], [Stream("a", "b")], source_rate=1e3
    )
    apart = Constraints(exlocate=[["a", "b"]])
    found = plan(graph, "3x2500", constraints=apart)
    assert [(row.devices, row.max_source_rate, row.bound) for row in found.rows] == [
        (2, 125_000.0, 125_000.0),
        (3, 125_000.0, 125_000.0),
    ]
    assert (found.fewest_devices, found.missing) == (2, (1,))
    short = plan(graph, "3x2500", constraints=apart, source_rate=2e5)
    assert short.fewest_devices is None
    assert short.limit is not None
    assert short.limit.kind == "link"
    assert size(graph, "3x2500", constraints=apart).machines == 2
    assert size(graph, "3x2500").machines == 1  # nothing limits it, so one device is enough


def test_allowed_devices_are_not_all_needed() -> None:
    """Two of three equal devices are enough for an operator that may run on either of two."""
    graph = StreamGraph([Operator("a", 1e6, 0.0), Operator("b", 1e6, 0.0)], source_rate=1.0)
    rules = Constraints(pins={"a": "d0"}, allowed={"b": ["d1", "d2"]})
    assert plan(graph, "3x2500", constraints=rules).fewest_devices == 2


def test_the_same_seed_gives_the_same_plan() -> None:
    first, second = (plan(GRAPH, SLOW, evaluations=300, seed=3).to_dict() for _ in range(2))
    assert first == second
    assert np.isfinite(first["rows"][0]["max_source_rate"])


@pytest.mark.parametrize("speeds", [(1e-6, 1e-6), (1e-6, 2e-6)], ids=["equal", "unequal"])
def test_sustained_rates_may_be_below_the_lowest_source_rate(speeds: tuple[float, ...]) -> None:
    graph = StreamGraph([Operator("a", 1e16, 0.0)], source_rate=1.0)
    cluster = Cluster([Device(f"d{i}", mips) for i, mips in enumerate(speeds)])
    found = plan(graph, cluster, evaluations=100)
    assert found.fewest_devices is None
    assert found.rows[-1].max_source_rate == pytest.approx(max(speeds) * 1e-10)
    assert found.rows[-1].bound == pytest.approx(max(speeds) * 1e-10)
