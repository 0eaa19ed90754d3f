"""Access to makespans for placers that serve only this objective."""

import numpy as np

from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.placers.base import MAKESPAN, refuse_other_objectives
from streamplace.placers.repair import feasible
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints


def pass_evaluator(problem: Problem, placer: str) -> MakespanEvaluator:
    """Return the evaluator of makespans.

    Parameters
    ----------
    placer
        Name of the placer, for the message.

    Raises
    ------
    ObjectiveError
        If the objective is not a makespan, or derives from it.
    """
    refuse_other_objectives(problem, placer, MAKESPAN)
    return MakespanEvaluator(problem)


def shortest(scored: MakespanEvaluator, rows: Ints) -> int:
    """Return the index of the placement with the shortest makespan, among (K, V) devices."""
    return int(scored.makespans(rows).argmin())


def feasible_draft(problem: Problem, draft: Ints) -> Placement:
    """Return a draft, (V,), with the fastest allowed device where it has none, and feasible."""
    devices = draft.copy()
    feasibility = problem.feasibility
    fastest = problem.cluster.fastest_first
    for v in np.flatnonzero(draft < 0):
        devices[v] = next(d for d in fastest if feasibility.allowed[feasibility.unit_of[v], d])
    return feasible(problem, devices)
