"""Explanations of makespans."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.plain_schedule import plain_schedule
from benchmarks.reference.schedule_placements import placement_of
from benchmarks.reference.schedule_problems import ScheduleForm, schedule_problem
from streamplace.errors import ProblemError, UsageError
from streamplace.problem.constraints import Constraints
from streamplace.problem.makespan import CHOICES
from streamplace.workflows import single_moves
from streamplace.workflows.explain import explain, explain_pass
from streamplace.workflows.explanation import ScoreExplanation
from tests.support.graphs import loaded_chain
from tests.support.schedule_cases import schedule_form


def placed(operators: str, streams: str = "", **options: Any) -> sp.Placement:
    """Return the placement of a problem written as text; see `schedule_form`."""
    return placement_of(**schedule_form(operators, streams, **options))


def plain_makespan(form: ScheduleForm) -> float:
    """Return the makespan in seconds by the plain engine."""
    return float(plain_schedule(**form).makespan)


def plain_moves(form: ScheduleForm) -> dict[tuple[str, str], float]:
    """Return the makespan after each move to a device that can run the operator."""
    problem, found = placement_of(**form).problem, {}
    rows = zip(problem.graph.names, problem.feasibility.allowed.tolist(), strict=True)
    for name, may_run in rows:
        for device, allowed in zip(problem.cluster.names, may_run, strict=True):
            if allowed and device != form["placement"][name]:
                placement = {**form["placement"], name: device}
                found[name, device] = plain_makespan({**form, "placement": placement})
    return found


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 60), marks=pytest.mark.long)])
def test_moves_are_those_of_the_plain_engine(seeds: range) -> None:
    """All feasible single moves that shorten the makespan are found, the best first."""
    compared = 0
    for seed in seeds:
        form = schedule_problem(seed)
        found, now = explain_pass(placement_of(**form)), plain_makespan(form)
        assert found.score.makespan_s == pytest.approx(now)
        after = plain_moves(form)
        shorter = {move: seconds for move, seconds in after.items() if seconds < now * (1 - 1e-9)}
        moves = {(move.operators[0], move.target): move.value for move in found.moves}
        assert moves == pytest.approx(shorter), seed
        assert [move.value for move in found.moves] == sorted(moves.values())
        assert found.every_move_tried
        compared += len(moves)
    assert compared > len(seeds) * 5 / 6


def test_steps_and_parts() -> None:
    """The message from a to c waits for that to b, and c for the end of x on its device."""
    found = explain_pass(
        placed("x:6@1 a:1 b:1@2 c:3@1", "a>b:2 a>c:2", devices=3, network={"kind": "egress"})
    )
    assert found.score.makespan_s == 9.0
    assert found.to_dict()["steps"] == [
        {"operator": "x", "device": "d1", "start_s": 0.0, "end_s": 6.0, "waited_for": None},
        {"operator": "c", "device": "d1", "start_s": 6.0, "end_s": 9.0, "waited_for": "device"},
    ]
    division = found.to_dict()["division"]
    assert division == {
        "chain": ["a", "c"],
        "work_s": 4.0,
        "messages_s": 2.0,
        "overheads_s": 0.0,
        "waiting_for_devices_s": 1.0,
        "waiting_for_channels_s": 2.0,
        "waiting_for_levels_s": 0.0,
    }
    assert found.moves[0].to_dict() == {
        "operators": ["c"],
        "from": "d1",
        "to": "d0",
        "makespan_s": 6.0,
        "gain_s": 3.0,
    }


def test_messages_are_steps() -> None:
    found = explain_pass(placed("a:1 b:1@1", "a>b:2", network={"latency_s": 0.5}))
    message = {"message": ["a", "b"], "link": ["d0", "d1"], "start_s": 1.0, "end_s": 3.5}
    assert found.to_dict()["steps"][1] == message | {"waited_for": None}


def test_colocated_operators_move_together_and_violations_are_listed() -> None:
    placement = placed("a:1 b:1 c:4", "a>b")
    rules = Constraints(colocate=[["a", "b"]], pins={"c": "d1"})
    problem = placement.problem.with_constraints(rules)
    found = explain_pass(sp.Placement(problem, placement.devices))
    assert [violation.to_dict()["rule"] for violation in found.violations] == [
        "constraints.pins['c']"
    ]
    moves = [(move.operators, move.target) for move in found.moves]
    assert moves == [(("c",), "d1")]  # the others leave c where it must not be
    repaired = explain_pass(sp.Placement(problem, [1, 1, 1]))
    assert [move.operators for move in repaired.moves] == [("a", "b")]


def test_large_problems_try_the_critical_path_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for one unit only, it is the first operator of the critical path."""
    monkeypatch.setattr(single_moves, "MAX_PARTS", 1)
    found = explain_pass(placed("x:1 y:1 z:1 a:9 b:1@1", "a>b"))
    assert not found.every_move_tried
    assert {move.operators for move in found.moves} <= {("x",)}
    assert "too large to try all moves" in str(found._view().body)


def test_noise_explains_the_first_pass() -> None:
    placement = placed("a:1 b:2@1", "a>b:1")
    aim = replace(placement.problem.makespan_objective, noise=0.3, repeats=4)
    noisy = sp.Placement(placement.problem.with_objective(aim), placement.devices)
    found = explain(noisy)
    assert isinstance(found, ScoreExplanation)
    parts = {**found.score.division.to_dict()}
    del parts["chain"]
    assert sum(parts.values()) == pytest.approx(found.score.timetable.makespan)
    document = found.to_dict()
    assert (document["bound_s"], document["gap"]) == (None, None)
    assert document["standard_deviation_s"] > 0
    assert "first pass" in str(found._view().body)


def test_a_pass_without_work() -> None:
    found = explain_pass(placed("a:0 b:0@1", "a>b"))
    assert (found.score.makespan_s, found.moves) == (0.0, ())
    assert found.score.division.parts == []
    assert "no single move shortens the makespan" in str(found._view().body)


def test_order_any_counts_the_best_order_of_each_move() -> None:
    placement = placed("a:1 b:3 c:2 d:4@1", "a>c:1 b>d:1 a>d:2")
    aim = replace(placement.problem.makespan_objective, order="any")
    problem = placement.problem.with_objective(aim)
    for move in explain_pass(sp.Placement(problem, placement.devices)).moves:
        devices = placement.devices.copy()
        v = problem.graph.index[move.operators[0]]
        devices[v] = problem.cluster.index[move.target]
        assert move.value == min(
            sp.simulate(
                sp.Placement(problem, np.array(devices)), objective=replace(aim, order=order)
            ).makespan_s
            for order in CHOICES
        )


def test_other_objectives_are_refused() -> None:
    with pytest.raises(ProblemError, match="this needs makespan, but the objective is throughput"):
        explain_pass(sp.Placement(loaded_chain(0.5, 0.5), [0, 1]))
    with pytest.raises(UsageError, match="constraint costs support only throughput, not objective"):
        explain(placed("a:1"), constraint_costs=True)
