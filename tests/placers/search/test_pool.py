"""The pool search: more work, devices and starts are not worse, and constraints hold."""

import numpy as np
import pytest

from benchmarks.reference.random_problems import optimum, random_problem
from sim.closed_form.bottleneck import worst_utilisation
from streamplace import Cluster, Constraints, Device, Network, Placement, Problem
from streamplace.errors import PlacementError
from streamplace.placers.registry import make_placer
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.balance import overloaded
from streamplace.placers.search.pool import Pool, device_order
from streamplace.problem.network import NetworkKind, Uplink
from streamplace.scoring.flow import flow
from tests.support.graphs import chain_graph, preset_graph
from tests.support.placers import seeded_rng
from tests.support.share import Share


def searched(problem: Problem, changes: int, *starts: Placement) -> Placement:
    """Return the best placement of a pool with this many changes."""
    pool = Pool(overloaded(problem), seeded_rng())
    for start in starts:
        pool.add(start)
    pool.search(Budget(None, changes))
    return Placement(problem, pool.placements[0].devices)


def largest(placement: Placement) -> float:
    return float(worst_utilisation(flow(placement.problem), placement.devices)[0])


def linked(seed: int, devices: int = 12) -> Problem:
    """Return a problem of 40 to 120 operators whose links bind."""
    rng = np.random.default_rng(seed)
    graph = preset_graph(("layered", "series-parallel")[seed % 2], int(rng.integers(40, 121)), seed)
    kind: NetworkKind = ("pair", "nic")[seed // 2 % 2]
    mips = [float(rng.choice([1500, 2500, 4000])) for _ in range(devices)]
    mips.sort(reverse=True)
    cluster = Cluster([Device(f"d{d}", m) for d, m in enumerate(mips)], Network(kind, 30.0))
    return Problem(graph, cluster, source_rate=1e4)


def on_first(problem: Problem, count: int) -> Problem:
    """Return the problem on its first devices, which are the fastest."""
    cluster = Cluster(problem.cluster.devices[:count], problem.cluster.network)
    return Problem(problem.graph, cluster, source_rate=problem.source_rate)


def test_more_changes_are_not_worse() -> None:
    better = 0
    for seed in range(6):
        problem = linked(seed)
        loads = [largest(searched(problem, changes)) for changes in (5_000, 20_000, 100_000)]
        assert loads == sorted(loads, reverse=True)
        better += loads[-1] < loads[0]
    assert better > 1


def test_a_start_is_never_lost() -> None:
    problem = linked(1)
    best = searched(problem, 300_000)
    assert largest(searched(problem, 10, best)) <= largest(best)


def steps_down(problem: Problem, changes: int) -> int:
    """Return how often a search on more devices, from the result on fewer, ends worse."""
    losses, before = 0, None
    for count in (1, 2, 3, 4, 6, 8, 10, 12):
        one = on_first(problem, count)
        starts: list[Placement] = [] if before is None else [Placement(one, before.devices)]
        found = searched(one, changes, *starts)
        losses += before is not None and largest(found) > largest(before) * (1.0 + 1e-9)
        before = found
    return losses


def test_more_devices_are_not_worse() -> None:
    """What fewer devices carry is valid on more; the work on each number depends on it alone."""
    assert sum(steps_down(linked(seed), 4_000) for seed in range(4)) == 0


@pytest.mark.long
def test_more_devices_are_not_worse_in_many_pairs(share: Share) -> None:
    """There are seven pairs for each problem."""
    assert sum(steps_down(linked(seed), 4_000) for seed in share.of(range(300))) == 0


@pytest.mark.parametrize("seed", range(6))
def test_placements_obey_constraints(seed: int) -> None:
    problem = random_problem(seed)
    try:
        start = make_placer("greedy")(problem, seeded_rng())
    except PlacementError:
        return
    pool = Pool(overloaded(problem), seeded_rng())
    pool.add(start)
    pool.search(Budget(None, 20_000))
    for placement in pool.placements:
        assert problem.feasibility.violation(placement.devices) is None


def test_the_pool_finds_optima_of_small_problems() -> None:
    found = 0
    for seed in range(40):
        problem = random_problem(seed, max_placements=20_000)
        if not problem.feasibility.is_free:
            continue
        best, found = optimum(problem), found + 1
        own = searched(problem, 30_000)
        reached = problem.source_rate * min(1.0, 1.0 / max(largest(own), 1e-12))
        assert reached == pytest.approx(best, rel=1e-6), seed
    assert found > 3


def test_links_decide_how_many_devices_are_used() -> None:
    """With links this weak, one device carries more than two, of sixteen."""
    graph = chain_graph(*[1e5] * 40, payload_bytes=1e6)
    cluster = Cluster(Cluster.equal(16).devices, Network("nic", bandwidth_mbps=1.0))
    placement = searched(Problem(graph, cluster, source_rate=1e4), 10_000)
    assert len(placement.pes) == 1


def test_the_order_begins_with_needed_devices_and_then_the_fastest() -> None:
    cluster = Cluster([Device("slow", 1000.0), Device("fast", 4000.0), Device("mid", 2500.0)])
    graph = chain_graph(1.0, 1.0, 1.0)
    assert device_order(Problem(graph, cluster)).tolist() == [1, 2, 0]
    pinned = Problem(graph, cluster, constraints=Constraints(pins={graph.names[0]: "slow"}))
    assert device_order(pinned).tolist() == [0, 1, 2]


def test_devices_of_a_group_with_an_uplink_are_next_to_each_other() -> None:
    racks = [Device(f"d{d}", 1000.0 + d, group=f"r{d % 2}") for d in range(6)]
    graph, uplink = chain_graph(1.0, 1.0), Uplink("r0", up_mbps=100.0)
    for uplinks, expected in (((), [5, 4, 3, 2, 1, 0]), ((uplink,), [5, 3, 1, 4, 2, 0])):
        problem = Problem(graph, Cluster(racks, Network(uplinks=uplinks)))
        assert device_order(problem).tolist() == expected
