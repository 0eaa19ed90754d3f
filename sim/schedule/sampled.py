"""Randomised list schedulers, of which the best of several placements is taken.

Operators are appended to the devices' schedules and never inserted before others. Without ranks, a
random ready operator goes to the device where it ends first (the device selection of HEFT); with
ranks, the ready operator of highest rank goes to the device where it starts first (the critical
path method that DOPPLER compares itself with). Ties are broken at random.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.cores import first_cores, free_from, keep_cores
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.rules import (
    NOWHERE,
    Placed,
    Rules,
    forget_all,
    may_run,
    nothing_placed,
    put,
)
from streamplace.sim.schedule.lists import ListSchedule, inputs_of, last_arrival, occupied
from streamplace.sim.schedule.task_graph import Columns, TaskGraph, seconds_on
from streamplace.sim.search.rng import Word, below


class Sampled(NamedTuple):
    """K schedules; rows in which some operator found no device have -1 and no moments."""

    devices: Ints  # (K, V) int32 device of each operator
    start: Floats  # (K, V) seconds
    end: Floats  # (K, V) seconds

    def schedule(self, k: int) -> ListSchedule:
        """Return a copy of one of the schedules in which every operator found a device."""
        devices, start, end = (each[k].copy() for each in self)
        return ListSchedule(devices, start, end, is_feasible=True)


def sampled_schedules(
    tasks: TaskGraph, rules: Rules, rank: Floats | None, count: int, state: Word
) -> Sampled:
    """Return schedules by a randomised list scheduler.

    Parameters
    ----------
    rank
        (V,) ranks, or None for random operators.
    count
        Number of schedules, K.
    """
    first_core = first_cores(tasks.device_cores, tasks.cores)
    rank = np.zeros(0) if rank is None else rank
    placed = nothing_placed(rules)
    return Sampled(
        *_sampled_schedules(tasks.columns, rules, rank, count, state, first_core, placed)
    )


@kernel
def _sampled_schedules(
    tasks: Columns,
    rules: Rules,
    rank: Floats,
    count: int,
    state: Word,
    first_core: Ints,
    placed: Placed,
) -> tuple[Ints, Floats, Floats]:
    operators = tasks.work.shape[0]
    devices = np.full((count, operators), np.int32(NOWHERE))
    starts, ends = np.empty((count, operators)), np.empty((count, operators))
    first_in, inputs = inputs_of(tasks)
    free = np.empty(first_core[-1])  # moments from which cores are free, sorted by device
    ready, waiting = np.empty(operators, np.int32), np.empty(operators, np.int32)
    for k in range(count):
        forget_all(rules, placed)
        free[:] = 0.0
        number, end = 0, ends[k]
        for v in range(operators):
            waiting[v] = tasks.inputs[v]
            if waiting[v] == 0:
                ready[number] = v
                number += 1
        while number > 0:
            i = _pick(rank, ready, number, state)
            v = ready[i]
            number -= 1
            ready[i] = ready[number]
            streams = inputs[first_in[v] : first_in[v + 1]]
            d = _choose(
                tasks, rules, placed, devices[k], end, free, first_core, streams, v, rank, state
            )
            # A dead end: the sample is dropped, and others follow.
            if d == NOWHERE:
                devices[k, :] = NOWHERE
                break
            put(rules, placed, rules.unit_of[v], d)
            start = _start(tasks, devices[k], end, free, first_core, streams, v, d)
            devices[k, v], starts[k, v] = d, start
            end[v] = start + seconds_on(tasks, v, d)
            released = start + occupied(tasks, d, seconds_on(tasks, v, d))
            keep_cores(free, first_core, d, tasks.cores[v], released)
            for e in range(tasks.first_out[v], tasks.end_out[v]):
                w = tasks.target[e]
                waiting[w] -= 1
                if waiting[w] == 0:
                    ready[number] = w
                    number += 1
    return devices, starts, ends


@bare
def _pick(rank: Floats, ready: Ints, number: int, state: Word) -> int:
    """Return the index of a random ready operator, or of one with the highest rank."""
    if rank.shape[0] == 0:
        return below(state, number)
    best, ties = 0, 1
    for i in range(1, number):
        difference = rank[ready[i]] - rank[ready[best]]
        if difference > 0.0:
            best, ties = i, 1
        elif difference == 0.0:
            ties += 1
            if below(state, ties) == 0:
                best = i
    return best


@bare
def _choose(
    tasks: Columns,
    rules: Rules,
    placed: Placed,
    devices: Ints,
    end: Floats,
    free: Floats,
    first_core: Ints,
    streams: Ints,
    v: int,
    rank: Floats,
    state: Word,
) -> int:
    """Return the device on which an operator starts or ends first, or -1."""
    best, best_value, ties = NOWHERE, np.inf, 1
    for d in range(tasks.speed.shape[0]):
        if not may_run(rules, placed, rules.unit_of[v], d):
            continue
        value = _start(tasks, devices, end, free, first_core, streams, v, d)
        if rank.shape[0] == 0:
            value += seconds_on(tasks, v, d)
        if value < best_value:
            best, best_value, ties = d, value, 1
        elif value == best_value:
            ties += 1
            if below(state, ties) == 0:
                best = d
    return best


@bare
def _start(
    tasks: Columns,
    devices: Ints,
    end: Floats,
    free: Floats,
    first_core: Ints,
    streams: Ints,
    v: int,
    d: int,
) -> float:
    """Return the moment at which an operator could start on a device."""
    arrived = last_arrival(tasks, devices, end, streams, d)
    return max(free_from(free, first_core, d, tasks.cores[v]), arrived)
