"""The arrays of a problem, for placers and tools."""

from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import CompiledProblem, at_one_tuple
from streamplace.sim.flow import Flow


def flow(problem: Problem) -> Flow:
    """Return the problem as arrays at its (highest) source rate; the result is cached.

    Devices and links have the capacity that may be used: with a target utilisation U, everything
    takes 1/U times as long, so utilisations of the flow are those of the full capacity over U.
    Without a source rate, as under the makespan objective, the arrays are those at 1 tuple/s, which
    serve as weights of operators and streams.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    if not problem.objective.has_rates:
        problem = problem.once(at_one_tuple)
    return problem.once(CompiledProblem).flow


def rate_of_flow(problem: Problem) -> float:
    """Return the source rate of the arrays that `flow` returns, in tuples/s."""
    return max(problem.objective.rates, default=1.0)
