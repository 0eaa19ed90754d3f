"""Problems restricted to some of their devices."""

from collections.abc import Collection

from streamplace.errors import InfeasibleError, ProblemError
from streamplace.problem.losses import Losses
from streamplace.problem.problem import Problem


def restricted(problem: Problem, devices: Collection[int]) -> Problem:
    """Return a problem on some of its devices, with their links, uplinks and overrides.

    Allowed devices that are left out are removed from the constraints. A placement that uses only
    `devices` has the same loads in both problems.

    Parameters
    ----------
    devices
        Indices of at least one device; their order in the cluster is kept.

    Raises
    ------
    InfeasibleError
        If constraints, labels or memory provably allow no placement on these devices.
    """
    names = problem.cluster.names
    kept = set(devices)
    if len(kept) == len(names):
        return problem
    lost = Losses(tuple(name for d, name in enumerate(names) if d not in kept))
    try:
        constraints = lost.constraints(problem.constraints)
    except ProblemError as error:  # an operator may run only on devices that are left out
        raise InfeasibleError(str(error)) from None
    return Problem(
        problem.graph,
        lost.cluster(problem.cluster),
        objective=problem.objective,
        constraints=constraints,
    )
