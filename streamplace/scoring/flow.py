"""The arrays of a problem, for placers and tools."""

from streamplace.problem.objective import Throughput
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import CompiledProblem
from streamplace.sim.flow import Flow


def flow(problem: Problem) -> Flow:
    """Return the problem as arrays at its (highest) source rate; the result is cached.

    Devices and links have the capacity that may be used: with a target utilisation U, everything
    takes 1/U times as long, so utilisations of the flow are those of the full capacity over U.
    Under the makespan objective, which has no source rate, the arrays are those at 1 tuple/s, which
    serve as weights of operators and streams.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    if problem.objective.is_pass:
        problem = problem.once(_at_one_tuple)
    return problem.once(CompiledProblem).flow


def rate_of_flow(problem: Problem) -> float:
    """Return the source rate of the arrays that `flow` returns, in tuples/s."""
    return max(problem.objective.rates, default=1.0)


def _at_one_tuple(problem: Problem) -> Problem:
    return problem.with_objective(Throughput.of(1.0))
