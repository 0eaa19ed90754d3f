"""Group-wise assignment: the EnumerativeOptimizer that DOPPLER compares itself with (2025).

The operators of a group, such as the shards of one original operator, go to different devices at
the least total time of the messages to them. Groups follow one another from sources to sinks.
"""

import numpy as np

from sim.flow import Floats, Ints
from sim.jit import bare, kernel
from sim.schedule.assignment import cheapest_assignment
from sim.schedule.lists import inputs_of
from sim.schedule.rules import NOWHERE, Placed, Rules, may_run, nothing_placed, put
from sim.schedule.task_graph import Columns, TaskGraph, message_seconds


def enumerative_placement(tasks: TaskGraph, rules: Rules, first: Ints, member: Ints) -> Ints:
    """Return the device of each operator, (V,) int32; -1 where the rules leave none.

    Parameters
    ----------
    first, member
        (G + 1,) int32 index of each group's first operator, and operators by group, (V,) int32. A
        group has at most D operators, all of different units, and follows those of its inputs.
    """
    placed = nothing_placed(rules)
    return _enumerative_placement(tasks.columns, rules, first, member, placed)


@kernel
def _enumerative_placement(
    tasks: Columns, rules: Rules, first: Ints, member: Ints, placed: Placed
) -> Ints:
    devices = np.full(tasks.work.shape[0], np.int32(NOWHERE))
    first_in, inputs = inputs_of(tasks)
    for g in range(first.shape[0] - 1):
        waiting = 0  # operators whose unit has no device yet
        costs = np.empty((first[g + 1] - first[g], tasks.speed.shape[0]))
        listed = np.empty(first[g + 1] - first[g], np.int32)
        for v in member[first[g] : first[g + 1]]:
            if placed.device[rules.unit_of[v]] != NOWHERE:
                devices[v] = placed.device[rules.unit_of[v]]
                continue
            streams = inputs[first_in[v] : first_in[v + 1]]
            _set_costs(tasks, rules, placed, devices, streams, v, costs[waiting])
            listed[waiting] = v
            waiting += 1
        chosen = cheapest_assignment(costs[:waiting])
        for i in range(waiting):
            v = listed[i]
            d = chosen[i]
            if d == NOWHERE:  # without enough different devices, each takes its cheapest one
                streams = inputs[first_in[v] : first_in[v + 1]]
                _set_costs(tasks, rules, placed, devices, streams, v, costs[i])
                d = np.int32(costs[i].argmin())
                if costs[i, d] == np.inf:
                    continue
            put(rules, placed, rules.unit_of[v], d)
            devices[v] = d
    return devices


@bare
def _set_costs(
    tasks: Columns, rules: Rules, placed: Placed, devices: Ints, streams: Ints, v: int, row: Floats
) -> None:
    """Set the total time of the messages to an operator on each device, in seconds."""
    for d in range(row.shape[0]):
        row[d] = np.inf
        if may_run(rules, placed, rules.unit_of[v], d):
            row[d] = 0.0
            for e in streams:
                a = devices[tasks.source[e]]
                if a not in (d, NOWHERE) and not tasks.silent[e]:
                    row[d] += message_seconds(tasks, tasks.bits[e], a, d)
