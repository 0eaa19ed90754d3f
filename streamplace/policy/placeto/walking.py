"""Walks of one sample: from kernels under FIFO, step by step under other evaluators."""

import numpy as np
import torch

from sim.schedule.fifo import fifo_memory
from sim.schedule.rules import nothing_placed
from streamplace.policy.decoding import Sampler
from streamplace.policy.placeto.features import EncodedProblem
from streamplace.policy.placeto.kernels.layers import Single
from streamplace.policy.placeto.kernels.network import (
    OWN,
    Memory,
    Weights,
    differences_of,
    memory_of,
)
from streamplace.policy.placeto.kernels.sweep import (
    Draws,
    Walk,
    differentiate,
    replay,
    settle,
    step,
    sweep,
    walk_of,
)
from streamplace.policy.placeto.packing import Packing, padded
from streamplace.scoring.evaluator import Evaluator, ScheduleTrace
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
from streamplace.util.arrays import Floats, Ints

NO_WEIGHTS = Packing(OWN + 1, 1).empty()
"""Weights for walks of `uniform_draws`."""
STATES = 8  # states whose gradients are computed together; more need more memory, and no less time


def draws_of(sampler: Sampler, samples: int, steps: int, devices: int) -> list[Draws]:
    """Return the random numbers of each of S samples of T steps."""
    gumbel, explores = sampler.ahead(samples, steps, devices)
    greedy = sampler.greedy or sampler.generator is None
    return [
        Draws(gumbel[s].numpy(), explores[s].numpy(), float(sampler.temperature), greedy, False)
        for s in range(samples)
    ]


def uniform_draws(generator: torch.Generator, steps: int, devices: int) -> Draws:
    """Return random numbers of T uniformly random steps, which need no network."""
    gumbel, explores = Sampler(generator, exploration=1.0).ahead(1, steps, devices)
    return Draws(gumbel[0].numpy(), explores[0].numpy(), 1.0, False, True)


def walk_from(one: EncodedProblem, start: Ints, steps: int, forced: Ints | None) -> Walk:
    """Return a walk of T steps from a placement, (V,); sweeps follow one another."""
    operator = np.resize(one.order, steps)
    return walk_of(operator, start, len(one.problem.cluster.devices), forced)


def take(
    one: EncodedProblem, weights: Weights, walk: Walk, draws: Draws, evaluator: Evaluator
) -> Walk:
    """Take all steps of a walk and return it."""
    memory, placed = _memory(one, walk, 1), nothing_placed(one.rules)
    settle(one.rules, placed, walk.devices[0])
    if isinstance(evaluator, MakespanEvaluator) and evaluator.is_fast:
        tasks = evaluator.tasks.columns
        sweep(
            one.arrays, weights, memory, one.rules, placed, walk, draws, tasks, fifo_memory(tasks)
        )
        return walk
    _observe(walk, 0, evaluator)
    for t in range(len(walk.chosen)):
        if step(one.arrays, weights, memory, one.rules, placed, walk, draws, t):
            _observe(walk, t + 1, evaluator)
        else:
            walk.times[t + 1], walk.losses[t + 1] = walk.times[t], walk.losses[t]
    return walk


def _observe(walk: Walk, t: int, evaluator: Evaluator) -> None:
    """Set the loss and the times of the placement after t steps."""
    devices = walk.devices[t]
    walk.losses[t] = evaluator.loss(devices)[0]
    walk.times[t] = _times(evaluator, devices)


def _times(evaluator: Evaluator, devices: Ints) -> Floats:
    """Return the start of each operator in seconds; under throughput, the load of its device."""
    trace = evaluator.trace(devices)
    if isinstance(trace, ScheduleTrace):
        return trace.start_s[0]
    return trace.device_loads[0][devices]


def evaluated(one: EncodedProblem, weights: Weights, walk: Walk) -> Walk:
    """Return a walk with the logits of other weights."""
    again = walk._replace(logits=walk.logits.copy(), done=walk.done.copy())
    replay(one.arrays, weights, _memory(one, walk, 1), again)
    return again


def gradient(
    packing: Packing, weights: Weights, one: EncodedProblem, walk: Walk, of_logits: Single
) -> dict[str, np.ndarray]:
    """Return the gradients of the parameters by name, from those of a walk's logits, (T, D)."""
    total, states = packing.empty(), min(STATES, len(walk.chosen))
    memory = _memory(one, walk, states)
    change = differences_of(one.arrays, states, packing.length, packing.devices)
    of_logits = np.ascontiguousarray(of_logits)
    differentiate(one.arrays, weights, memory, change, walk, of_logits, states, total)
    return packing.unpack(total)


def _memory(one: EncodedProblem, walk: Walk, states: int) -> Memory:
    devices = walk.logits.shape[1]
    return memory_of(one.arrays, states, padded(OWN + devices), devices)
