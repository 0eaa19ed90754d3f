"""Tests of relocations to the device on which an operator ends first."""

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.giph import earliest_device
from streamplace.papers.giph.pairs import encode
from streamplace.papers.giph.questions import WalkState, destinations, sight_of
from streamplace.papers.giph.search import random_task_eft
from streamplace.papers.giph.sizes import GiphSizes
from streamplace.scoring.registry import evaluator, makespan_evaluator
from tests.support.giph import costs_between, giph_problem, random_start
from tests.support.graphs import preset_graph


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("number", range(4))
def test_destinations_are_those_of_a_plain_rule(number: int, waits: bool) -> None:
    problem = giph_problem(number)
    one, devices = encode(problem, GiphSizes()), random_start(problem, number)
    state, scored = WalkState(one, devices), makespan_evaluator(problem)
    sight, table = sight_of(state, scored), scored.score(devices).timetable
    start, finish = np.array(table.start).tolist(), np.array(table.end).tolist()
    pairs = one.pairs

    def seconds(v: int, d: int) -> float:
        return float(pairs.weight[one.pair(v, d)])

    def arrival(v: int, d: int) -> float:
        inputs = np.flatnonzero(pairs.target == v)
        ends = [
            finish[pairs.source[e]]
            + costs_between(problem, pairs.data[e], int(devices[pairs.source[e]]), d)[2]
            for e in inputs
        ]
        return max(ends, default=0.0)

    may, answer = destinations(state, sight, waits)
    for v in range(one.size):
        on = pairs.device[pairs.first[v] : pairs.first[v + 1]].tolist()
        expected = earliest_device(
            v, on, start, finish, devices.tolist(), lambda d, v=v: arrival(v, d),  # type: ignore[misc]
            lambda d, v=v: seconds(v, d), waits,  # type: ignore[misc]
        )  # fmt: skip
        assert pairs.device[answer[v]] == expected
        assert may[v] == (len(on) > 1)


@pytest.mark.parametrize("kind", ["makespan", "throughput"])
def test_relocations_improve_on_their_start_and_stay_feasible(kind: str) -> None:
    if kind == "makespan":
        problem = giph_problem(2)
    else:
        problem = sp.Problem(
            preset_graph("dream", 20, 1), sp.Cluster.parse("5x2500"), source_rate=1e4
        )
    start = random_start(problem)
    best, lowest = random_task_eft(problem, start, 60, np.random.default_rng(0))
    scored = evaluator(problem)
    assert lowest[0] == scored.loss(start)[0]
    assert lowest[-1] < lowest[0]
    assert (np.diff(lowest) <= 0.0).all()
    assert scored.loss(best)[0] == pytest.approx(lowest[-1], rel=1e-12)
    assert problem.feasibility.violation(best) is None


def test_waiting_for_idle_devices_is_better_on_the_released_cases() -> None:
    ratios = []
    for number in range(12):
        problem = giph_problem(number)
        start, budget = random_start(problem), 2 * len(problem.graph.names)
        fair, published = (
            random_task_eft(problem, start, budget, np.random.default_rng(1), waits=waits)[1][-1]
            for waits in (True, False)
        )
        ratios.append(fair / published)
    assert np.mean(ratios) < 1.0


def test_no_evaluation_is_refused() -> None:
    problem = giph_problem()
    with pytest.raises(ValueError, match="at least 1"):
        random_task_eft(problem, random_start(problem), 0, np.random.default_rng(0))
