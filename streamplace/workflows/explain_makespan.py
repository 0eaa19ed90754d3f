"""Explanation of a makespan: its critical path, its parts, and moves that shorten it."""

import numpy as np

from sim.schedule.division import divide
from streamplace.problem.placement import Placement
from streamplace.problem.violations import violations
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
from streamplace.scoring.makespan_score import MakespanScore
from streamplace.scoring.registry import makespan_evaluator
from streamplace.util.arrays import Ints
from streamplace.workflows.makespan_explanation import MakespanDivision, MakespanExplanation
from streamplace.workflows.shortening_moves import most_units, shortening_moves


def explain_makespan(placement: Placement) -> MakespanExplanation:
    """Explain the makespan of a placement.

    Raises
    ------
    ProblemError
        If the objective is throughput.
    GraphError
        If loads overflow.
    """
    scored: MakespanEvaluator = makespan_evaluator(placement.problem)
    score = scored.score(placement.devices)
    units, most = _units_to_try(placement, score), most_units(scored)
    return MakespanExplanation(
        placement,
        score,
        _division(score),
        shortening_moves(placement, scored, score.makespan_s, units[:most]),
        len(units) <= most,
        tuple(violations(placement)),
    )


def _division(score: MakespanScore) -> MakespanDivision:
    found, names = divide(score.timetable), score.problem.graph.names
    return MakespanDivision(tuple(names[v] for v in found.chain), *found[1:])


def _units_to_try(placement: Placement, score: MakespanScore) -> Ints:
    """Return all units: those on the critical path first, by its order, then by their work."""
    rules, table = placement.problem.feasibility, score.timetable
    path = [step.number for step in table.critical_path if step.kind == "operator"]
    first = list(dict.fromkeys(rules.unit_of[path].tolist()))
    seconds = np.bincount(rules.unit_of, table.run.duration, rules.unit_count)
    others = np.argsort(-seconds, kind="stable")
    units: Ints = np.array(list(dict.fromkeys([*first, *others.tolist()])), dtype=np.int32)
    return units
