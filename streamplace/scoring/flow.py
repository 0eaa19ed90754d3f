"""The arrays of a problem, for placers and tools."""

from weakref import WeakKeyDictionary

from sim.flow import Flow
from streamplace.problem.makespan import Makespan
from streamplace.problem.objective import Throughput
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.util.arrays import Floats

_AS_THROUGHPUT: WeakKeyDictionary[Problem, Problem] = WeakKeyDictionary()


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
    if not isinstance(problem.objective, Makespan):
        return compiled(problem).flow
    if problem not in _AS_THROUGHPUT:
        _AS_THROUGHPUT[problem] = problem.with_objective(Throughput.of(1.0))
    return compiled(_AS_THROUGHPUT[problem]).flow


def rate_of_flow(problem: Problem) -> float:
    """Return the source rate of the arrays that `flow` returns, in tuples/s."""
    return 1.0 if isinstance(problem.objective, Makespan) else problem.source_rate


def weights_of_operators(problem: Problem) -> Floats:
    """Return the work of each operator, (V,), in a unit that depends on the objective."""
    if not isinstance(problem.objective, Makespan):
        return flow(problem).work
    from sim.schedule.ranks import mean_seconds  # noqa: PLC0415 - slow to load
    from streamplace.scoring.compiled_pass import compiled_pass  # noqa: PLC0415 - slow to load

    parts = compiled_pass(problem)
    return mean_seconds(parts.tasks, *parts.masks)
