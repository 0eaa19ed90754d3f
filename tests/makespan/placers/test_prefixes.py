"""Searches for short passes on the first devices of a cluster."""

from dataclasses import replace

import numpy as np
import pytest

import streamplace as sp
from benchmarks.makespans.drawn import sized_problem, with_first
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.makespan.placers.prefixes import prefixes
from streamplace.makespan.placers.search import steps_of_pass
from streamplace.placers.budget import Budget
from streamplace.placers.ladder import ladder
from streamplace.placers.registry import make_placer
from streamplace.problem.losses import restricted
from streamplace.problem.makespan import DispatchOrder
from tests.support.makespan_problems import constrained_makespan_problem, makespan_of
from tests.support.placers import seeded_rng
from tests.support.share import Share

ROUNDED = 1 + 1e-9
ORDERS: tuple[DispatchOrder, ...] = ("fifo", "b-level", "topological", "any")
MEMBERS = (
    "heft",
    "heft:contention=true",
    "peft:links",
    "cpop",
    "enumerative",
    "single",
)
"""Members of `auto` that draw no random numbers."""


def placed(problem: sp.Problem, evaluations: int, seed: int = 0) -> float:
    rng = np.random.default_rng(seed)
    placement = make_placer(f"auto:evaluations={evaluations}")(problem, rng)
    assert problem.feasibility.violation(placement.devices) is None
    return makespan_of(placement)


def check_more_devices(numbers: list[int], evaluations: int) -> int:
    """Return the number of pairs of a cluster and its first devices that were compared."""
    pairs = 0
    for number in numbers:
        _, problem = sized_problem(number, seed=5, small=True)
        more = len(problem.cluster.devices)
        fewer = ladder(more)[1:-1][::-1]
        if not fewer:
            continue
        fewest = fewer[number % len(fewer)]
        on_fewer = placed(with_first(problem, fewest), evaluations)
        assert placed(problem, evaluations) <= on_fewer * ROUNDED, (number, fewest)
        pairs += 1
    return pairs


def test_more_devices_are_not_worse() -> None:
    assert check_more_devices(list(range(8)), 100) >= 4


@pytest.mark.long
def test_more_devices_are_not_worse_on_many_problems(share: Share) -> None:
    assert check_more_devices(share.of(range(8, 2600)), 60) >= share.least(2000)


def test_more_evaluations_are_not_worse() -> None:
    for number in range(4):
        _, problem = sized_problem(number, seed=6, small=True)
        made = [placed(problem, evaluations) for evaluations in (1, 100, 400, 1200)]
        assert made == sorted(made, reverse=True)


def check_members(numbers: list[int]) -> None:
    for number in numbers:
        _, problem = sized_problem(number, seed=7, small=True)
        own = placed(problem, 100)
        for member in MEMBERS:
            rival = makespan_of(make_placer(member)(problem, seeded_rng()))
            assert own <= rival * ROUNDED, (number, member)
        seed = int(np.random.default_rng(0).integers(2**63))
        scored = MakespanEvaluator(problem)
        for devices in prefixes(scored):
            alone = MakespanEvaluator(restricted(problem, devices.tolist()))
            rng = np.random.default_rng([seed, len(devices)])
            steps = steps_of_pass(alone, rng, None, Budget(evaluations=100))
            rows = devices[np.concatenate([step.rows for step in steps])]
            assert own <= scored.makespans(rows).min() * ROUNDED, (number, len(devices))


def test_no_member_is_better_with_its_share_of_the_evaluations() -> None:
    check_members([1, 2, 4, 5])  # without pins to a single device, which prefixes without it lack


@pytest.mark.long
def test_no_member_is_better_on_many_problems(share: Share) -> None:
    check_members([n for n in share.of(range(6, 200)) if n % 3])


def test_pinned_devices_come_first_and_then_the_fastest() -> None:
    graph = sp.StreamGraph([sp.Operator(n, 1e6, 0.0) for n in "ab"])
    cluster = sp.Cluster([sp.Device(f"d{d}", float(mips)) for d, mips in enumerate((1, 5, 3, 5))])
    rules = sp.Constraints(pins={"a": "d2"})
    free, pinned = (
        sp.Problem(graph, cluster, objective=sp.Makespan(), constraints=each)
        for each in (sp.Constraints(), rules)
    )
    first = [each.tolist() for each in prefixes(MakespanEvaluator(free))]
    assert first == [[0, 1, 2, 3], [1, 2, 3], [1, 3], [1]]
    first = [each.tolist() for each in prefixes(MakespanEvaluator(pinned))]
    assert first == [[0, 1, 2, 3], [1, 2, 3], [1, 2], [2]]


def test_the_speed_of_a_device_is_that_for_the_operators() -> None:
    """The GPU has the fewest MIPS, but a measured time for all that takes long."""
    operators = [sp.Operator("a", 4e9, 0.0, seconds_on={"gpu": 0.1}), sp.Operator("b", 1e6, 0.0)]
    cluster = sp.Cluster([sp.Device("cpu", 3000.0), sp.Device("gpu", 2000.0, kind="gpu")])
    problem = sp.Problem(sp.StreamGraph(operators), cluster, objective=sp.Makespan())
    assert prefixes(MakespanEvaluator(problem))[1].tolist() == [1]


def test_devices_of_a_group_with_links_of_its_own_follow_one_another() -> None:
    groups = ("x", "y", "x", "y")
    devices = [sp.Device(f"d{d}", float(4 - d), group=group) for d, group in enumerate(groups)]
    link = sp.LinkOverride(source_group="x", target_group="y", bandwidth_mbps=1.0)
    graph = sp.StreamGraph([sp.Operator(n, 1e6, 0.0) for n in "ab"])
    for overrides, second in (((), [0, 1]), ((link,), [0, 2])):
        cluster = sp.Cluster(devices, sp.Network("pair", overrides=overrides))
        problem = sp.Problem(graph, cluster, objective=sp.Makespan())
        assert prefixes(MakespanEvaluator(problem))[2].tolist() == second


def test_placements_on_first_devices_have_the_same_makespan_on_all() -> None:
    """Also under orders by ranks, which are means over all devices."""
    rng = np.random.default_rng(0)
    for number in range(12):
        _, problem = sized_problem(number, seed=8, small=True)
        order = ORDERS[number % len(ORDERS)]
        aim = replace(problem.makespan_objective, order=order, barrier=number % 5 == 0)
        whole = MakespanEvaluator(problem.with_objective(aim))
        for devices in prefixes(whole)[1:-1]:
            own = MakespanEvaluator(restricted(whole.problem, devices.tolist()))
            own.compiled.follow(whole.compiled, own.order_names)
            rows = rng.integers(len(devices), size=(3, len(problem.graph.names)))
            same = own.makespans(rows.astype(np.int32))
            assert same.tolist() == whole.makespans(devices[rows].astype(np.int32)).tolist()


def test_constraints_noise_and_unequal_links_are_respected() -> None:
    searched = 0
    for seed in range(12):
        problem = constrained_makespan_problem(seed)
        if problem is None:
            continue
        noisy = replace(problem.makespan_objective, noise=0.2, repeats=2)
        for each in (problem, problem.with_objective(noisy)):
            try:
                placed(each, 30)
            except sp.PlacementError:
                break
            searched += 1
    assert searched > 8


def test_an_infeasible_prefix_is_passed_over() -> None:
    """Two operators that need all the memory of a device, and one that runs on the slowest."""
    operators = [sp.Operator(n, 1e6, 0.0, memory_bytes=1) for n in "abc"]
    cluster = sp.Cluster([sp.Device(f"d{d}", float(9 - d), memory_bytes=1) for d in range(4)])
    rules = sp.Constraints(allowed={"c": ["d2", "d3"]})
    graph = sp.StreamGraph(operators, firing="all")
    problem = sp.Problem(graph, cluster, objective=sp.Makespan(), constraints=rules)
    assert placed(problem, 50) == pytest.approx(1 / 7)
