"""A pass under FIFO of which some operators are placed."""

from typing import NamedTuple

import numpy as np

from sim.flow import Floats, Ints
from sim.schedule.task_graph import TaskGraph

OPEN, QUEUED, DONE = range(3)  # status of an operator; a queued one has a device


class PartialPass(NamedTuple):
    """The operators that have left the queue of `fifo` or are in it, and when."""

    first_in: Ints  # (V + 1,) index of each operator's first input
    inputs: Ints  # (E,) streams by target
    upstream_first: Ints  # (V,) operators
    status: Ints  # (V,)
    device: Ints  # (V,) where queued and done operators run
    ready: Floats  # (V,) moment at which they became runnable, in seconds
    end: Floats  # (V,) end of each operator that is done; a lower bound for queued ones
    waiting: Ints  # (V,) inputs that are not done
    free: Floats  # (D,) moment from which each device is free of operators that are done
    queued: Ints  # (V,) operators in the order in which they were queued, also those done since
    done: Ints  # (V,) operators in the order in which they left the queue
    free_before: Floats  # (V,) moment from which the device of each of them was free before it
    counts: Ints  # (3,) numbers of operators in `queued` and `done`, at these indices
    line: Ints  # (V,) working memory: the queue
    head: Floats  # (V, D) working memory: earliest start of each open operator; infinity: too late
    busy: Floats  # (D,) working memory: end of the queue of each device


def partial_pass(tasks: TaskGraph) -> PartialPass:
    """Return the pass before its first operator is placed."""
    operators, devices, ints = tasks.operators, tasks.devices, np.int32
    return PartialPass(
        first_in=np.append(0, np.cumsum(tasks.inputs)).astype(ints),
        inputs=np.argsort(tasks.target, kind="stable").astype(ints),
        upstream_first=np.argsort(tasks.level, kind="stable").astype(ints),
        status=np.full(operators, OPEN, ints),
        device=np.zeros(operators, ints),
        ready=np.zeros(operators),
        end=np.zeros(operators),
        waiting=tasks.inputs.copy(),
        free=np.zeros(devices),
        queued=np.zeros(operators, ints),
        done=np.zeros(operators, ints),
        free_before=np.zeros(operators),
        counts=np.zeros(3, ints),
        line=np.zeros(operators, ints),
        head=np.zeros((operators, devices)),
        busy=np.zeros(devices),
    )
