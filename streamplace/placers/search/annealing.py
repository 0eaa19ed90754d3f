"""Annealing of placements, and the coarsening levels on which it refines those of large graphs."""

from dataclasses import replace
from math import inf
from typing import NamedTuple

import numpy as np

from streamplace.errors import UsageError
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.sim.flow import crossing_seconds
from streamplace.sim.search import (
    Instance,
    Schedule,
    coarsened,
    inseparable,
    joined,
    joined_alike,
    search_state,
    work_on_devices,
)
from streamplace.util.arrays import Ints

# Losses of relative throughput that are accepted once in e times. Other temperatures, and reheating
# the best placement, made no difference beyond noise.
HOTTEST, COLDEST = 0.2, 0.002  # temperatures of a thorough chain
# Chains of few changes per unit (large graphs) begin colder: a hot one would destroy the initial
# placement and have no time to find a better one. The rate is a guess; not tuned.
WARMING = 5e-4  # starting temperature per change per unit, up to HOTTEST
# Changes per unit from which a chain no longer depends on its start; a guess, not tuned.
THOROUGH = 100.0
# shares of swaps and of joins (see Schedule), in thorough chains and in others
# Joins bring a unit to a neighbour's device, which lowers traffic at once, so short chains make
# more of them; thorough ones balance by swaps. The shares are guesses; not tuned.
ALL_OVER, NEARBY = (0.4, 0.25), (0.1, 0.6)

COARSEST = 8  # groups per device at the coarsest level: fewer limit the choice, more gain little
# Further levels would each cost as much as the last and save nothing: streams that are left cannot
# be joined within the work, the masks or the room of a device. The share is a guess.
USELESS = 0.9  # coarsening stops at a contraction that would leave more than this share of units
# Groups have settled the coarse structure, which heat would destroy. The low end balances loads to
# within a thousandth of the bound.
HOT, COLD = 5e-4, 1e-6  # first and final temperature: nearly a descent


class ChainResult(NamedTuple):
    """The result of one annealing chain."""

    on: Ints  # (U,) devices of units in the best placement found
    reached: float  # relative throughput; above 1 if there is headroom
    enough: bool  # whether no placement can be better
    changes: int  # number tried


class Annealer:
    """Annealing on a problem's score, or on the largest utilisation if the score takes too long.

    The score takes too long under `engine`, and under `path-average` on graphs of more than 2,000
    streams.

    Parameters
    ----------
    rng
        Seeds all chains.
    headroom
        Whether to reduce the largest utilisation below 1 too, where throughput no longer rises.
    """

    def __init__(
        self, problem: Problem, rng: np.random.Generator, *, headroom: bool = False
    ) -> None:
        kernels = evaluator(problem).local_search()
        if kernels is None:
            raise UsageError("search: the problem's objective does not support local search")
        self._kernels = replace(kernels, least=1.0) if headroom else kernels
        self.instance = kernels.instance
        self.rng_state = rng.integers(1, 2**63, size=1, dtype=np.uint64)

    def chain(
        self, instance: Instance, on: Ints, plan: Schedule, wanted: float | None = None
    ) -> ChainResult:
        """Anneal one chain.

        Parameters
        ----------
        instance
            `self.instance`, or one coarsened from it.
        on
            (U,) feasible devices of its units.
        wanted
            Relative throughput at which to stop; None: stop when nothing can be better.
        """
        state = search_state(instance, on)
        result = self._kernels.anneal(instance, state, self.rng_state, plan, wanted)
        return ChainResult(state.best, result.quality, result.enough, result.changes)

    @property
    def least(self) -> float:
        """The lower bound on the largest load / reference, at which chains stop."""
        return self._kernels.least

    @least.setter
    def least(self, least: float) -> None:
        self._kernels = replace(self._kernels, least=least)

    def near(self, result: ChainResult, times: float) -> bool:
        """Return whether the largest load is at most `times` its lower bound."""
        return (
            result.enough
            or result.reached * self._kernels.least * self.instance.reference * times >= 1.0
        )


def schedule(changes: int, units: int) -> Schedule:
    """Return a schedule for a number of changes: more changes per unit start hotter."""
    each = changes / units
    hot = min(HOTTEST, WARMING * each)
    swaps, joins = ALL_OVER if each >= THOROUGH else NEARBY
    # A cold chain ends at a tenth of its start, or it would not cool; the factor is a guess.
    return Schedule(changes, hot, min(COLDEST, hot / 10), swaps, joins)


def moved_to_allowed(instance: Instance, on: Ints) -> Ints:
    """Return devices of units, (U,), with forbidden devices replaced by the emptiest allowed."""
    made = on.copy()
    work = work_on_devices(instance, made)
    load = np.bincount(made, weights=work, minlength=len(instance.capacity)) / instance.capacity
    for u in np.flatnonzero(~instance.allowed[instance.row_of, made]):
        allowed = np.flatnonzero(instance.allowed[instance.row_of[u]])
        made[u] = allowed[load[allowed].argmin()]
        load[made[u]] += work_on_devices(instance, made)[u] / instance.capacity[made[u]]
    return made


class Levels(NamedTuple):
    """An instance coarsened repeatedly.

    `instances` has one per level: the units first, the largest groups last. For each level except
    the last, `groups` has the group of the next level that each unit or group joins.
    """

    instances: list[Instance]
    groups: list[Ints]

    def up(self, on: Ints) -> Ints:
        """Return the devices of the largest groups, (G,), where the units of each share one."""
        for group in self.groups:
            made = np.zeros(int(group.max()) + 1, np.int32)
            made[group] = on
            on = made
        return on


def levels_of(
    instance: Instance,
    share: float,
    inside: Ints | None = None,
    per_device: int = COARSEST,
    rng: np.random.Generator | None = None,
    apart: float = inf,
    together: Ints | None = None,
) -> Levels:
    """Coarsen an instance until few groups per device are left.

    Parameters
    ----------
    share
        Maximum work of one group, as a share of the mean work per device.
    inside
        (U,) labels of units, such as their devices: only units with equal ones are joined. None:
        any units.
    per_device
        The number of groups per device at which to stop.
    rng
        Draws the order in which units are joined; None: by increasing degree.
    apart
        Units that no placement with lower loads / reference separates are joined first, whatever
        their work.
    together
        (U,) groups of units to join before, whatever their work. None: no more.
    """
    levels, few = Levels([instance], []), per_device * len(instance.capacity)
    gap_s, per_bit = crossing_seconds(instance)
    heaviest = share * instance.work.sum() / len(instance.capacity)
    labels = np.zeros(len(instance.work), np.int32) if inside is None else inside

    def descend(group: Ints) -> None:
        nonlocal labels
        if group.max() + 1 < len(group):
            levels.groups.append(group)
            levels.instances.append(coarsened(levels.instances[-1], group))
            labels = Levels([], [group]).up(labels)

    if together is not None:
        descend(joined_alike(_with_labels(instance, labels), together))
    descend(inseparable(_with_labels(levels.instances[-1], labels), apart))
    while len((finest := levels.instances[-1]).work) > few:
        traffic = finest.tuples * gap_s + finest.bits * per_bit
        # On a network that costs nothing, tuples say what belongs together.
        traffic = traffic if traffic.any() else finest.tuples
        group = joined(_with_labels(finest, labels), traffic, heaviest, few, rng)
        if group.max() + 1 > USELESS * len(group):
            break
        descend(group)
    return levels


def _with_labels(instance: Instance, labels: Ints) -> Instance:
    """Return the instance with masks that differ between labels of units, (U,), too."""
    # Moves depend on `row_of` alone, so that kernels need not know of labels.
    both = instance.row_of.astype(np.int64) * (int(labels.max()) + 1) + labels
    if not both.any():
        return instance
    return instance._replace(row_of=np.unique(both, return_inverse=True)[1].astype(np.int32))


def refine(annealer: Annealer, instance: Instance, on: Ints, changes: int) -> ChainResult:
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
        chain = refine(annealer, instance, chain.on[group], changes)
    return chain
