"""Enumeration of passes under FIFO in the order of time, for proofs.

A unit is placed when the inputs of one of its operators have ended, so that the moment at which
the operator becomes runnable is known on every device. Operators leave the queue as in `fifo`, and
what a partial placement has computed of its pass is exact. `fifo_cuts` decides what is cut off. Of
unused devices that are alike, only the first is tried.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, bare_entry, kernel
from streamplace.sim.rules import NOWHERE, Placed, Rules, next_device, nothing_placed, put
from streamplace.sim.schedule.bounds import times_on
from streamplace.sim.schedule.fifo_cuts import (
    DONE,
    OPEN,
    QUEUED,
    Cuts,
    PartialPass,
    cuts_of,
    may_be_shorter,
    partial_pass,
)
from streamplace.sim.schedule.ranks import waits
from streamplace.sim.schedule.state import FIFO, Order
from streamplace.sim.schedule.task_graph import (
    FREE,
    NONE,
    Columns,
    TaskGraph,
    arrival_over,
    link_between,
)

COMPLETE, TOO_LONG = -1, -2


class FifoTree(NamedTuple):
    """An enumeration: fixed data of the problem, and the partial pass that it has reached."""

    alike: Ints  # (D,) the device before each one that can be exchanged with it, or -1
    longest_first: Ints  # (V,) operators by the shortest time from their start to the end
    cuts: Cuts
    now: PartialPass
    placed: Placed
    number: Ints  # (D,) number of units on each device
    unit: Ints  # (U,) the unit that is placed at each depth
    choice: Ints  # (U,) the device that is tried next at each depth
    left: Floats  # (U, R) amounts that were left on the device of each depth before
    queued: Ints  # (U,) number of operators that had been queued before each depth
    done: Ints  # (U,) number of operators that had left the queue before each depth
    depth: Ints  # (1,) the depth that is tried next; -1 when all is done


def serves(tasks: TaskGraph, orders: tuple[Order, ...]) -> bool:
    """Return whether the enumeration follows the engine on a task graph under each order."""
    return (
        all(order.kind == FIFO for order in orders)
        and tasks.network == FREE
        and tasks.multicast == NONE
        and not tasks.barrier
        and not tasks.has_jobs
        and bool(np.all(tasks.device_cores == 1))
    )


def fifo_tree(tasks: TaskGraph, rules: Rules, alike: Ints) -> FifoTree:
    """Return an enumeration from its beginning.

    Parameters
    ----------
    alike
        (D,) the device before each one that can be exchanged with it, or -1.
    """
    units, ints = len(rules.row_of), np.int32
    allowed, row_of = np.ascontiguousarray(rules.allowed), rules.row_of[rules.unit_of]
    times = times_on(tasks.columns, allowed, row_of)
    after = waits(tasks.columns, allowed, row_of, True)
    tree = FifoTree(
        alike=alike.astype(ints),
        longest_first=np.argsort(-(times + after).min(axis=1), kind="stable").astype(ints),
        cuts=cuts_of(tasks, times, after),
        now=partial_pass(tasks),
        placed=nothing_placed(rules),
        number=np.zeros(tasks.devices, ints),
        unit=np.zeros(units, ints),
        choice=np.zeros(units, ints),
        left=np.empty((units, rules.needs.shape[1])),
        queued=np.zeros(units, ints),
        done=np.zeros(units, ints),
        depth=np.zeros(1, ints),
    )
    tree.unit[0] = rules.unit_of[_advance(tasks.columns, rules, tree, np.inf)]
    return tree


def next_shorter(
    tasks: TaskGraph, rules: Rules, tree: FifoTree, limit: float, rows: Ints, steps: int
) -> tuple[int, bool]:
    """Write the next placement whose makespan is below a limit.

    Parameters
    ----------
    limit
        Makespan in seconds.
    rows
        (K, V) int32, the first row of which receives the device of each operator.
    steps
        Number of partial placements to examine at most.

    Returns
    -------
    tuple
        The number of placements written, and whether the enumeration is complete.
    """
    found = _next_shorter(tasks.columns, rules, tree, limit, rows[0], steps)
    return int(found), bool(tree.depth[0] < 0)


@kernel
def _next_shorter(
    tasks: Columns, rules: Rules, tree: FifoTree, limit: float, row: Ints, steps: int
) -> bool:
    depth = tree.depth[0]
    while depth >= 0 and steps > 0:
        u = tree.unit[depth]
        if tree.placed.device[u] != NOWHERE:  # the search came back to this unit
            _undo(tasks, rules, tree, depth)
        d = next_device(rules, tree.placed, tree.alike, tree.number, u, tree.choice[depth])
        if d == NOWHERE:
            depth -= 1
            continue
        steps -= 1
        tree.choice[depth] = d + 1
        for r in range(rules.needs.shape[1]):
            tree.left[depth, r] = tree.placed.left[d, r]
        put(rules, tree.placed, u, d)
        tree.number[d] += 1
        following = _advance(tasks, rules, tree, limit)
        if following == TOO_LONG:
            continue
        if following == COMPLETE:
            row[:] = tree.now.device
            tree.depth[0] = depth
            return True
        # What the pass has shown is exact, so that bounds are asked after it.
        if may_be_shorter(tasks, rules, tree.placed, tree.cuts, tree.now, limit):
            depth += 1
            tree.unit[depth] = rules.unit_of[following]
            tree.choice[depth] = 0
            tree.queued[depth] = tree.now.counts[QUEUED]
            tree.done[depth] = tree.now.counts[DONE]
    tree.depth[0] = depth
    return False


@bare
def _undo(tasks: Columns, rules: Rules, tree: FifoTree, depth: int) -> None:
    """Take the unit of a depth away again, with all that followed from its place."""
    now, u = tree.now, tree.unit[depth]
    for i in range(now.counts[DONE] - 1, tree.done[depth] - 1, -1):
        v = now.done[i]
        now.free[now.device[v]] = now.free_before[i]
        now.status[v] = QUEUED
        for e in range(tasks.first_out[v], tasks.end_out[v]):
            now.waiting[tasks.target[e]] += 1
    for i in range(tree.queued[depth], now.counts[QUEUED]):
        now.status[now.queued[i]] = OPEN
    now.counts[DONE], now.counts[QUEUED] = tree.done[depth], tree.queued[depth]
    d = tree.placed.device[u]
    tree.placed.device[u] = NOWHERE
    tree.number[d] -= 1
    for r in range(rules.needs.shape[1]):
        tree.placed.left[d, r] = tree.left[depth, r]


@bare_entry
def _advance(tasks: Columns, rules: Rules, tree: FifoTree, limit: float) -> int:
    """Run the pass until a unit must be placed; return the operator that needs it."""
    now = tree.now
    while True:
        undecided = COMPLETE
        for v in tree.longest_first:
            if now.status[v] == DONE and now.end[v] >= limit:  # the limit may have become lower
                return TOO_LONG
            if now.status[v] == OPEN and now.waiting[v] == 0:
                d = tree.placed.device[rules.unit_of[v]]
                if d != NOWHERE:
                    _queue(tasks, now, v, d)
                elif undecided == COMPLETE:
                    undecided = v
        if undecided != COMPLETE:
            return int(undecided)
        v = _first_of_queue(now)
        if v == COMPLETE:
            return COMPLETE
        d, i = now.device[v], now.counts[DONE]
        start = max(now.ready[v], now.free[d])
        now.end[v] = start + tree.cuts.times[v, d]
        now.done[i], now.free_before[i] = v, now.free[d]
        now.free[d] = now.end[v]
        if tree.cuts.times[v, d] > 0.0:
            now.free[d] += tasks.startup_s[d]
        now.status[v] = DONE
        now.counts[DONE] = i + 1
        for e in range(tasks.first_out[v], tasks.end_out[v]):
            now.waiting[tasks.target[e]] -= 1


@bare
def _queue(tasks: Columns, now: PartialPass, v: int, d: int) -> None:
    """Queue an operator whose inputs have ended on its device."""
    ready = 0.0
    for j in range(now.first_in[v], now.first_in[v + 1]):
        e = now.inputs[j]
        a = now.device[tasks.source[e]]
        arrival = now.end[tasks.source[e]]
        if a != d and not tasks.silent[e]:
            arrival = arrival_over(tasks, arrival, tasks.bits[e], link_between(tasks, a, d))
        ready = max(ready, arrival)
    now.ready[v], now.device[v], now.status[v] = ready, d, QUEUED
    now.queued[now.counts[QUEUED]] = v
    now.counts[QUEUED] += 1


@bare
def _first_of_queue(now: PartialPass) -> int:
    """Return the operator that leaves the queue next, or -1."""
    first = COMPLETE
    for i in range(now.counts[QUEUED]):
        v = now.queued[i]
        if now.status[v] == QUEUED:
            later = first != COMPLETE and now.ready[v] >= now.ready[first]
            if not later or (now.ready[v] == now.ready[first] and v < first):
                first = v
    return first
