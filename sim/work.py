"""The CPU work of operators on devices, where times by class of devices may replace instructions.

A time counts as the number of instructions that take as long, so that a utilisation is always
tuples/s * instructions / capacity.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sim.flow import Columns, Floats, Flow, Ints
from sim.jit import bare, kernel


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
