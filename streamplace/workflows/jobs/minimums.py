"""The check that minimum throughputs of several jobs hold, and proofs that they cannot."""

from collections.abc import Sequence

from streamplace.display.text import number, rounded_up
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.problem.union import shared_multicast
from streamplace.scoring.compiled import compiled
from streamplace.scoring.joint import Allocation, JointProblem
from streamplace.workflows.jobs.starts import union_at

HOLDS = 1e-9  # share of a minimum that counts as rounding error


def check_minimums(
    joint: JointProblem, allocation: Allocation, alone: Sequence[float], *, is_optimal: bool
) -> None:
    """Refuse a minimum throughput that does not hold.

    Parameters
    ----------
    alone
        Upper bound on the throughput of each job if it is alone on the cluster, in tuples/s.
    is_optimal
        Whether no joint placement has larger parts of the minimums.

    Raises
    ------
    InfeasibleError
        If provably no joint placement keeps all minimums.
    PlacementError
        If none was found.
    """
    for j, job in enumerate(joint.jobs):
        least, most = job.min_throughput, float(allocation.reserved[j]) * job.offered
        if most >= least * (1.0 - HOLDS):
            continue
        where = f"jobs[{j}] ({job.name!r}): min_throughput {least:g}"
        advice = "lower it, or add devices"
        if alone[j] < least * (1.0 - HOLDS):
            reason = f"even alone, the job carries at most {rounded_up(alone[j])} tuples/s"
            raise InfeasibleError(f"{where} cannot hold: {reason}; {advice}")
        beside = f"{number(most)} tuples/s beside the minimums of the other jobs"
        if is_optimal or _is_disproved(joint):
            best = "the best one" if is_optimal else "the best one found"
            reason = f"provably no placement keeps all minimums, and {best} has {beside}"
            raise InfeasibleError(f"{where} cannot hold: {reason}; {advice}")
        raise PlacementError(
            f"{where}: no placement was found that keeps it, although one may exist: the best one "
            f"has {beside}; {advice}, or try --placer exact"
        )


def _is_disproved(joint: JointProblem) -> bool:
    """Return whether the minimums of all jobs overload any placement."""
    links_count = shared_multicast(joint.jobs) is not None  # else messages are not shared
    together = compiled(union_at(joint, joint.least))
    return together.least_utilisation(links_count=links_count) > 1.0 + HOLDS
