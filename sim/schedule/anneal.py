"""Simulated annealing of the makespan (Kirkpatrick et al. 1983).

The longest makespan that would be accepted is drawn before a change is evaluated, so that a pass
can be stopped as soon as it exceeds it.
"""

from typing import NamedTuple

import numpy as np

from sim.flow import Ints
from sim.jit import bare, kernel
from sim.schedule.engine import run_pass
from sim.schedule.fifo import FifoMemory, fifo_makespan
from sim.schedule.rules import Rules
from sim.schedule.state import Noise, Order, Run
from sim.schedule.task_graph import Columns
from sim.schedule.walk import Shape, Shares, Walk, note_critical, propose, undo
from sim.search.rng import Word, uniform

FUTILE = 20  # changes per evaluation, feasible or not, after which to give up


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
    shortest = now = fifo_makespan(tasks, walk.devices, memory, np.inf)
    note_critical(walk, memory.cause, memory.last[0])
    best[:] = walk.devices
    done, tried = 1, 1
    while done < cooling.evaluations and shortest > enough and tried < FUTILE * cooling.evaluations:
        tried += 1
        if not propose(rules, shape, cooling.shares, walk, state):
            continue
        limit = _limit(cooling, now, done, state)
        makespan = fifo_makespan(tasks, walk.devices, memory, limit)
        done += 1
        if makespan > limit:
            undo(rules, shape, walk)
            continue
        now = makespan
        note_critical(walk, memory.cause, memory.last[0])
        if makespan < shortest:
            shortest = makespan
            best[:] = walk.devices
    return shortest, done


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
    state: Word,
) -> tuple[float, int]:
    """Anneal under any order and network, on the event engine; see `anneal_fifo`."""
    noise = Noise(np.empty(0), np.empty(0))
    shortest = now = run_pass(tasks, order, noise, walk.devices, run, np.inf)
    _note_critical_events(tasks, walk, run)
    best[:] = walk.devices
    done, tried = 1, 1
    while done < cooling.evaluations and shortest > enough and tried < FUTILE * cooling.evaluations:
        tried += 1
        if not propose(rules, shape, cooling.shares, walk, state):
            continue
        limit = _limit(cooling, now, done, state)
        makespan = run_pass(tasks, order, noise, walk.devices, run, limit)
        done += 1
        if makespan > limit:
            undo(rules, shape, walk)
            continue
        now = makespan
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
