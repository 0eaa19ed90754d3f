"""What instances need of devices."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streamplace.capacity.subset.conditions import Conditions, Kinds
from streamplace.problem.graph import StreamGraph
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.sim.search import least_work
from streamplace.util.arrays import Bools, Floats, Ints, grouped_rows

SPEED, DEVICES = "speed", "devices"
ROUNDING = 1e-9


@dataclass(frozen=True)
class Need:
    """What some instances need together of the devices that may run them.

    Parameters
    ----------
    what
        ``speed``, ``memory``, ``slots``, the name of a resource, or ``devices``: at least one.
    operators
        The names of the instances and of their operators; empty: all of them.
    mask
        (D,) the devices that may run them.
    amounts
        (D,) what each device has, relative to the need.
    """

    what: str
    operators: tuple[str, ...]
    mask: Bools
    amounts: Floats

    def met(self, survive: int = 0) -> float:
        """Return the share of the need that is met after the loss of any `survive` devices."""
        amounts = np.sort(np.minimum(self.amounts, 1.0))
        return float(amounts[: len(amounts) - survive].sum())


def least_met(needs: Sequence[Need], survive: int) -> tuple[Need, float]:
    """Return the need of which the smallest share is met, and the share.

    Among equal ones, one that concerns more devices comes first.
    """
    met = [need.met(survive) for need in needs]
    least = min(met)
    near = [i for i, share in enumerate(met) if share <= least + ROUNDING]
    widest = max(near, key=lambda i: int(needs[i].mask.sum()))
    return needs[widest], met[widest]


def conditions_of(needs: Sequence[Need], kinds: Kinds, others: Sequence[Floats] = ()) -> Conditions:
    """Return the conditions that sets of devices meet all needs, and others, (D,) each."""
    first = [members[0] for members in kinds.members]
    rows = [*(need.amounts for need in needs), *others]
    amounts = np.minimum(np.array(rows)[:, first], 1.0)
    return Conditions(np.unique(amounts, axis=0), kinds.kept)


def needs_of(problem: Problem) -> list[Need]:
    """Return what the instances of a problem need.

    The work, memory, slots and resources of all operators must fit on the devices together.
    Operators that only some devices may run are counted on those, too. Links are not considered.

    Parameters
    ----------
    problem
        A problem whose operators have their smallest numbers of instances, without ``colocate``.
        More of them need as much work or more, and more memory, slots and resources.
    """
    feasibility, instance = problem.feasibility, compiled(problem).instance
    work: Floats = least_work(instance, np.arange(len(instance.capacity)))
    sums = [(SPEED, work, instance.capacity / instance.reference)]
    sums += [(limit.name, limit.needs, limit.room) for limit in feasibility.limits]
    found = []
    for mask, units in _masks(feasibility.allowed):
        operators = () if mask.all() else _names(problem.graph, np.isin(feasibility.unit_of, units))
        found.append(Need(DEVICES, operators, mask, mask.astype(np.float64)))
        for what, taken, room in sums:
            total = float(taken[units].sum())
            if total > 0.0:
                amounts = np.where(mask, np.minimum(room, total), 0.0) / total
                found.append(Need(what, operators, mask, amounts))
    return found


def _names(graph: StreamGraph, chosen: Bools) -> tuple[str, ...]:
    """Return the names of some instances, (V,), and of the operators that they are of."""
    instances = np.flatnonzero(chosen).tolist()
    owners = (graph.owners[v] for v in instances)
    return tuple(dict.fromkeys([*owners, *(graph.names[v] for v in instances)]))


def _masks(allowed: Bools) -> list[tuple[Bools, Ints]]:
    """Return distinct sets of devices, (D,), and the units that may run only on each of them."""
    distinct, row_of, _ = grouped_rows(allowed)
    masks = np.unique(np.concatenate([distinct, np.ones((1, allowed.shape[1]), bool)]), axis=0)
    within = [~(distinct & ~mask).any(axis=1) for mask in masks]
    units = [np.flatnonzero(each[row_of]).astype(np.int32) for each in within]
    return list(zip(masks, units, strict=True))
