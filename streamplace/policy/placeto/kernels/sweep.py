"""Sweeps: one operator after another is placed again, with or without the engine in the loop."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.flow import Floats, Ints
from sim.jit import kernel, part
from sim.schedule.fifo import FifoMemory, fifo_makespan
from sim.schedule.rules import NOWHERE, Placed, Rules, may_run, put
from sim.schedule.task_graph import Columns
from streamplace.policy.placeto.kernels.layers import Single, clear
from streamplace.policy.placeto.kernels.messages import Changes, Passing
from streamplace.policy.placeto.kernels.network import (
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

Bools = NDArray[np.bool_]
UNAVAILABLE = np.float32(-1e9)  # logit of a device that is not offered, as in policy.decoding


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
    """The random numbers of T steps, and how they are used; see `policy.decoding.Sampler`."""

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
def settle(rules: Rules, placed: Placed, devices: Ints) -> None:
    """Record a placement, (V,), in the state of the constraints."""
    for v in range(devices.shape[0]):
        put(rules, placed, rules.unit_of[v], devices[v])


@kernel
def sweep(
    problem: Problems,
    weights: Weights,
    memory: Memory,
    rules: Rules,
    placed: Placed,
    walk: Walk,
    draws: Draws,
    tasks: Columns,
    fifo: FifoMemory,
) -> None:
    """Take all steps of a walk under FIFO, which the fast engine must serve."""
    steps = walk.operator.shape[0]
    _observe(walk, 0, tasks, fifo)
    for t in range(steps):
        changed = _step(problem, weights, memory, rules, placed, walk, draws, t)
        if changed:
            _observe(walk, t + 1, tasks, fifo)
        else:
            walk.times[t + 1] = walk.times[t]
            walk.losses[t + 1] = walk.losses[t]


@kernel
def step(
    problem: Problems,
    weights: Weights,
    memory: Memory,
    rules: Rules,
    placed: Placed,
    walk: Walk,
    draws: Draws,
    t: int,
) -> bool:
    """Take one step, after its times were set; return whether the placement has changed."""
    return _step(problem, weights, memory, rules, placed, walk, draws, t)


@kernel
def replay(problem: Problems, weights: Weights, memory: Memory, walk: Walk) -> None:
    """Set the logits of a walk again; devices that are not offered stay so."""
    walk.done[:] = 0
    for t in range(walk.operator.shape[0]):
        v, times = walk.operator[t], walk.times[t]
        describe(problem, v, walk.devices[t], walk.done, times, 0, 1, memory.features)
        embed(problem, weights, 1, memory)
        conclude(problem, weights, v, times, 0, 1, memory)
        for d in range(walk.logits.shape[1]):
            if walk.logits[t, d] > UNAVAILABLE:
                walk.logits[t, d] = memory.sums.logits[0, d]
        walk.done[v] += 1


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
    walk.done[:] = 0
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
                change.sums.logits[0, d] = of_logits[t, d]
            conclude_back(
                problem, weights, walk.operator[t], state, count, memory, change, gradient
            )
        embed_back(problem, weights, count, memory, change, gradient)


@kernel
def _step(
    problem: Problems,
    weights: Weights,
    memory: Memory,
    rules: Rules,
    placed: Placed,
    walk: Walk,
    draws: Draws,
    t: int,
) -> bool:
    v, times, before, after = walk.operator[t], walk.times[t], walk.devices[t], walk.devices[t + 1]
    if not draws.blind:
        describe(problem, v, before, walk.done, times, 0, 1, memory.features)
        embed(problem, weights, 1, memory)
        conclude(problem, weights, v, times, 0, 1, memory)
    unit, old = rules.unit_of[v], before[v]
    _lift(rules, placed, unit)
    for d in range(walk.logits.shape[1]):
        offered = may_run(rules, placed, unit, d)
        walk.logits[t, d] = memory.sums.logits[0, d] if offered else UNAVAILABLE
    new = walk.forced[t]
    if new < 0:
        new = _chosen(walk.logits[t], draws, t)
    put(rules, placed, unit, new)
    for u in range(before.shape[0]):
        after[u] = new if rules.unit_of[u] == unit else before[u]
    walk.chosen[t] = new
    walk.done[v] += 1
    return bool(new != old)


@part
def _lift(rules: Rules, placed: Placed, unit: int) -> None:
    """Take a unit off its device."""
    d = placed.device[unit]
    placed.device[unit] = NOWHERE
    for r in range(rules.needs.shape[1]):
        placed.left[d, r] += rules.needs[unit, r]


@part
def _chosen(logits: Single, draws: Draws, t: int) -> int:
    """Return the device of a step; see `policy.decoding.Sampler`."""
    best, most = -1, -np.inf
    for d in range(logits.shape[0]):
        if logits[d] <= UNAVAILABLE:
            continue
        value = float(draws.gumbel[t, d])
        if not draws.explores[t]:
            value = float(logits[d])
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


@kernel
def _observe(walk: Walk, t: int, tasks: Columns, fifo: FifoMemory) -> None:
    walk.losses[t] = fifo_makespan(tasks, walk.devices[t], fifo, np.inf)
    for v in range(fifo.ready.shape[0]):
        walk.times[t, v] = fifo.ready[v]
