"""Simulated annealing of the makespan (Kirkpatrick et al. 1983).

The longest makespan that would be accepted is drawn before a change is evaluated, so that a pass
can be stopped as soon as it exceeds it. Changes move single units, swap two, or move connected
blocks of units.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.rules import NOWHERE, Placed, Rules, may_run
from streamplace.sim.schedule.fifo import (
    FifoMemory,
    begin_change,
    change,
    fifo_makespan,
    is_overloaded,
    keep,
)
from streamplace.sim.schedule.moved_paths import (
    MANY,
    Paths,
    begin_moves,
    begin_paths,
    is_too_long,
    keep_paths,
    move,
)
from streamplace.sim.schedule.ranked import makespan_of
from streamplace.sim.schedule.state import Noise, Order, Run
from streamplace.sim.schedule.task_graph import Columns
from streamplace.sim.search.rng import Word, below, uniform

MAX_BLOCK = 32  # units in a block; a guess, not tuned
# Where constraints leave few feasible changes, the search would never reach its evaluations.
FUTILE = 20  # changes per evaluation, feasible or not, after which to give up


class Shape(NamedTuple):
    """The parts of a problem that changes need."""

    first_member: Ints  # (U + 1,) index of each unit's first operator
    member: Ints  # (V,) operators by unit
    first_neighbour: Ints  # (U + 1,) index of each unit's first neighbour
    neighbour: Ints  # (N,) units that exchange messages with the unit


class Shares(NamedTuple):
    """How often which change is tried; the rest are moves of one unit."""

    swaps: float
    blocks: float
    joins: float  # share of moves whose target is the device of a neighbour
    critical: float  # share of changes of a unit on the critical path


class Leaving(NamedTuple):
    """The limit on operators that leave their current devices; empty arrays if there is none."""

    home: Ints  # (V,) current device of each operator, or -1
    cost: Floats  # (V,) cost of leaving it
    most: float  # largest sum of these costs


NO_LIMIT = Leaving(np.zeros(0, np.int32), np.zeros(0), np.inf)


class Walk(NamedTuple):
    """A placement, and the change of it that is being tried."""

    devices: Ints  # (V,) device of each operator
    placed: Placed
    moved: Ints  # (U,) the units that the change moves
    origin: Ints  # (U,) the device of each before
    taken: Ints  # (1,) number of units that the change moves
    in_block: Ints  # (U,) number of the block that last took each unit
    blocks: Ints  # (1,) number of blocks so far
    critical: Ints  # (V,) operators of the critical path
    length: Ints  # (1,) their number
    leaving: Leaving
    spent: Floats  # (1,) sum of the costs of operators that have left


def shape_of(rules: Rules, source: Ints, target: Ints) -> Shape:
    """Return what changes need: the members and the neighbours of units."""
    units, unit_of = len(rules.row_of), rules.unit_of
    ends = np.unique(np.stack([unit_of[source], unit_of[target]], axis=1), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    ends = np.unique(np.concatenate([ends, ends[:, ::-1]]), axis=0)
    numbers = np.arange(units + 1)
    member = np.argsort(unit_of, kind="stable").astype(np.int32)
    return Shape(
        first_member=np.searchsorted(unit_of[member], numbers).astype(np.int32),
        member=member,
        first_neighbour=np.searchsorted(ends[:, 0], numbers).astype(np.int32),
        neighbour=ends[:, 1].astype(np.int32),
    )


def walk_from(rules: Rules, devices: Ints, leaving: Leaving = NO_LIMIT) -> Walk:
    """Return a walk that starts from a feasible placement, (V,), within the limit, if any."""
    units = len(rules.row_of)
    on = np.zeros(units, np.int32)
    on[rules.unit_of] = devices
    left = rules.room.copy()
    np.subtract.at(left, on, rules.needs)
    ints, has_left = np.int32, np.zeros(0, np.bool_)
    if len(leaving.home):
        has_left = (leaving.home >= 0) & (leaving.home != devices)
    return Walk(
        devices=devices.astype(ints),
        placed=Placed(on, left),
        moved=np.zeros(units, ints),
        origin=np.zeros(units, ints),
        taken=np.zeros(1, ints),
        in_block=np.zeros(units, ints),
        blocks=np.zeros(1, ints),
        critical=np.zeros(len(devices), ints),
        length=np.zeros(1, ints),
        leaving=leaving,
        spent=np.array([leaving.cost[has_left].sum()]),
    )


@bare
def propose(rules: Rules, shape: Shape, shares: Shares, walk: Walk, state: Word) -> bool:
    """Make a random change; return False, with nothing changed, if it is not feasible."""
    units, devices = walk.placed.device.shape[0], rules.room.shape[0]
    if walk.length[0] > 0 and uniform(state) < shares.critical:
        u = rules.unit_of[walk.critical[below(state, walk.length[0])]]
    else:
        u = np.int32(below(state, units))
    a = walk.placed.device[u]
    walk.taken[0] = 0
    kind = uniform(state)
    if kind < shares.swaps:
        return _swap(rules, shape, walk, u, below(state, units))
    b = below(state, devices)
    if uniform(state) < shares.joins:
        degree = shape.first_neighbour[u + 1] - shape.first_neighbour[u]
        if degree > 0:
            i = shape.first_neighbour[u] + below(state, degree)
            b = int(walk.placed.device[shape.neighbour[i]])
    if a == b:
        return False
    if kind < shares.swaps + shares.blocks:
        _grow(rules, shape, walk, u, 2 + below(state, MAX_BLOCK - 1))
    else:
        _take(rules, walk, u)
    for i in range(walk.taken[0]):
        if not may_run(rules, walk.placed, walk.moved[i], b):
            undo(rules, shape, walk)
            return False
        _place(rules, shape, walk, walk.moved[i], b)
    return _is_affordable(rules, shape, walk)


@bare
def _swap(rules: Rules, shape: Shape, walk: Walk, u: int, other: int) -> bool:
    """Swap two units; return False, with nothing changed, if it is not feasible."""
    a, b = walk.placed.device[u], walk.placed.device[other]
    if a == b:
        return False
    _take(rules, walk, u)
    _take(rules, walk, other)
    if may_run(rules, walk.placed, u, b):
        _place(rules, shape, walk, u, b)
        if may_run(rules, walk.placed, other, a):
            _place(rules, shape, walk, other, a)
            return _is_affordable(rules, shape, walk)
    undo(rules, shape, walk)
    return False


@bare
def _is_affordable(rules: Rules, shape: Shape, walk: Walk) -> bool:
    """Return whether the operators that have left stay within the limit; if not, undo."""
    if walk.spent[0] > walk.leaving.most:
        undo(rules, shape, walk)
        return False
    return True


@bare
def undo(rules: Rules, shape: Shape, walk: Walk) -> None:
    """Take the change back."""
    for i in range(walk.taken[0]):
        u = walk.moved[i]
        d = walk.placed.device[u]
        if d != NOWHERE:
            for r in range(rules.needs.shape[1]):
                walk.placed.left[d, r] += rules.needs[u, r]
    for i in range(walk.taken[0]):
        _place(rules, shape, walk, walk.moved[i], walk.origin[i])


@bare
def _grow(rules: Rules, shape: Shape, walk: Walk, u: int, size: int) -> None:
    """Take a connected block of units from one device, breadth first."""
    walk.blocks[0] += 1
    number = walk.blocks[0]
    a = walk.placed.device[u]
    walk.in_block[u] = number
    _take(rules, walk, u)
    i = 0
    while i < walk.taken[0] and walk.taken[0] < size:
        w = walk.moved[i]
        for j in range(shape.first_neighbour[w], shape.first_neighbour[w + 1]):
            other = shape.neighbour[j]
            if walk.placed.device[other] == a and walk.in_block[other] != number:
                walk.in_block[other] = number
                _take(rules, walk, other)
                if walk.taken[0] == size:
                    return
        i += 1


@bare
def _take(rules: Rules, walk: Walk, u: int) -> None:
    d = walk.placed.device[u]
    walk.moved[walk.taken[0]] = u
    walk.origin[walk.taken[0]] = d
    walk.taken[0] += 1
    walk.placed.device[u] = NOWHERE
    for r in range(rules.needs.shape[1]):
        walk.placed.left[d, r] += rules.needs[u, r]


@bare
def _place(rules: Rules, shape: Shape, walk: Walk, u: int, d: int) -> None:
    walk.placed.device[u] = d
    for r in range(rules.needs.shape[1]):
        walk.placed.left[d, r] -= rules.needs[u, r]
    is_limited = walk.leaving.home.shape[0] > 0
    for i in range(shape.first_member[u], shape.first_member[u + 1]):
        v = shape.member[i]
        if is_limited:
            _charge(walk, v, d)
        walk.devices[v] = d


@bare
def _charge(walk: Walk, v: int, d: int) -> None:
    """Adjust what has been spent to the next device of an operator."""
    home = walk.leaving.home[v]
    if home == NOWHERE:
        return
    if walk.devices[v] != home:
        walk.spent[0] -= walk.leaving.cost[v]
    if d != home:
        walk.spent[0] += walk.leaving.cost[v]


@bare
def note_critical(walk: Walk, cause: Ints, last: int) -> None:
    """Keep the operators of the critical path, which ends with the operator `last`."""
    count = 0
    v = last
    while v >= 0:
        walk.critical[count] = v
        count += 1
        v = cause[v]
    walk.length[0] = count


class Cooling(NamedTuple):
    """The parameters of an annealing run.

    A temperature is the relative increase that is accepted with probability 1/e.
    """

    evaluations: int
    hot: float  # initial temperature
    cold: float  # final temperature
    shares: Shares


@kernel
def anneal_fifo(
    tasks: Columns,
    rules: Rules,
    shape: Shape,
    cooling: Cooling,
    enough: float,
    walk: Walk,
    best: Ints,
    memory: FifoMemory,
    paths: Paths,
    state: Word,
) -> tuple[float, int]:
    """Anneal under FIFO, where its own kernel serves the problem.

    Parameters
    ----------
    enough
        Makespan in seconds at which to stop.
    best
        (V,) receives the best placement.

    Returns
    -------
    tuple
        The best makespan in seconds, and the number of evaluations.
    """
    shortest = now = fifo_makespan(tasks, walk.devices, memory, np.inf, memory.load)
    keep(memory)
    begin_paths(tasks, walk.devices, paths, cooling.evaluations)
    note_critical(walk, memory.cause, memory.last[0])
    best[:] = walk.devices
    done, tried = 1, 1
    while done < cooling.evaluations and shortest > enough and tried < FUTILE * cooling.evaluations:
        tried += 1
        if not propose(rules, shape, cooling.shares, walk, state):
            continue
        # Drawn before the pass, which can then end as soon as it is longer.
        limit = _limit(cooling, now, done, state)
        done += 1
        _change_load(tasks, shape, walk, memory)
        makespan = np.inf
        # Both cost a small part of a pass, and reject most changes near the end of a search.
        if not (is_overloaded(memory, limit) or _is_too_long(tasks, shape, walk, paths, limit)):
            makespan = fifo_makespan(tasks, walk.devices, memory, limit, memory.load)
        if makespan > limit:
            undo(rules, shape, walk)
            continue
        now = makespan
        keep(memory)
        keep_paths(tasks, walk.devices, paths)
        note_critical(walk, memory.cause, memory.last[0])
        if makespan < shortest:
            shortest = makespan
            best[:] = walk.devices
    return shortest, done


@bare
def _is_too_long(tasks: Columns, shape: Shape, walk: Walk, paths: Paths, limit: float) -> bool:
    """Return whether a path through operators that the change moves is longer than the limit.

    False if it moves many operators, or if the paths have been given up.
    """
    if paths.credit[0] <= 0:
        return False
    begin_moves(paths)
    count = 0
    for i in range(walk.taken[0]):
        u = walk.moved[i]
        for j in range(shape.first_member[u], shape.first_member[u + 1]):
            if count == MANY:
                return False
            count = move(tasks, paths, shape.member[j], count)
    return is_too_long(tasks, walk.devices, paths, count, limit)


@bare
def _change_load(tasks: Columns, shape: Shape, walk: Walk, memory: FifoMemory) -> None:
    """Compute the work on each device after the change."""
    begin_change(memory)
    for i in range(walk.taken[0]):
        u = walk.moved[i]
        a, b = walk.origin[i], walk.placed.device[u]
        for j in range(shape.first_member[u], shape.first_member[u + 1]):
            change(tasks, memory, shape.member[j], a, b)


@kernel
def anneal_events(
    tasks: Columns,
    order: Order,
    rules: Rules,
    shape: Shape,
    cooling: Cooling,
    enough: float,
    walk: Walk,
    best: Ints,
    run: Run,
    paths: Paths,
    state: Word,
) -> tuple[float, int]:
    """Anneal under any order and network, on the event engine; see `anneal_fifo`."""
    noise = Noise(np.empty(0), np.empty(0))
    shortest = now = makespan_of(tasks, order, noise, walk.devices, run, np.inf)
    begin_paths(tasks, walk.devices, paths, cooling.evaluations)
    _note_critical_events(tasks, walk, run)
    best[:] = walk.devices
    done, tried = 1, 1
    while done < cooling.evaluations and shortest > enough and tried < FUTILE * cooling.evaluations:
        tried += 1
        if not propose(rules, shape, cooling.shares, walk, state):
            continue
        limit = _limit(cooling, now, done, state)
        done += 1
        makespan = np.inf
        if not _is_too_long(tasks, shape, walk, paths, limit):
            makespan = makespan_of(tasks, order, noise, walk.devices, run, limit)
        if makespan > limit:
            undo(rules, shape, walk)
            continue
        now = makespan
        keep_paths(tasks, walk.devices, paths)
        _note_critical_events(tasks, walk, run)
        if makespan < shortest:
            shortest = makespan
            best[:] = walk.devices
    return shortest, done


@bare
def _note_critical_events(tasks: Columns, walk: Walk, run: Run) -> None:
    """Keep the operators that the last one waited for, by device or by input; jobs are left out."""
    count, v = 0, np.int64(run.last[0])
    while v >= 0:
        walk.critical[count] = v
        count += 1
        before = run.cause[v]
        if 0 <= before < tasks.work.shape[0]:
            v = np.int64(before)
        elif run.last_input[v] >= 0:
            v = np.int64(tasks.source[run.last_input[v]])
        else:
            v = np.int64(-1)
    walk.length[0] = count


@bare
def _limit(cooling: Cooling, now: float, done: int, state: Word) -> float:
    """Return the longest makespan that is accepted."""
    progress = done / cooling.evaluations
    temperature = cooling.hot * (cooling.cold / cooling.hot) ** progress
    return float(now * (1.0 - temperature * np.log(1.0 - uniform(state))))
