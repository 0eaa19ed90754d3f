"""Tests of the fourth feature of pairs by its definition, and of the moves that a state allows."""

import numpy as np
import pytest

import streamplace as sp
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.giph.features import GiphProblem, encode
from streamplace.papers.giph.questions import WalkState, sight_of
from streamplace.papers.giph.sizes import GiphSizes
from streamplace.problem.constraints import Constraints
from streamplace.scoring.registry import evaluator
from streamplace.scoring.score import ThroughputScore
from streamplace.util.arrays import Ints
from streamplace.workflows.simulate import score_of
from tests.support.giph import costs_between, giph_problem, random_start
from tests.support.graphs import preset_graph


@pytest.mark.parametrize("number", range(4))
def test_a_start_potential_is_the_last_arrival_less_the_present_start(number: int) -> None:
    problem = giph_problem(number)
    one, devices = encode(problem, GiphSizes()), random_start(problem, number)
    state, scored = WalkState(one, devices), makespan_evaluator(problem)
    table = scored.score(devices).timetable
    found = sight_of(state, scored).potential
    pairs = one.pairs
    for pair, (v, d) in enumerate(zip(pairs.operator, pairs.device, strict=True)):
        arrivals = [
            table.end[pairs.source[e]]
            + costs_between(problem, pairs.data[e], int(devices[pairs.source[e]]), int(d))[2]
            for e in np.flatnonzero(pairs.target == v)
        ]
        moves = d != devices[v] and len(arrivals) > 0
        expected = max(arrivals) - table.start[v] if moves else 0.0
        assert found[pair] == pytest.approx(expected, abs=1e-9 * table.end.max())


def constrained() -> tuple[sp.Problem, Ints]:
    """Return a problem of throughput with constraints, and a feasible placement, (V,)."""
    graph = preset_graph("dream", 12, 3)
    names = graph.names
    rules = Constraints(
        pins={names[0]: "d2"},
        colocate=[names[3:5]],
        exlocate=[[names[6], names[7]]],
        allowed={names[8]: ["d0", "d1"]},
    )
    problem = sp.Problem(graph, sp.Cluster.parse("2x2500,2x1500"), source_rate=1e4)
    problem = problem.with_constraints(rules)
    return problem, random_start(problem, 3)


def moved(one: GiphProblem, devices: Ints, pair: int) -> Ints:
    """Return the placement, (V,), after the move that a pair stands for."""
    row = devices.copy()
    unit = one.rules.unit_of[one.pairs.operator[pair]]
    row[one.rules.unit_of == unit] = one.pairs.device[pair]
    return row


def test_a_headroom_is_the_change_of_the_largest_utilisation() -> None:
    problem, devices = constrained()
    one = encode(problem, GiphSizes())
    state = WalkState(one, devices)

    def largest(row: Ints) -> float:
        score = score_of(sp.Placement(problem, row))
        assert isinstance(score, ThroughputScore)
        return score.bottleneck.utilisation

    found, offered = sight_of(state, evaluator(problem)).potential, state.offered()
    assert offered.any()
    for pair in np.flatnonzero(offered).tolist():
        change = largest(moved(one, devices, pair)) - largest(devices)
        assert found[pair] == pytest.approx(change, abs=1e-9)
    assert (found[~offered] == 0.0).all()
    assert found.min() < 0.0 < found.max()


def test_a_state_allows_the_moves_that_no_constraint_forbids() -> None:
    problem, devices = constrained()
    one = encode(problem, GiphSizes(merges_idle=False))
    state = WalkState(one, devices)
    pairs = one.pairs

    def check(last: int) -> int:
        may = state.movable()
        for pair in range(len(may)):
            v, row = int(pairs.operator[pair]), moved(one, state.devices, pair)
            changes = bool((row != state.devices).any()) and one.rules.unit_of[v] != last
            assert may[pair] == (changes and problem.feasibility.violation(row) is None)
        return int(np.flatnonzero(may)[-1])

    for _ in range(5):
        pair = check(state.last)
        state.move(int(pairs.operator[pair]), int(pairs.device[pair]))
    assert len({int(d) for d in state.devices[3:5]}) == 1
