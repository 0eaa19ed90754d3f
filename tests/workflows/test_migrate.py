"""Moves of `migrate` without a limit: each set of them gains something that was asked for."""

from collections.abc import Iterator
from itertools import chain, combinations

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.random_problems import feasible_placements, random_problem
from streamplace.makespan.total_cost import TotalCost
from streamplace.problem.objective import Objective, Throughput
from streamplace.workflows.migrate import Migration, migrate
from streamplace.workflows.place import place_problem
from streamplace.workflows.simulate import score_of
from tests.support.share import Share

SAME = 1e-6  # relative difference that counts as none
EVALUATIONS = 2000
AUTO = f"auto:evaluations={EVALUATIONS}"
PLACERS = AUTO, f"search:evaluations={EVALUATIONS}", "climb"
AIMS: tuple[Objective, ...] = (
    Throughput.of(2000.0),
    Throughput.of(2000.0, "path-average"),
    Throughput.of((500.0, 3000.0), target_utilisation=0.8),
    sp.Makespan(),
    sp.Makespan(order="any", batch=3),
    TotalCost(),
)
QUICK = range(10)


def problem_of(seed: int, aim: Objective) -> sp.Problem:
    return random_problem(seed, max_placements=1500).with_objective(aim)


def placer_of(seed: int, aim: Objective) -> str:
    name = PLACERS[seed % len(PLACERS)]
    return AUTO if isinstance(aim, TotalCost) else name


def random_current(problem: sp.Problem, seed: int) -> sp.Placement:
    rows = np.concatenate(list(feasible_placements(problem)))
    return sp.Placement(problem, rows[int(np.random.default_rng(seed).integers(len(rows)))])


def moved(before: sp.Placement, found: Migration) -> list[int]:
    return np.flatnonzero(before.devices != found.result.placement.devices).tolist()


def partly_undone(before: sp.Placement, found: Migration) -> Iterator[sp.Placement]:
    """Yield the feasible placements on which some or all of up to eight moves are undone."""
    problem, after = found.result.placement.problem, found.result.placement.devices
    moves = moved(before, found)
    assert len(moves) <= 8
    for back in chain(*(combinations(moves, count) for count in range(1, len(moves) + 1))):
        row = after.copy()
        row[list(back)] = before.devices[list(back)]
        if problem.feasibility.violation(row) is None:
            yield sp.Placement(problem, row)


def check_that_each_set_gains(seed: int, aim: Objective) -> int:
    """Check the moves from a random placement; return their number."""
    problem = problem_of(seed, aim)
    before = random_current(problem, seed)
    found = migrate(problem, before, placer=placer_of(seed, aim), seed=seed)
    after = found.result.score.value
    if len(moved(before, found)) > 8:
        assert score_of(before).value != after
        return 0
    for other in partly_undone(before, found):
        value = score_of(other).value
        worse = value > after * (1 + SAME / 2) if aim.is_pass else value < after * (1 - SAME / 2)
        assert worse, (seed, aim)
    return len(moved(before, found))


def check_that_the_best_stays(seed: int, aim: Objective) -> None:
    """Check that nothing moves from what the same placer found."""
    problem, placer = problem_of(seed, aim), placer_of(seed, aim)
    best = place_problem(problem, placer, seed)
    for name in {placer, AUTO}:
        found = migrate(problem, best, placer=name, seed=seed + 1)
        gain = abs(found.result.score.value / best.score.value - 1)
        assert not found.forced
        assert not found.chosen or gain > SAME / 2, (seed, aim, name)


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_each_set_of_moves_gains(aim: Objective) -> None:
    assert sum(check_that_each_set_gains(seed, aim) for seed in QUICK) > 0


@pytest.mark.long
@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_each_set_of_moves_gains_on_many_problems(aim: Objective, share: Share) -> None:
    for seed in share.of(range(100, 400)):
        check_that_each_set_gains(seed, aim)


@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_nothing_moves_from_the_best_answer(aim: Objective) -> None:
    for seed in QUICK:
        check_that_the_best_stays(seed, aim)


@pytest.mark.long
@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_nothing_moves_from_the_best_answers_of_many_problems(aim: Objective, share: Share) -> None:
    for seed in share.of(range(100, 400)):
        check_that_the_best_stays(seed, aim)


def spread_chain() -> tuple[sp.StreamGraph, dict[str, str]]:
    """Return a chain with state that one of three devices carries, and a spread placement."""
    operators = [sp.Operator(f"o{i}", 1e6, 100.0, memory_bytes=1e9) for i in range(6)]
    graph = sp.StreamGraph(operators, [(f"o{i}", f"o{i + 1}") for i in range(5)], source_rate=100.0)
    return graph, {f"o{i}": f"d{i % 3}" for i in range(6)}


def test_nothing_moves_where_everything_is_carried() -> None:
    graph, spread = spread_chain()
    found = migrate(graph, spread, cluster="3x2500")
    assert (found.forced, found.chosen) == ((), ())
    assert found.result.score.quality == 1.0


def test_a_preference_that_is_asked_for_moves_operators() -> None:
    graph, spread = spread_chain()
    problem = sp.Problem(graph, "3x2500")
    fewest = migrate(problem, spread, placer="auto:prefer=fewest")
    assert len(set(fewest.result.placement.assignment.values())) == 1
    assert len(fewest.chosen) == 4  # two operators stay
    again = migrate(problem, fewest.result, placer="auto:prefer=fewest")
    assert not again.chosen
    together = dict.fromkeys(spread, "d1")
    balanced = migrate(problem, together, placer="auto:prefer=balance")
    assert len(set(balanced.result.placement.assignment.values())) == 3
    assert not migrate(problem, balanced.result, placer="auto:prefer=balance").chosen


def test_operators_of_a_lost_device_move_and_no_others() -> None:
    graph, spread = spread_chain()
    before = sp.Placement.of(sp.Problem(graph, "3x2500"), spread)
    found = migrate(graph, before, inherit=True, without=["d1"])
    assert [move.operator for move in found.forced] == ["o1", "o4"]
    assert not found.chosen


def test_a_constraint_that_is_added_moves_one_of_two() -> None:
    graph, spread = spread_chain()
    rules = sp.Constraints(colocate=[["o0", "o1"]])
    found = migrate(graph, spread, cluster="3x2500", constraints=rules)
    assert not found.forced
    assert len(found.chosen) == found.fewest == 1


def test_a_priced_plan_keeps_its_devices() -> None:
    """The cheapest devices that carry the rate stay in use, although one dear device would do."""
    graph, _ = spread_chain()
    devices = [sp.Device(f"c{i}", 250.0, price=1.0) for i in range(3)]
    cluster = sp.Cluster([*devices, sp.Device("dear", 2500.0, price=10.0)])
    planned = sp.plan(graph, cluster=cluster, source_rate=100.0).placement
    assert planned is not None
    used = {*planned.assignment.values()}
    assert used == {"c0", "c1", "c2"}
    found = migrate(graph, planned.assignment, cluster=cluster)
    assert not found.chosen


@pytest.mark.parametrize("rate", [1e3, 1e8])
def test_exchanges_of_equal_devices_are_undone(rate: float) -> None:
    """Equal devices exchange nothing, wherever the search arrives."""
    graph, _ = spread_chain()
    problem = sp.Problem(graph, "3x2500", source_rate=rate)
    best = place_problem(problem, "exact")
    swap = {"d0": "d1", "d1": "d2", "d2": "d0"}
    other = {name: swap[device] for name, device in best.placement.assignment.items()}
    assert not migrate(problem, other, placer=AUTO).chosen
    proven = migrate(problem, other, placer="exact")
    assert (proven.chosen, proven.result.status) == ((), "OPTIMAL")
