"""Tests for properties of every placer under the makespan objective."""

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import InfeasibleError, PlacementError, UnsuitableError, UsageError
from streamplace.makespan.compiled_pass import compiled_pass, in_sequence
from streamplace.makespan.evaluator import MakespanEvaluator, makespan_evaluator
from streamplace.makespan.placers.lists import Cpop, EarliestTaskFirst, Heft, Peft
from streamplace.placers.base import BasePlacer
from streamplace.placers.registry import make_placer, names_for
from streamplace.placers.running import run_placer
from streamplace.sim.schedule.lists import ListSchedule
from streamplace.sim.schedule.passes import timetable
from streamplace.workflows.place import place_problem
from streamplace.workflows.value_result import MakespanResult, own_schedule_s
from tests.support.graphs import chain_graph
from tests.support.list_schedules import check
from tests.support.makespan_problems import (
    constrained_makespan_problem,
    feasible_rows,
    makespan_of,
    makespan_problem,
)
from tests.support.placers import QUICK_MAKESPAN_NAMES, seeded_rng

LIST_SCHEDULERS = (
    "heft", "heft:contention", "peft", "cpop", "m-etf", "critical-path", "random-eft",
)  # fmt: skip
EVERY = pytest.mark.parametrize("name", QUICK_MAKESPAN_NAMES)
SEEDS = pytest.mark.parametrize(
    "seeds", [range(4), pytest.param(range(4, 25), marks=pytest.mark.long)]
)
CONSTRAINED = pytest.mark.parametrize(
    "seeds", [range(10), pytest.param(range(10, 80), marks=pytest.mark.long)]
)
MOST = 20_000  # placements for brute force


@SEEDS
@EVERY
def test_no_makespan_is_below_the_bound_and_seeds_repeat(name: str, seeds: range) -> None:
    for seed in seeds:
        problem = makespan_problem(seed)
        try:
            placements = [make_placer(name)(problem, seeded_rng()) for _ in range(2)]
        except PlacementError:
            assert name == "single"
            continue
        bound = makespan_evaluator(problem).bound_s
        assert bound is not None
        assert bound <= makespan_of(placements[0]) * (1 + 1e-9)
        assert placements[0].devices.tolist() == placements[1].devices.tolist()


@CONSTRAINED
@pytest.mark.parametrize("name", [name for name in QUICK_MAKESPAN_NAMES if name != "single"])
def test_constraints_are_satisfied_wherever_possible(name: str, seeds: range) -> None:
    placed = 0
    for seed in seeds:
        problem = constrained_makespan_problem(seed)
        if problem is None:
            continue
        try:
            placement = make_placer(name)(problem, seeded_rng())
        except InfeasibleError:
            rows = feasible_rows(problem, MOST)
            assert rows is None or not len(rows)
        else:
            assert problem.feasibility.violation(placement.devices) is None
            placed += 1
    assert placed > len(seeds) / 2


@pytest.mark.parametrize("name", QUICK_MAKESPAN_NAMES)
def test_a_plain_graph_is_placed(name: str) -> None:
    problem = sp.Problem(chain_graph(1e6, 2e6, 3e6), "3x1000", objective=sp.Makespan())
    assert makespan_of(make_placer(name)(problem, seeded_rng())) >= 0.006


@pytest.mark.parametrize("name", sorted({*names_for("makespan")} - {*names_for("throughput")}))
def test_placers_for_makespans_refuse_throughput(name: str) -> None:
    problem = sp.Problem(chain_graph(1.0, 1.0), source_rate=1.0)
    with pytest.raises(UnsuitableError) as caught:
        run_placer(problem, name, seeded_rng())
    start = f"placer {name!r} supports only makespan, not throughput; add --objective makespan"
    assert str(caught.value).startswith(start)


@pytest.mark.parametrize("name", sorted({*names_for("throughput")} - {*names_for("makespan")}))
def test_placers_for_throughput_refuse_makespans(name: str) -> None:
    problem = sp.Problem(chain_graph(1.0, 1.0), objective=sp.Makespan())
    with pytest.raises(UnsuitableError) as caught:
        run_placer(problem, name, seeded_rng())
    start = f"placer {name!r} supports only throughput, not makespan; for makespans use auto"
    assert str(caught.value).startswith(start)


@pytest.mark.parametrize("name", ["auto", "search"])
def test_a_preference_is_refused(name: str) -> None:
    problem = sp.Problem(chain_graph(1.0, 1.0), objective=sp.Makespan())
    with pytest.raises(UnsuitableError, match="'fewest' supports only throughput, not makespan"):
        make_placer(f"{name}:prefer=fewest")(problem, seeded_rng())


@pytest.mark.parametrize("name", LIST_SCHEDULERS)
def test_list_schedulers_report_their_own_schedule(name: str) -> None:
    """In a fan of two branches, all of them use both devices without any wait."""
    graph = sp.StreamGraph(
        [sp.Operator(n, 1e6 * t, 0.0) for n, t in zip("abcd", (1, 3, 2, 1), strict=True)],
        [sp.Stream(*ends) for ends in ("ab", "ac", "bd", "cd")],
        firing="all",
    )
    cluster = sp.Cluster([sp.Device(n, 1.0) for n in "xy"], sp.Network(kind="free"))
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    listed = place_problem(problem, name)
    assert isinstance(listed, MakespanResult)
    assert listed.own_schedule_s == pytest.approx(5.0)
    assert makespan_of(listed.placement) == pytest.approx(5.0)


@pytest.mark.parametrize("name", LIST_SCHEDULERS)
def test_schedules_in_the_own_order_are_possible(name: str) -> None:
    """They keep to cores, rests and inputs, and are not below the bound, as plans may be."""
    for seed in range(80):
        problem = makespan_problem(seed)
        placer, scored = make_placer(name), MakespanEvaluator(problem)
        assert isinstance(placer, BasePlacer)
        found = placer.run(problem, seeded_rng())
        if found.own_order is None:
            continue
        devices, order = found.placement.devices, in_sequence(scored.tasks, found.own_order)
        table = timetable(scored.tasks, order, devices)
        check(scored.compiled, ListSchedule(devices, table.start, table.end, True))
        for d in np.unique(devices):
            here = order.sequence[devices[order.sequence] == d]
            assert (np.diff(table.start[here]) >= 0.0).all()
        own_s = own_schedule_s(found)
        assert own_s == table.end.max()
        assert own_s is not None
        assert scored.bound_s is not None
        assert own_s >= scored.bound_s * (1 - 1e-9)


@pytest.mark.parametrize("name", ["heft", "heft:contention", "peft", "cpop", "m-etf"])
def test_own_schedules_are_as_planned_where_messages_do_not_wait(name: str) -> None:
    recipe, placer, differ = sp.Recipe("layered", 60, seed=11), make_placer(name), 0
    network = sp.Network("free", bandwidth_mbps=1000)
    cluster = sp.Cluster([sp.Device(f"d{k}", 1000.0 * k) for k in range(1, 6)], network)
    assert isinstance(placer, Heft | Peft | Cpop | EarliestTaskFirst)
    for number in range(5):
        problem = sp.Problem(recipe.graph(number), cluster, objective=sp.Makespan(batch=1000))
        found = placer.run(problem, seeded_rng())
        planned_s = placer.scheduled(compiled_pass(problem)).length
        assert own_schedule_s(found) == pytest.approx(planned_s, rel=1e-9)
        differ += abs(makespan_of(found.placement) / planned_s - 1.0) > 0.01
    assert differ


def test_an_operator_without_length_does_not_wait_in_its_own_order() -> None:
    """HEFT starts b and c at 1 s; b takes no time, so that d, on y, need not wait for c."""
    graph = sp.StreamGraph(
        [sp.Operator(n, 1e6 * t, 0.0) for n, t in zip("acbd", (1, 9, 0, 5), strict=True)],
        [sp.Stream(*ends) for ends in ("ac", "ab", "bd")],
        constraints=sp.Constraints(pins={"a": "x", "b": "x", "c": "x", "d": "y"}),
        firing="all",
    )
    cluster = sp.Cluster([sp.Device(n, 1.0) for n in "xy"], sp.Network("free", latency_s=0.0))
    found = sp.place(graph, cluster, objective=sp.Makespan(), placer="heft")
    assert found.score.makespan_s == pytest.approx(15.0)
    assert found.own_schedule_s == pytest.approx(10.0)


def test_a_repaired_placement_has_no_schedule_of_its_own() -> None:
    """The first operators fill the memory that only the last one could have used."""
    graph = sp.StreamGraph(
        [sp.Operator(n, 1e6, 0.0, memory_bytes=m) for n, m in (("a", 2), ("b", 2), ("c", 3))]
    )
    cluster = sp.Cluster(
        [sp.Device("big", 2.0, memory_bytes=3), sp.Device("small", 1.0, memory_bytes=4)],
        sp.Network(kind="free"),
    )
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    placer = make_placer("heft")
    assert isinstance(placer, BasePlacer)
    listed = placer.run(problem, seeded_rng())
    assert listed.own_order is None
    assert own_schedule_s(listed) is None
    assert listed.placement.assignment == {"a": "small", "b": "small", "c": "big"}


def test_noise_is_searched() -> None:
    problem = makespan_problem(3).with_objective(sp.Makespan(noise=0.2, repeats=3))
    for name in ("search:evaluations=300", "climb", "auto:evaluations=300", "random:evaluations=5"):
        placement = make_placer(name)(problem, seeded_rng())
        assert problem.feasibility.violation(placement.devices) is None


def test_the_best_of_many_random_placements_is_taken() -> None:
    problem = makespan_problem(40, large=True)
    one, many = (
        makespan_of(make_placer(f"random:evaluations={n}")(problem, seeded_rng())) for n in (1, 200)
    )
    assert many < one
    with pytest.raises(UsageError, match="evaluations must be at least 1"):
        make_placer("random:evaluations=0")


def test_single_takes_the_device_of_shortest_makespan() -> None:
    """The slow device has the shorter time for the operator that was measured."""
    graph = sp.StreamGraph([sp.Operator("a", 8e6, 0.0, seconds_on={"gpu": 1.0})])
    cluster = sp.Cluster([sp.Device("fast", 4.0), sp.Device("slow", 1.0, kind="gpu")])
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    assert make_placer("single")(problem, seeded_rng()).assignment == {"a": "slow"}


def test_a_longer_climb_and_a_search_are_at_least_as_good() -> None:
    for seed in (40, 41, 42):
        problem = makespan_problem(seed, large=True)
        climbs = [
            makespan_of(make_placer(f"climb:evaluations={n}")(problem, seeded_rng()))
            for n in (10, 1000)
        ]
        search = makespan_of(make_placer("search:evaluations=20000")(problem, seeded_rng()))
        assert search <= climbs[1] <= climbs[0], seed


def test_any_order_is_at_least_as_good_as_its_orders() -> None:
    for seed in range(6):
        problem = makespan_problem(seed)
        optima = [
            makespan_of(
                make_placer("exact")(
                    problem.with_objective(sp.Makespan(order=order)), np.random.default_rng(0)
                )
            )
            for order in ("any", "fifo", "b-level", "topological")
        ]
        assert optima[0] == pytest.approx(min(optima[1:]), rel=1e-9), seed
