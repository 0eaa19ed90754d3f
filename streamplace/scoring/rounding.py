"""The tolerance of scores, and lower bounds that rounding puts above a makespan."""

from streamplace.errors import SimulationError

ROUNDING = 1e-9  # relative: throughputs, or makespans, that differ by less are equally good


def without_rounding(bound_s: float, makespan_s: float) -> float:
    """Return a lower bound on makespans, which is at most the makespan of a placement, in seconds.

    Raises
    ------
    SimulationError
        If the bound is above the makespan by more than rounding: one of them must be wrong.
    """
    if bound_s > makespan_s * (1.0 + ROUNDING):
        raise SimulationError(
            f"the lower bound of {bound_s!r} s is above the makespan of {makespan_s!r} s, so one "
            "of them is wrong; please report this with the graph and the cluster"
        )
    return min(bound_s, makespan_s)
