"""Walks of one sample: from kernels under FIFO, step by step under other evaluators."""

from functools import cache

import numpy as np
import torch

from sim.schedule.fifo import fifo_memory
from sim.schedule.rules import nothing_placed, put_all
from sim.schedule.task_graph import Columns
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
    sweep,
    walk_of,
)
from streamplace.policy.placeto.packing import Packing, padded
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
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
    run, steps = _Run(one, weights, walk, draws), len(walk.chosen)
    if isinstance(evaluator, MakespanEvaluator) and evaluator.is_fast:
        run.steps(0, steps, evaluator.tasks.columns)
        return walk
    _observe(walk, 0, evaluator)
    for t in range(steps):
        run.steps(t, t + 1)
        if np.array_equal(walk.devices[t], walk.devices[t + 1]):
            walk.times[t + 1], walk.losses[t + 1] = walk.times[t], walk.losses[t]
        else:
            _observe(walk, t + 1, evaluator)
    return walk


class _Run:
    """The state of a walk between its steps."""

    def __init__(self, one: EncodedProblem, weights: Weights, walk: Walk, draws: Draws) -> None:
        self._placed = nothing_placed(one.rules)
        put_all(one.rules, self._placed, walk.devices[0])
        memory = _memory(one, walk, 1)
        self._arguments = (one.arrays, weights, memory, one.rules, self._placed, walk, draws)

    def steps(self, first: int, end: int, tasks: Columns | None = None) -> None:
        """Take some steps; with tasks, simulate each."""
        columns = _no_tasks() if tasks is None else tasks
        fifo = fifo_memory(columns)
        sweep(*self._arguments, (first, end), columns, fifo, tasks is not None)


def _observe(walk: Walk, t: int, evaluator: Evaluator) -> None:
    """Set the loss and the times of the placement after t steps."""
    devices = walk.devices[t]
    walk.losses[t] = evaluator.loss(devices)[0]
    walk.times[t] = _times(evaluator, devices)


def _times(evaluator: Evaluator, devices: Ints) -> Floats:
    """Return the start of each operator in seconds; under throughput, the load of its device."""
    trace = evaluator.trace(devices)
    if isinstance(trace, ScheduleTrace):
        starts: Floats = trace.start_s[0]
        return starts
    loads: Floats = trace.device_loads[0][devices]
    return loads


def evaluated(one: EncodedProblem, weights: Weights, walk: Walk) -> Walk:
    """Return a walk with the logits of other weights."""
    steps, devices = walk.logits.shape
    again = walk._replace(
        forced=walk.chosen, logits=np.zeros_like(walk.logits), done=np.zeros_like(walk.done)
    )
    draws = draws_of(Sampler(), 1, steps, devices)[0]
    _Run(one, weights, again, draws).steps(0, steps)
    return again


def gradient(
    packing: Packing, weights: Weights, one: EncodedProblem, walk: Walk, of_logits: Single
) -> dict[str, np.ndarray]:
    """Return the gradients of the parameters by name, from those of a walk's logits, (T, D)."""
    total, states = packing.empty(), min(STATES, len(walk.chosen))
    memory = _memory(one, walk, states)
    change = differences_of(one.arrays, states, packing.length, padded(packing.devices))
    of_logits = np.ascontiguousarray(of_logits)
    differentiate(one.arrays, weights, memory, change, walk, of_logits, states, total)
    return packing.unpack(total)


@cache
def _no_tasks() -> Columns:
    """Return tasks for walks that are not simulated, so that one compiled function serves both."""
    graph = StreamGraph([Operator("a", 1.0, 1.0), Operator("b", 1.0, 1.0)], [Stream("a", "b")])
    return MakespanEvaluator(Problem(graph, Cluster.equal(1), objective=Makespan())).tasks.columns


def _memory(one: EncodedProblem, walk: Walk, states: int) -> Memory:
    devices = walk.logits.shape[1]
    return memory_of(one.arrays, states, padded(OWN + devices), padded(devices))
