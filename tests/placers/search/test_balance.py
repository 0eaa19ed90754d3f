"""Balance and the fewest devices where everything offered is carried."""

from itertools import pairwise

import numpy as np
import pytest

from benchmarks.reference.random_problems import feasible_placements, random_problem
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
from streamplace.errors import UsageError
from streamplace.placers.budget import Budget
from streamplace.placers.registry import make_placer
from streamplace.placers.search.balance import (
    balanced,
    lowered,
    may_spread,
    overloaded,
    settled,
    ties,
)
from streamplace.problem.objective import MAX_RATE, Model
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import CLOSED_FORMS, qualities
from streamplace.scoring.throughput import max_source_rate
from streamplace.sim.closed_form.bottleneck import utilisations, worst_utilisation
from streamplace.sim.work import own_utilisations
from streamplace.util.arrays import Floats, Ints
from tests.support.graphs import chain_graph
from tests.support.placements import placement_throughput, solve
from tests.support.placers import seeded_rng
from tests.support.share import Share


def lightly_loaded(seed: int, model: Model = "bottleneck") -> Problem:
    """Return a random problem at a rate that the best placement carries with headroom."""
    problem = random_problem(seed, model, 3000)
    rows = np.concatenate(list(feasible_placements(problem)))
    rng = np.random.default_rng(seed)
    lowest = float(worst_utilisation(flow(problem), rows).min())
    return problem.with_source_rate(problem.source_rate / lowest * rng.uniform(0.3, 0.99))


def check(seed: int, placer: str, model: Model = "bottleneck") -> None:
    """Check a placement's largest utilisation against all placements."""
    problem = lightly_loaded(seed, model)
    placement = make_placer(placer)(problem, seeded_rng())
    rows = np.concatenate(list(feasible_placements(problem)))
    lowest = float(worst_utilisation(flow(problem), rows).min())
    largest = float(worst_utilisation(flow(problem), placement.devices)[0])
    assert largest <= max(1.02 * lowest, 1e-9)
    assert placement_throughput(placement) == pytest.approx(problem.source_rate)
    assert problem.feasibility.violation(placement.devices) is None


@pytest.mark.parametrize("placer", ["auto:evaluations=20000", "search", "search:evaluations=20000"])
@pytest.mark.parametrize("model", CLOSED_FORMS)
def test_the_largest_utilisation_is_nearly_the_lowest(placer: str, model: Model) -> None:
    for seed in range(25):
        check(seed, placer, model)


@pytest.mark.parametrize("few", [0, 5000])
def test_search_and_enumeration_are_both_near_the_lowest(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamplace.placers.search.balance.FEW_PLACEMENTS", few)
    for seed in range(100, 140):
        check(seed, "auto:evaluations=40000:prefer=balance")


@pytest.mark.long
@pytest.mark.parametrize("part", range(3))
def test_three_hundred_problems_are_nearly_balanced(part: int, share: Share) -> None:
    for seed in share.of(range(1000 + 100 * part, 1100 + 100 * part)):
        check(seed, "auto")


def sorted_utilisations(problem: Problem, devices: Ints) -> Floats:
    """Return the utilisations of devices and links, the largest first, preceded by the worst."""
    worst = worst_utilisation(flow(problem), devices)
    return np.concatenate((worst, -np.sort(-np.concatenate(utilisations(flow(problem), devices)))))


def is_above(first: Floats, second: Floats) -> bool:
    """Return whether sorted utilisations are higher where they first differ."""
    differing = np.flatnonzero(np.abs(first - second) > 1e-6 * second[0])
    return len(differing) > 0 and bool(first[differing[0]] > second[differing[0]])


def is_lowest(problem: Problem, placer: str) -> bool:
    """Return whether no placement has lower utilisations, by trying all of them."""
    found = sorted_utilisations(problem, make_placer(placer)(problem, seeded_rng()).devices)
    rows = np.concatenate(list(feasible_placements(problem)))
    return not any(is_above(found, sorted_utilisations(problem, row)) for row in rows)


@pytest.mark.parametrize("model", CLOSED_FORMS)
def test_no_placement_has_lower_utilisations_where_all_are_tried(model: Model) -> None:
    assert all(is_lowest(lightly_loaded(seed, model), "auto") for seed in range(200, 212))


@pytest.mark.long
def test_a_search_finds_the_lowest_utilisations_of_most_problems(
    share: Share, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It found them in 115 of 120 problems of up to 3,000 placements."""
    monkeypatch.setattr("streamplace.placers.search.balance.FEW_PLACEMENTS", 0)
    seeds = [*share.of(range(120))]
    found = sum(is_lowest(lightly_loaded(seed), "auto:evaluations=20000") for seed in seeds)
    assert found >= 0.85 * len(seeds)


def test_operators_beside_a_bottleneck_do_not_share_one_device() -> None:
    """One operator fills 53% of a device; five others, of 10.6% each, have three devices."""
    names = [f"o{i}" for i in range(6)]
    graph = StreamGraph(
        [Operator(v, 5.3e5 if v == "o0" else 1.06e5, 8.0) for v in names],
        [Stream(u, v) for u, v in pairwise(names)],
    )
    for slots in (None, 4):  # with and without a limit that few placements satisfy
        devices = [Device(f"d{d}", 1000.0, slots=slots) for d in range(4)]
        problem = Problem(graph, Cluster(devices, Network("nic", 1000.0)), source_rate=1000.0)
        for placer in ("auto", "search"):
            placement = make_placer(placer)(problem, seeded_rng())
            loads = np.sort(utilisations(flow(problem), placement.devices)[0])
            assert loads == pytest.approx([0.106, 0.212, 0.212, 0.53], rel=1e-9)


def test_operators_beside_one_that_limits_the_job_are_spread() -> None:
    """One operator needs two cores of the four of a device, and has one, so half is carried."""
    graph = chain_graph(4e5, 2e6, 4e5, 4e5, payload_bytes=10.0)
    problem = Problem(
        graph, Cluster([Device(name, 1000.0, 4) for name in "abc"]), source_rate=1000.0
    )
    for placer in ("auto", "search"):
        placement = make_placer(placer)(problem, seeded_rng())
        assert placement_throughput(placement) == pytest.approx(500.0)
        loads = np.sort(utilisations(flow(problem), placement.devices)[0])
        assert loads == pytest.approx([0.1, 0.2, 0.5], rel=1e-9), placer
    packed = make_placer("auto:prefer=fewest")(problem, seeded_rng())
    assert placement_throughput(packed) == pytest.approx(500.0)
    assert len(np.unique(packed.devices)) == 1


@pytest.mark.parametrize(
    ("instructions", "spreads"),
    [([1.5e6, 1.1e6, 1.1e6, 1.1e6], True), ([1.1e6] * 5, False)],
    ids=["by 1.5 of a core", "by 1.1 of a core"],
)
def test_load_may_spread_where_one_operator_alone_limits(
    instructions: list[float], spreads: bool
) -> None:
    """The device has four cores: it is used at 1.2 in the first case, and at 1.375 in the other."""
    problem = Problem(
        chain_graph(*instructions, payload_bytes=10.0),
        Cluster([Device("a", 1000.0, 4)]),
        source_rate=1000.0,
    )
    placement = Placement(problem, [0] * len(instructions))
    arrays = flow(problem)
    [shared] = utilisations(arrays, placement.devices)[0]
    own = own_utilisations(arrays, placement.devices).max()
    assert (own > shared) == spreads
    assert may_spread(problem, [placement]) == spreads


def test_few_placements_are_all_tried_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    for search in ("best_of_chains", "lowered"):
        monkeypatch.delattr(f"streamplace.placers.search.balance.{search}")
    graph = chain_graph(1e5, 2e5, 3e5, payload_bytes=1.0)
    problem = Problem(graph, Cluster.equal(3, mips=1000.0), source_rate=1000.0)
    found = balanced(problem, seeded_rng(), [Placement(problem, [0, 0, 0])], Budget(None, 100))
    assert len({*found.devices.tolist()}) == 3


def test_single_moves_lower_the_utilisations_of_what_a_search_found() -> None:
    """Four equal operators end on four devices; without a budget, they stay on two."""
    problem = overloaded(
        Problem(
            chain_graph(1e5, 1e5, 1e5, 1e5, payload_bytes=1.0),
            Cluster.equal(4, mips=1000.0),
            source_rate=1000.0,
        )
    )
    rows = np.array([[0, 0, 1, 1]], np.int32)
    [kept] = lowered(problem, seeded_rng(), rows, Budget(None, 0))
    assert kept.tolist() == rows[0].tolist()
    [found] = lowered(problem, seeded_rng(), rows, Budget(None, 2_000))
    assert len({*found.tolist()}) == 4


def test_fewest_uses_fewer_devices_than_balance() -> None:
    """One operator fills half a device; the others, a fifth each, do not share one to balance."""
    graph = chain_graph(5e5, 2e5, 2e5, payload_bytes=10.0)
    problem = Problem(graph, Cluster.equal(5, mips=1000.0), source_rate=1000.0)
    found = {
        prefer: make_placer(f"auto:prefer={prefer}")(problem, seeded_rng())
        for prefer in ("balance", "fewest")
    }
    assert len(np.unique(found["balance"].devices)) == 3
    assert max_source_rate(problem, found["balance"].devices) == pytest.approx(2000.0)
    assert len(np.unique(found["fewest"].devices)) == 1


def test_an_initial_placement_is_not_balanced_unless_asked_for() -> None:
    graph = chain_graph(4e5, 4e5, payload_bytes=10.0)
    problem = Problem(graph, Cluster.equal(2, mips=1000.0), source_rate=1000.0)
    start = Placement(problem, [0, 0])
    stays = make_placer("auto")(problem, seeded_rng(), start)
    assert stays.devices.tolist() == [0, 0]
    balanced = make_placer("auto:prefer=balance")(problem, seeded_rng(), start)
    assert len(np.unique(balanced.devices)) == 2


def test_what_is_carried_stays_carried() -> None:
    """Within 1% of the lowest utilisation is not enough if the source rate is just carried."""
    for seed in range(40):
        problem = random_problem(seed, "bottleneck", 1000)
        rows = np.concatenate(list(feasible_placements(problem)))
        lowest = float(worst_utilisation(flow(problem), rows).min())
        full = problem.with_source_rate(problem.source_rate / lowest * (1 - 1e-6))
        placement = make_placer("auto:evaluations=20000")(full, seeded_rng())
        assert placement_throughput(placement) == pytest.approx(full.source_rate, rel=1e-9)


def test_the_result_states_the_highest_source_rate() -> None:
    graph = chain_graph(4e5, 4e5, payload_bytes=10.0)
    result = solve(Problem(graph, Cluster.equal(2, mips=1000.0), source_rate=1000.0))
    assert result.max_source_rate == pytest.approx(2500.0)
    assert result.to_dict()["max_source_rate"] == result.max_source_rate
    assert "carries up to 2,500 tuples/s" in str(result)


@pytest.mark.parametrize("instructions", [0.0, 1e-305])
def test_a_graph_without_work_has_no_highest_source_rate(instructions: float) -> None:
    problem = Problem(chain_graph(instructions, 0.0, payload_bytes=0.0), source_rate=10.0)
    assert overloaded(problem).source_rate == MAX_RATE
    result = solve(problem)
    assert result.max_source_rate is None


def test_an_unknown_preference_is_refused() -> None:
    with pytest.raises(UsageError, match="prefer must be balance or fewest"):
        make_placer("auto:prefer=most")


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
