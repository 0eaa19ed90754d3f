"""Longest paths through operators that a change moves, which reject it without a pass.

Whatever messages and devices wait for, a pass takes at least as long as the longest path of
execution and message times. Of the placement that is kept, the longest path to and from each
operator is known. It holds after a change for operators that are not below or above a moved one:
those whose level is not between the levels of the moved operators.

Where devices are the limit and not messages, few changes are rejected so. The paths are therefore
tried anew in each part of a search, and given up for its rest once they cost more time than they
save. Results do not depend on it.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare
from streamplace.sim.schedule.fifo import BEYOND
from streamplace.sim.schedule.task_graph import Columns, TaskGraph, message_seconds, seconds_on

# Where devices are the limit, paths would otherwise cost 5 to 50% of the time
# (docs/results/speed.md).
CHECK, KEEP, SAVED = 1, 3, 6  # time to check a change, to keep a placement, and of a pass, about
# Evaluations for which time to check one is given in advance, since a part begins unknown.
TRIAL = 16
# Credit, so that paths are given up soon after they have stopped paying; a guess, not tuned.
MOST = 1_000
MANY = 64  # operators of a change from which sorting them would take as long as a pass


class Paths(NamedTuple):
    """Longest paths in the placement that is kept, in seconds, and working memory for a change."""

    first_in: Ints  # (V + 1,) index of each operator's first input
    inputs: Ints  # (E,) streams by target
    by_level: Ints  # (V,) operators
    end: Floats  # (V,) longest path up to the end of each operator
    after: Floats  # (V,) longest path after it
    message: Floats  # (E,) time of each message
    moved: Ints  # (V,) operators that the change moves, by level
    change: Ints  # (V,) number of the change that last moved each operator
    changes: Ints  # (1,) number of changes so far
    new_end: Floats  # (V,) the paths after the change, of moved operators
    credit: Ints  # (1,) time saved less time spent; at 0, the paths are given up


def paths_of(tasks: TaskGraph) -> Paths:
    """Return the memory for one task graph."""
    operators, ints = tasks.operators, np.int32
    return Paths(
        first_in=np.append(0, np.cumsum(tasks.inputs)).astype(ints),
        inputs=np.argsort(tasks.target, kind="stable").astype(ints),
        by_level=np.argsort(tasks.level, kind="stable").astype(ints),
        end=np.zeros(operators),
        after=np.zeros(operators),
        message=np.zeros(len(tasks.source)),
        moved=np.zeros(operators, ints),
        change=np.zeros(operators, np.int64),
        changes=np.zeros(1, np.int64),
        new_end=np.zeros(operators),
        credit=np.zeros(1, np.int64),
    )


@bare
def begin_paths(tasks: Columns, devices: Ints, paths: Paths, evaluations: int) -> None:
    """Begin a part of a search, of a number of evaluations, with a placement."""
    paths.credit[0] = KEEP + CHECK + evaluations // TRIAL
    keep_paths(tasks, devices, paths)


@bare
def keep_paths(tasks: Columns, devices: Ints, paths: Paths) -> None:
    """Compute the longest paths in a placement, unless they have been given up."""
    if paths.credit[0] <= 0:
        return
    paths.credit[0] -= KEEP
    operators = devices.shape[0]
    for v in range(operators):
        paths.end[v] = 0.0
    for i in range(operators):
        v = paths.by_level[i]
        end = paths.end[v] + seconds_on(tasks, v, devices[v])
        paths.end[v] = end
        for k in range(tasks.first_out[v], tasks.end_out[v]):
            w = tasks.target[k]
            paths.message[k] = _message(tasks, devices, k, v, w)
            paths.end[w] = max(paths.end[w], end + paths.message[k])
    for i in range(operators - 1, -1, -1):
        v = paths.by_level[i]
        after = 0.0
        for k in range(tasks.first_out[v], tasks.end_out[v]):
            w = tasks.target[k]
            after = max(after, paths.message[k] + seconds_on(tasks, w, devices[w]) + paths.after[w])
        paths.after[v] = after


@bare
def begin_moves(paths: Paths) -> None:
    """Begin with a change that moves no operator."""
    paths.changes[0] += 1


@bare
def move(tasks: Columns, paths: Paths, v: int, count: int) -> int:
    """Add an operator to the `count` that the change moves; return their new number."""
    i = count
    while i > 0 and tasks.level[paths.moved[i - 1]] > tasks.level[v]:
        paths.moved[i] = paths.moved[i - 1]
        i -= 1
    paths.moved[i] = v
    paths.change[v] = paths.changes[0]
    return count + 1


@bare
def is_too_long(tasks: Columns, devices: Ints, paths: Paths, count: int, limit: float) -> bool:
    """Return whether a path through a moved operator is longer than the limit, in seconds.

    Parameters
    ----------
    devices
        (V,) device of each operator after the change.
    count
        The number of operators that the change moves.
    """
    found = _exceeds(tasks, devices, paths, count, limit)
    paths.credit[0] = min(paths.credit[0] + (SAVED if found else 0) - CHECK, MOST)
    return found


@bare
def _exceeds(tasks: Columns, devices: Ints, paths: Paths, count: int, limit: float) -> bool:
    too_long, now = limit * BEYOND, paths.changes[0]
    first, last = tasks.level[paths.moved[0]], tasks.level[paths.moved[count - 1]]
    for i in range(count):
        v = paths.moved[i]
        end = 0.0
        for j in range(paths.first_in[v], paths.first_in[v + 1]):
            k = paths.inputs[j]
            u = tasks.source[k]
            if paths.change[u] == now:
                end = max(end, paths.new_end[u] + _message(tasks, devices, k, u, v))
            elif tasks.level[u] <= first:
                end = max(end, paths.end[u] + _message(tasks, devices, k, u, v))
        end += seconds_on(tasks, v, devices[v])
        paths.new_end[v] = end
        if end > too_long:
            return True
        for k in range(tasks.first_out[v], tasks.end_out[v]):
            w = tasks.target[k]
            if paths.change[w] != now and tasks.level[w] >= last:
                after = seconds_on(tasks, w, devices[w]) + paths.after[w]
                if end + _message(tasks, devices, k, v, w) + after > too_long:
                    return True
    return False


@bare
def _message(tasks: Columns, devices: Ints, k: int, v: int, w: int) -> float:
    """Return the shortest time of the message of a stream, in seconds."""
    a, b = devices[v], devices[w]
    if a == b or tasks.silent[k]:
        return 0.0
    return message_seconds(tasks, tasks.bits[k], a, b)
