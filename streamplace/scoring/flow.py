"""The arrays of a problem, as placers and tools read them."""

from sim.flow import Flow
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled


def flow(problem: Problem) -> Flow:
    """Return the problem as arrays at its source rate, the highest of several; made once.

    Of every device and link there is as much as may be used: under a target utilisation U each
    takes 1/U as long for everything, so utilisations of the flow are those of the whole, over U.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    return compiled(problem).flow
