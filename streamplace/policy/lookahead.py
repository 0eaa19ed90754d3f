"""The arrays of a problem that `sim.lookahead` needs for one-step lookahead."""

import numpy as np

from sim.closed_form.bottleneck import lowest_utilisation
from sim.lookahead import LookaheadProblem
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import throughput_evaluator


def lookahead_problem(problem: Problem) -> LookaheadProblem:
    """Return a problem as arrays for `sim.lookahead`.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    arrays = flow(problem)
    rules = problem.feasibility
    allowed, row_of = rules.masks
    overload_matters = throughput_evaluator(problem).overload_matters
    return LookaheadProblem(
        flow=arrays,
        unit=1.0 if overload_matters else lowest_utilisation(arrays),
        kind=interchangeable(problem),
        leader=rules.first_of[rules.unit_of],
        row_of=row_of,
        allowed=np.ascontiguousarray(allowed),
        needs=rules.operator_needs,
        room=rules.room,
    )
