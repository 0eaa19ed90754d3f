"""Lower bounds on devices, if instances could be divided at will."""

import numpy as np

from streamplace.placers.subset.conditions import Conditions
from streamplace.placers.subset.kinds import Kinds
from streamplace.placers.subset.price_bound import price_bound
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.util.arrays import Floats


def fluid_conditions(problem: Problem, kinds: Kinds) -> Conditions:
    """Return conditions that every set of devices meets, whatever the numbers of instances.

    The work, memory, slots and resources of all operators must fit on the devices together.
    Operators that only some devices may run are counted on those, too. Links are not considered.

    Parameters
    ----------
    problem
        A problem whose operators have their smallest numbers of instances, without ``colocate``.
        More of them need as much work or more, and more memory, slots and resources.
    """
    rules, instance = problem.feasibility, compiled(problem).instance
    first = [members[0] for members in kinds.members]
    needs = [(_least_work(problem), instance.capacity / instance.reference)]
    needs += [(n, r) for n, r in zip(rules.needs.T, rules.room.T, strict=True)]
    masks, inside = _masks(rules.allowed)
    rows = []
    for mask, units in zip(masks, inside, strict=True):
        rows.append(mask.astype(np.float64))
        for taken, room in needs:
            total = float(taken[units].sum())
            if total > 0.0:
                rows.append(np.where(mask, np.minimum(room, total), 0.0) / total)
    amounts = np.minimum(np.array(rows)[:, first], 1.0)
    return Conditions(np.unique(amounts, axis=0))


def fluid_bound(conditions: Conditions, kinds: Kinds, survive: int) -> float:
    """Return a lower bound on the price of any set of devices that carries everything."""
    return price_bound(conditions, kinds, survive, kinds.cost(kinds.everything)).price


def _least_work(problem: Problem) -> Floats:
    from sim.search import least_work  # noqa: PLC0415 - compiled when it is needed

    instance = compiled(problem).instance
    work: Floats = least_work(instance, np.arange(len(instance.capacity)))
    return work


def _masks(allowed: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return distinct sets of devices, (M, D), and the units that may run only on each of them."""
    distinct, row_of = np.unique(allowed, axis=0, return_inverse=True)
    masks = np.unique(np.concatenate([distinct, np.ones((1, allowed.shape[1]), bool)]), axis=0)
    within = [~(distinct & ~mask).any(axis=1) for mask in masks]
    return masks, [np.flatnonzero(each[row_of.reshape(-1)]) for each in within]
