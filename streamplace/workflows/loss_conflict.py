"""The rules that leave no placement after the loss of a device."""

from collections.abc import Collection
from contextlib import suppress

from streamplace.errors import StreamplaceError
from streamplace.problem.losses import Losses
from streamplace.problem.problem import Problem
from streamplace.workflows.conflict import Conflict, conflict

MOST_DEVICES = 16  # whose loss is tried
SECONDS_OF_A_LOSS = 0.5  # for the rules after one loss; a guess


def loss_conflict(
    problem: Problem, devices: Collection[str] | None = None
) -> tuple[str, Conflict] | None:
    """Return a device without which no placement obeys the rules, and these rules.

    As fewer devices have no placement either, no set of the devices survives that loss.

    Parameters
    ----------
    devices
        Names of the devices that may be lost; None: all.
    """
    if len(problem.cluster.devices) == 1:
        return None
    for name in [*(problem.cluster.names if devices is None else devices)][:MOST_DEVICES]:
        lost = Losses((name,), resolved=True)
        with suppress(StreamplaceError):  # not decided in time, or operators may run only there
            rules, cluster = lost.constraints(problem.constraints), lost.cluster(problem.cluster)
            found = conflict(problem.graph, cluster, rules, seconds=SECONDS_OF_A_LOSS)
            if found is not None:
                return name, found
    return None
