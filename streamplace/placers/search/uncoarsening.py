"""Refinement of a placement of groups, level by level, while the groups are split again."""

from sim.search import Instance, Schedule
from streamplace.placers.search.annealing import NEARBY, Annealer, ChainResult
from streamplace.placers.search.coarsening import Levels
from streamplace.util.arrays import Ints

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
