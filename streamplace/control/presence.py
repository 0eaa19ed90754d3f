"""The cluster and the constraints of the devices that are there."""

from collections.abc import Collection
from dataclasses import replace

from streamplace.display.text import quoted, several
from streamplace.errors import ProblemError
from streamplace.problem.cluster import Cluster
from streamplace.problem.cluster_change import ClusterChange
from streamplace.problem.constraints import Constraints

SHOWN = 3


def without_lost(
    cluster: Cluster, constraints: Constraints, present: Collection[str]
) -> tuple[Cluster, Constraints]:
    """Return the cluster without the devices that are gone, and the constraints on the others.

    Parameters
    ----------
    present
        Names of the devices that are there; those that the cluster lacks are not used.

    Raises
    ------
    ProblemError
        If no device is left, or an operator may only run on devices that are gone.
    """
    gone = tuple(name for name in cluster.names if name not in present)
    if not gone:
        return cluster, constraints
    if len(gone) == len(cluster.names):
        raise ProblemError("all devices of the cluster are gone")
    for operator, device in constraints.pins.items():
        if device in gone:
            raise ProblemError(f"{quoted(operator)} is pinned to {quoted(device)}, which is gone")
    allowed = {
        operator: [device for device in devices if device not in gone]
        for operator, devices in constraints.allowed.items()
    }
    for operator, devices in allowed.items():
        if not devices:
            only = several(sorted(constraints.allowed[operator]), SHOWN)
            raise ProblemError(f"{quoted(operator)} may only run on {only}, and all are gone")
    return ClusterChange(gone).of(cluster), replace(constraints, allowed=allowed)
