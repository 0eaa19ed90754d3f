"""Times of operators by kind of device, as instructions that take as long."""

from typing import NamedTuple

import numpy as np

from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.util.arrays import Bools, Floats, Ints


class Times(NamedTuple):
    """The columns of a `sim.flow.Flow` that come from times by kind of device.

    The table is empty if no operator has such times.
    """

    instructions: Floats  # (V,) per tuple; the mean over devices that can run it for timed ones
    timed: Ints  # (V,) row of each operator in the table, -1 for none; or (0,)
    timed_instructions: Floats  # (T, C) per tuple, inf for classes that cannot run an operator
    stated: Bools  # (T, C) whether the entry is a stated time
    class_of: Ints  # (D,) class of each device


def times_of(graph: StreamGraph, cluster: Cluster) -> Times:
    """Return the instructions per tuple of each operator on each class of devices.

    A time counts as seconds * MIPS * 10^6 * (cores that the operator uses) instructions. Devices of
    one class have the same kind, speed and cores. Unknown instructions count as 0: a `Problem` has
    only those that cannot matter.
    """
    instructions = np.where(np.isnan(graph.instructions), 0.0, graph.instructions)
    if not graph.seconds_on:
        none = np.zeros(0, np.int32), np.zeros((0, 0)), np.zeros((0, 0), np.bool_)
        return Times(instructions, *none, np.zeros(len(cluster.devices), np.int32))
    traits = [(device.kind, device.mips, device.cores) for device in cluster.devices]
    classes = list(dict.fromkeys(traits))
    class_of = np.array([classes.index(each) for each in traits], dtype=np.int32)
    timed = np.full(len(graph.names), -1, np.int32)
    table = np.full((len(graph.seconds_on), len(classes)), np.inf)
    stated = np.zeros(table.shape, np.bool_)
    for row, (v, seconds) in enumerate(graph.seconds_on.items()):
        timed[v] = row
        known, usable = float(instructions[v]), float(graph.cores[v])
        for c, (kind, mips, cores) in enumerate(classes):
            if kind is not None and kind in seconds:
                stated[row, c] = True
                time = seconds[kind]
                if time is not None:
                    table[row, c] = time * mips * 1e6 * min(usable, cores)
            elif graph.has_plain_work(v):
                table[row, c] = known
        possible = table[row, class_of][np.isfinite(table[row, class_of])]
        with np.errstate(over="ignore"):  # infinite loads are refused later
            instructions[v] = possible.mean() if len(possible) else 0.0
    return Times(instructions, timed, table, stated, class_of)
