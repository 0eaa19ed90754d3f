"""The CPU work of operators on devices, where times by class of devices may replace instructions.

A time counts as the number of instructions that take as long, so that a utilisation is always
tuples/s * instructions / capacity.

An operator runs on at most `operator_cores` cores of its device, so on a device with more cores it
is a resource of its own: instructions/s over the instructions/s of the cores that it can use. On a
device whose cores it can all use, the utilisation of the device is at least as high.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Columns, Floats, Flow, Ints
from streamplace.sim.jit import bare, kernel


class Worked(Protocol):
    """Columns that determine the work of operators; see `Flow`."""

    @property
    def work(self) -> Floats: ...
    @property
    def operator_tuples(self) -> Floats: ...
    @property
    def timed(self) -> Ints: ...
    @property
    def timed_instructions(self) -> Floats: ...
    @property
    def class_of(self) -> Ints: ...


@bare
def work_on(flow: Worked, v: int, d: int) -> float:
    """Return the instructions/s of operator v on device d.

    On a device that cannot run v, which constraints forbid, they are v's typical ones.
    """
    if flow.timed.shape[0] > 0 and flow.timed[v] >= 0:
        instructions: float = flow.timed_instructions[flow.timed[v], flow.class_of[d]]
        if instructions < np.inf:
            return float(flow.operator_tuples[v] * instructions)
    work: float = flow.work[v]
    return work


@bare
def instructions_on(flow: Columns, v: int, d: int) -> float:
    """Return the instructions per tuple of operator v on device d; see `work_on`."""
    if flow.timed.shape[0] > 0 and flow.timed[v] >= 0:
        instructions: float = flow.timed_instructions[flow.timed[v], flow.class_of[d]]
        if instructions < np.inf:
            return instructions
    plain: float = flow.instructions[v]
    return plain


@kernel
def _all_work_on(flow: Columns, devices: Ints) -> Floats:
    table = np.empty((flow.work.shape[0], devices.shape[0]))
    for v in range(table.shape[0]):
        for c in range(devices.shape[0]):
            table[v, c] = work_on(flow, v, devices[c])
    return table


def class_work(flow: Flow) -> Floats:
    """Return the instructions/s of each operator on each class of devices, (V, C).

    C is 0 if no operator is timed. Typical work stands for classes that cannot run an operator.
    """
    if not len(flow.timed):
        return np.zeros((flow.operators, 0))
    return _all_work_on(flow.columns, first_of_classes(flow))


def cannot_run(flow: Flow) -> NDArray[np.bool_]:
    """Return whether each class of devices cannot run an operator, (V, C)."""
    table = np.zeros((flow.operators, len(first_of_classes(flow))), dtype=np.bool_)
    timed = np.flatnonzero(flow.timed >= 0)
    table[timed] = np.isinf(flow.timed_instructions[flow.timed[timed]])
    return table


def first_of_classes(flow: Flow) -> Ints:
    """Return the first device of each class, (C,) int32; classes are numbered without gaps."""
    return np.unique(flow.class_of, return_index=True)[1].astype(np.int32)


def instructions_of(flow: Flow, devices: NDArray[np.integer]) -> Floats:
    """Return the instructions per tuple of each operator on its device, (V,)."""
    instructions = flow.instructions.copy()
    for v in np.flatnonzero(flow.timed >= 0).tolist():
        stated = flow.timed_instructions[flow.timed[v], flow.class_of[devices[v]]]
        instructions[v] = stated if np.isfinite(stated) else instructions[v]
    return instructions


def work_of(flow: Flow, devices: NDArray[np.integer]) -> Floats:
    """Return the instructions/s of each operator on its device, (V,)."""
    if not len(flow.timed):
        return flow.work
    work: Floats = class_work(flow)[np.arange(flow.operators), flow.class_of[devices]]
    return work


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


@bare
def taken_at_first(flow: Columns, v: int, start: float) -> float:
    """Return the tuples/s of operator v before its inputs count, if sources run at a share."""
    tuples: float = flow.source_tuples[v] * start
    if flow.joins and flow.source_tuples[v] == 0.0:
        tuples = np.inf
    return tuples


@bare
def taken(flow: Columns, before: float, tuples: float) -> float:
    """Return the tuples/s of an operator after one more of its inputs, which brings `tuples`."""
    return min(before, tuples) if flow.joins else before + tuples
