"""The makespans of placements, as functions of a problem."""

from typing import TYPE_CHECKING

from streamplace.problem.placement import Placement
from streamplace.scoring.registry import makespan_evaluator

if TYPE_CHECKING:
    from streamplace.scoring.makespan_score import MakespanScore


def makespan_score(placement: Placement) -> "MakespanScore":
    """Return the score of a placement under the makespan objective.

    Raises
    ------
    ProblemError
        If the objective is throughput.
    GraphError
        If loads overflow.
    """
    return makespan_evaluator(placement.problem).score(placement.devices)
