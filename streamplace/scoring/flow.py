"""The arrays of a problem, for placers and tools."""

from sim.flow import Flow
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled


def flow(problem: Problem) -> Flow:
    """Return the problem as arrays at its (highest) source rate; the result is cached.

    Devices and links have the capacity that may be used: with a target utilisation U, everything
    takes 1/U times as long, so utilisations of the flow are those of the full capacity over U.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    return compiled(problem).flow
