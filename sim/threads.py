"""Utilisation of the cores that single operators can use.

An operator runs on at most `operator_cores` cores of its device, so on a device with more cores it
is a resource of its own: instructions/s over the instructions/s of the cores that it can use. On a
device whose cores it can all use, the utilisation of the device is at least as high.
"""

import numpy as np
from numpy.typing import NDArray

from sim.flow import Columns, Floats, Flow, Ints
from sim.jit import bare, kernel
from sim.work import class_work, first_of_classes, work_of, work_on


@bare
def of_usable_cores(work: float, usable: float, cores: float, capacity: float) -> float:
    """Return the utilisation of the cores that an operator can use; 0 if it can use all.

    Parameters
    ----------
    work
        Instructions/s of the operator.
    usable
        Number of cores that it can use.
    cores, capacity
        Number of cores of the device, and instructions/s of all of them.
    """
    if usable >= cores:
        return 0.0
    return work * cores / (capacity * usable)


@bare
def own_utilisation(flow: Columns, v: int, d: int) -> float:
    """Return the utilisation of the cores that operator v can use on device d.

    It is 0 if v can use all cores of d.
    """
    work = work_on(flow, v, d)
    return of_usable_cores(work, flow.operator_cores[v], flow.cores[d], flow.capacity[d])


@kernel
def largest_own(placement: Ints, flow: Columns) -> float:
    """Return the largest `own_utilisation` of a placement's operators."""
    largest = 0.0
    if flow.limits_operators:
        for v in range(placement.shape[0]):
            largest = max(largest, own_utilisation(flow, v, placement[v]))
    return largest


@kernel
def raise_to_own(placements: Ints, flow: Columns, worst: Floats) -> None:
    """Raise the largest utilisation of each placement, (K,), to that of its operators."""
    for k in range(placements.shape[0]):
        worst[k] = max(worst[k], largest_own(placements[k], flow))


def own_utilisations(flow: Flow, placement: NDArray[np.integer]) -> Floats:
    """Return the utilisation of the cores that each operator can use, (V,).

    It is 0 for operators that can use all cores of their device.
    """
    usable, cores = flow.operator_cores, flow.cores[placement]
    own = work_of(flow, placement) * cores / (flow.capacity[placement] * usable)
    return np.where(usable < cores, own, 0.0)


def own_by_class(flow: Flow) -> Floats:
    """Return the utilisation of the cores that each operator can use, by class, (V, C).

    It is 0 for operators that can use all cores of devices of the class. C is 0 if no operator is
    timed.
    """
    if not len(flow.timed):
        return np.zeros((flow.operators, 0))
    first = first_of_classes(flow)
    usable, cores = flow.operator_cores[:, None], flow.cores[first]
    own = class_work(flow) * cores / (flow.capacity[first] * usable)
    return np.where(usable < cores, own, 0.0)


def fastest(flow: Flow) -> Floats:
    """Return the instructions/s that each operator gets on the best device for it alone, (V,)."""
    kinds, kind_of = np.unique(flow.operator_cores, return_inverse=True)
    of_kind = [
        np.where(kind < flow.cores, flow.capacity * kind / flow.cores, flow.capacity).max()
        for kind in kinds
    ]
    return np.array(of_kind)[kind_of.reshape(-1)]
