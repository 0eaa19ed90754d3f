"""Sweeps: one operator after another is placed again, with or without the engine in the loop."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.papers.placeto.layers import ZERO, Single, clear
from streamplace.papers.placeto.network import (
    Differences,
    Memory,
    Problems,
    Weights,
    conclude,
    conclude_back,
    describe,
    embed,
    embed_back,
)
from streamplace.papers.placeto.summaries import Changes, Passing
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import kernel, part
from streamplace.sim.rules import Placed, Rules, may_run, put, take_off
from streamplace.sim.schedule.fifo import FifoMemory, fifo_makespan
from streamplace.sim.schedule.task_graph import Columns

Bools = NDArray[np.bool_]
UNAVAILABLE = np.float32(-1e9)  # logit of a device that is not offered, as in policy.decoding
EXTREME = np.float32(1e6)  # size of the largest logits of devices that are offered


class Walk(NamedTuple):
    """T steps of one sample."""

    operator: Ints  # (T,) operator that each step places
    forced: Ints  # (T,) its device, or -1 where the policy chooses
    devices: Ints  # (T + 1, V) placement before each step, and at the end
    times: Single  # (T + 1, V) start times in seconds, or loads, under these placements
    losses: Floats  # (T + 1,) losses of these placements
    logits: Single  # (T, D)
    chosen: Ints  # (T,)
    done: Ints  # (V,) number of steps so far that placed each operator


class Draws(NamedTuple):
    """The random numbers of T steps, and how they are used, as in `decoding.Sampler`."""

    gumbel: Single  # (T, D)
    explores: Bools  # (T,)
    temperature: float
    greedy: bool
    blind: bool  # whether logits stay 0, because every step explores


def walk_of(operator: Ints, start: Ints, devices: int, forced: Ints | None = None) -> Walk:
    """Return a walk before its first step."""
    steps, operators = len(operator), len(start)
    placements = np.zeros((steps + 1, operators), np.int32)
    placements[0] = start
    return Walk(
        operator=np.ascontiguousarray(operator, np.int32),
        forced=np.full(steps, -1, np.int32) if forced is None else forced.astype(np.int32),
        devices=placements,
        times=np.zeros((steps + 1, operators), np.float32),
        losses=np.zeros(steps + 1),
        logits=np.zeros((steps, devices), np.float32),
        chosen=np.zeros(steps, np.int32),
        done=np.zeros(operators, np.int32),
    )


@kernel
def sweep(
    problem: Problems,
    weights: Weights,
    memory: Memory,
    rules: Rules,
    placed: Placed,
    walk: Walk,
    draws: Draws,
    steps: tuple[int, int],
    tasks: Columns,
    fifo: FifoMemory,
    simulates: bool,
) -> None:
    """Take some steps of a walk.

    Parameters
    ----------
    steps
        The first step, and one past the last.
    tasks, fifo, simulates
        Whether to set times and losses under FIFO, which the fast engine must serve. Otherwise the
        times before each step are set already.
    """
    first, end = steps
    if simulates and first == 0:
        walk.losses[0] = _observe(tasks, fifo, walk.devices[0], walk.times[0])
    for t in range(first, end):
        v, times, before, after = (
            walk.operator[t],
            walk.times[t],
            walk.devices[t],
            walk.devices[t + 1],
        )
        if not draws.blind:
            describe(problem, v, before, walk.done, times, 0, 1, memory.features)
            embed(problem, weights, 1, memory)
            conclude(problem, weights, v, times, 0, 1, memory)
        unit = rules.unit_of[v]
        take_off(rules, placed, unit)
        for d in range(walk.logits.shape[1]):
            offered = may_run(rules, placed, unit, d)
            logit = min(max(memory.sums.logits[0, d], -EXTREME), EXTREME)
            walk.logits[t, d] = logit if offered else UNAVAILABLE
        walk.chosen[t] = walk.forced[t]
        if walk.forced[t] < 0:
            walk.chosen[t] = _chosen(walk.logits, draws, t)
        put(rules, placed, unit, walk.chosen[t])
        for u in range(before.shape[0]):
            after[u] = walk.chosen[t] if rules.unit_of[u] == unit else before[u]
        walk.done[v] += 1
        if simulates and walk.chosen[t] != before[v]:
            walk.losses[t + 1] = _observe(tasks, fifo, after, walk.times[t + 1])
        elif simulates:
            walk.losses[t + 1] = walk.losses[t]
            for u in range(before.shape[0]):
                walk.times[t + 1, u] = times[u]


@kernel
def differentiate(
    problem: Problems,
    weights: Weights,
    memory: Memory,
    change: Differences,
    walk: Walk,
    of_logits: Single,
    states: int,
    gradient: Weights,
) -> None:
    """Add the gradients of all parameters, from those of a walk's logits, (T, D).

    Parameters
    ----------
    states
        B, the number of states whose embeddings are computed together; both memories have room for
        as many.
    """
    steps = of_logits.shape[0]
    for v in range(walk.done.shape[0]):
        walk.done[v] = 0
    for first in range(0, steps, states):
        count = min(states, steps - first)
        for state in range(count):
            t = first + state
            v = walk.operator[t]
            describe(
                problem, v, walk.devices[t], walk.done, walk.times[t], state, count, memory.features
            )
            walk.done[v] += 1
        embed(problem, weights, count, memory)
        _forget(change.ahead, problem.ahead, count)
        _forget(change.back, problem.back, count)
        for state in range(count):
            t = first + state
            conclude(problem, weights, walk.operator[t], walk.times[t], state, count, memory)
            for d in range(of_logits.shape[1]):
                is_cut = abs(memory.sums.logits[0, d]) >= EXTREME
                change.sums.logits[0, d] = ZERO if is_cut else of_logits[t, d]
            conclude_back(
                problem, weights, walk.operator[t], state, count, memory, change, gradient
            )
        embed_back(problem, weights, count, memory, change, gradient)


@part
def _chosen(logits: Single, draws: Draws, t: int) -> int:
    """Return the device of a step; see `learning.policy.decoding.Sampler`."""
    best, most = -1, -np.inf
    for d in range(logits.shape[1]):
        if logits[t, d] <= UNAVAILABLE:
            continue
        value = float(draws.gumbel[t, d])
        if not draws.explores[t]:
            value = float(logits[t, d])
            if not draws.greedy:
                value = value / draws.temperature + draws.gumbel[t, d]
        if value > most:
            best, most = d, value
    return best


@part
def _forget(change: Changes, passing: Passing, states: int) -> None:
    """Clear the gradients of a pass."""
    rows = passing.operator.shape[0] * states
    clear(change.embedding, 0, rows)
    clear(change.message, 0, rows)


@part
def _observe(tasks: Columns, fifo: FifoMemory, devices: Ints, times: Single) -> float:
    """Set the start times of a placement and return its makespan, in seconds."""
    makespan = fifo_makespan(tasks, devices, fifo, np.inf, None)
    for v in range(times.shape[0]):
        times[v] = fifo.ready[v]
    return float(makespan)
