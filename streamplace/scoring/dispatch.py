"""The orders in which devices start their operators, as `sim.schedule` takes them."""

from typing import NamedTuple

import numpy as np

from sim.schedule.ranks import by_rank, mean_messages, mean_seconds, upward_rank
from sim.schedule.state import FIFO, RANKED, SEQUENCE, Order
from sim.schedule.task_graph import TaskGraph
from streamplace.problem.makespan import CHOICES, DispatchOrder
from streamplace.util.arrays import Bools, Floats, Ints


class Masks(NamedTuple):
    """The devices that may run each operator."""

    allowed: Bools  # (M, D) masks of devices
    row_of: Ints  # (V,) int32 index of each operator's mask


def mean_rank(tasks: TaskGraph, masks: Masks) -> Floats:
    """Return HEFT's upward rank of each operator, (V,) seconds.

    Means are over the devices that may run an operator (Topcuoglu et al. 2002); see
    `sim.schedule.ranks`.
    """
    return upward_rank(tasks, mean_seconds(tasks, *masks), mean_messages(tasks, *masks))


def dispatch_order(tasks: TaskGraph, masks: Masks, topological: Ints, name: DispatchOrder) -> Order:
    """Return an order by its name; ``any`` is none.

    Parameters
    ----------
    topological
        (V,) int32 operators in Kahn's order, the smallest index first.
    """
    indices = np.arange(tasks.operators, dtype=np.int32)
    if name == "fifo":
        return Order(FIFO, indices, indices)
    sequence = np.ascontiguousarray(topological, np.int32)
    if name == "b-level":
        sequence = by_rank(mean_rank(tasks, masks))
    elif name == "sequence" and tasks.barrier:  # a level waits for all of the level before
        sequence = sequence[np.argsort(tasks.level[sequence], kind="stable")]
    position = np.empty_like(indices)
    position[sequence] = indices
    return Order(SEQUENCE if name == "sequence" else RANKED, position, sequence.copy())


def names_of(order: DispatchOrder) -> tuple[DispatchOrder, ...]:
    """Return the orders among which a score chooses: `CHOICES` for ``any``, else the order."""
    return CHOICES if order == "any" else (order,)
