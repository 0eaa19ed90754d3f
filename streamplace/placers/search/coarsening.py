"""Coarsening levels: the units of a problem and successively larger groups of them."""

from dataclasses import dataclass

import numpy as np

from sim.flow import crossing_seconds
from sim.search import Instance, Schedule, coarsened, joined
from streamplace.placers.search.annealing import NEARBY, Annealer, ChainResult
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Ints

COARSEST = 8  # groups per device at the coarsest level: fewer limit the choice, more gain little
USELESS = 0.9  # coarsening stops at a contraction that would leave more than this share of units


@dataclass(frozen=True)
class Levels:
    """A problem coarsened repeatedly.

    Parameters
    ----------
    instances
        One per level: the units first, the largest groups last.
    groups
        For each level except the last, the group of the next level that each unit or group joins.
    on
        Devices of the largest groups, (G,), if the groups respect a placement; otherwise None.
    """

    instances: list[Instance]
    groups: list[Ints]
    on: Ints | None


def levels_of(
    problem: Problem, share: float, inside: Ints | None = None, per_device: int = COARSEST
) -> Levels:
    """Coarsen a problem until few groups per device are left.

    Parameters
    ----------
    share
        Maximum work of one group, as a share of the mean work per device.
    inside
        (U,) devices of units: only units on the same device are joined. None: any units.
    per_device
        The number of groups per device at which to stop.
    """
    instances, groups, on = [compiled(problem).instance], [], inside
    devices = len(problem.cluster.devices)
    gap_s, per_bit = crossing_seconds(flow(problem))
    heaviest = share * instances[0].work.sum() / devices
    while len(instances[-1].work) > per_device * devices:
        instance = instances[-1]
        traffic = instance.tuples * gap_s + instance.bits * per_bit
        alike = instance if on is None else instance._replace(row_of=instance.row_of * devices + on)
        group = joined(
            alike, traffic if traffic.any() else instance.tuples, heaviest, per_device * devices
        )
        if group.max() + 1 > USELESS * len(group):
            break
        groups.append(group)
        instances.append(coarsened(instance, group))
        if on is not None:
            on = _of_groups(group, on)
    return Levels(instances, groups, on)


def _of_groups(group: Ints, on: Ints) -> Ints:
    """Return the devices of groups, (G,), where all members of a group share one device."""
    made = np.zeros(int(group.max()) + 1, np.int32)
    made[group] = on
    return made


HOT, COLD = 5e-4, 1e-6  # first and final temperature: nearly a descent


def refined(annealer: Annealer, instance: Instance, on: Ints, changes: int) -> ChainResult:
    """Return the result of a short chain at a low temperature.

    Parameters
    ----------
    on
        (U,) feasible devices of the units or groups of `instance`.
    changes
        Changes tried per unit or group.
    """
    return annealer.chain(instance, on, Schedule(changes * len(on), HOT, COLD, *NEARBY))


def refined_below(
    annealer: Annealer, levels: Levels, level: int, chain: ChainResult, changes: int
) -> ChainResult:
    """Refine a placement on all levels below one of them.

    Parameters
    ----------
    level
        The level of the groups that `chain` placed; 0 is that of the units.
    changes
        Changes tried per unit or group on every level.
    """
    for instance, group in zip(
        levels.instances[:level][::-1], levels.groups[:level][::-1], strict=True
    ):
        chain = refined(annealer, instance, chain.on[group], changes)
    return chain
