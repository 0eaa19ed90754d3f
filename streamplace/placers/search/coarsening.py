"""Levels: the units of a problem, and ever larger groups of them."""

from dataclasses import dataclass

import numpy as np

from sim.flow import crossing_seconds
from sim.search import Instance, coarsened, joined
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Ints

COARSEST = 8  # groups a device: fewer leave no choice, more take longer than they gain
USELESS = 0.9  # of the units left: a contraction that leaves more is the last


@dataclass(frozen=True)
class Levels:
    """A problem coarsened again and again.

    Parameters
    ----------
    instances
        The units first, the largest groups last.
    groups
        Which group of the next level each unit or group of a level joins; one fewer than
        `instances`.
    on
        Devices of the largest groups, (G,), where they are parts of a placement; or None.
    """

    instances: list[Instance]
    groups: list[Ints]
    on: Ints | None


def levels_of(problem: Problem, share: float, inside: Ints | None) -> Levels:
    """Coarsen a problem until few groups a device are left.

    Parameters
    ----------
    share
        Of a mean device's part of the work: what one group may have.
    inside
        (U,) devices of units: only those on one device are joined. None: any.
    """
    instances, groups, on = [compiled(problem).instance], [], inside
    devices = len(problem.cluster.devices)
    gap_s, per_bit = crossing_seconds(flow(problem))
    heaviest = share * instances[0].work.sum() / devices
    while len(instances[-1].work) > COARSEST * devices:
        instance = instances[-1]
        traffic = instance.tuples * gap_s + instance.bits * per_bit
        alike = instance if on is None else instance._replace(row_of=instance.row_of * devices + on)
        group = joined(
            alike, traffic if traffic.any() else instance.tuples, heaviest, COARSEST * devices
        )
        if group.max() + 1 > USELESS * len(group):
            break
        groups.append(group)
        instances.append(coarsened(instance, group))
        if on is not None:
            on = _of_groups(group, on)
    return Levels(instances, groups, on)


def _of_groups(group: Ints, on: Ints) -> Ints:
    """Return devices of groups, (G,), whose members share one."""
    made = np.zeros(int(group.max()) + 1, np.int32)
    made[group] = on
    return made
