"""Placeto (Addanki et al. 2019): a policy that revises one operator's device after another."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.papers.placeto import features
from streamplace.papers.placeto.features import PlacetoBatch, PlacetoProblem
from streamplace.papers.placeto.layers import Single
from streamplace.papers.placeto.network import (
    NAMES,
    OWN,
    Memory,
    Packing,
    Weights,
    differences_of,
    memory_of,
    whole_vectors,
)
from streamplace.papers.placeto.sizes import PlacetoSizes
from streamplace.papers.placeto.sweep import (
    Draws,
    Walk,
    differentiate,
    sweep,
    walk_of,
)
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Evaluator, ScheduleTrace
from streamplace.sim.rules import nothing_placed, put_all
from streamplace.sim.schedule.fifo import fifo_memory
from streamplace.sim.schedule.task_graph import Columns
from streamplace.util.arrays import Floats, Ints

NO_WEIGHTS = Packing(OWN + 1, 1).empty()
"""Weights for walks of `uniform_draws`."""
STATES = 8  # states whose gradients are computed together; more need more memory, and no less time
_PARTS = ("weight", "bias")


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


def walk_from(one: PlacetoProblem, start: Ints, steps: int, forced: Ints | None) -> Walk:
    """Return a walk of T steps from a placement, (V,); sweeps follow one another."""
    operator = np.resize(one.order, steps)
    return walk_of(operator, start, len(one.problem.cluster.devices), forced)


def take(
    one: PlacetoProblem, weights: Weights, walk: Walk, draws: Draws, evaluator: Evaluator
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

    def __init__(self, one: PlacetoProblem, weights: Weights, walk: Walk, draws: Draws) -> None:
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


def evaluated(one: PlacetoProblem, weights: Weights, walk: Walk) -> Walk:
    """Return a walk with the logits of other weights."""
    steps, devices = walk.logits.shape
    again = walk._replace(
        forced=walk.chosen, logits=np.zeros_like(walk.logits), done=np.zeros_like(walk.done)
    )
    draws = draws_of(Sampler(), 1, steps, devices)[0]
    _Run(one, weights, again, draws).steps(0, steps)
    return again


def gradient(
    packing: Packing, weights: Weights, one: PlacetoProblem, walk: Walk, of_logits: Single
) -> dict[str, np.ndarray]:
    """Return the gradients of the parameters by name, from those of a walk's logits, (T, D)."""
    total, states = packing.empty(), min(STATES, len(walk.chosen))
    memory = _memory(one, walk, states)
    change = differences_of(one.arrays, states, packing.length, whole_vectors(packing.devices))
    of_logits = np.ascontiguousarray(of_logits)
    differentiate(one.arrays, weights, memory, change, walk, of_logits, states, total)
    return packing.unpack(total)


@cache
def _no_tasks() -> Columns:
    """Return tasks for walks that are not simulated, so that one compiled function serves both."""
    graph = StreamGraph([Operator("a", 1.0, 1.0), Operator("b", 1.0, 1.0)], [Stream("a", "b")])
    return MakespanEvaluator(Problem(graph, Cluster.equal(1), objective=Makespan())).tasks.columns


def _memory(one: PlacetoProblem, walk: Walk, states: int) -> Memory:
    devices = walk.logits.shape[1]
    return memory_of(one.arrays, states, whole_vectors(OWN + devices), whole_vectors(devices))


class Placeto(Refiner[PlacetoProblem, PlacetoBatch]):
    """The network of the paper, which reads the placement and places one operator.

    An embedding of an operator's d features, h⁰ = MLP(x), is followed by message passing along the
    streams, h_v = h⁰_v + g(Σ f(h_u)) over the sources u of v's inputs, and by the same against
    them, with other functions. The logits of the current operator's devices are

    MLP([e_v : G₁(Σ F₁(e_u)) : G₂(Σ F₂(e_u)) : G₃(Σ F₃(e_u))]),

    where e joins both embeddings, and the sums are over the ancestors, the descendants and the
    parallel operators of v. f, g, F and G have two layers with ReLU after each.

    Its parameters are stored by layer, (L, inputs, outputs) and (L, outputs). Compiled kernels
    compute it: for networks as small as this, calls of torch would take nearly all of the time.
    """

    gpu = False  # its kernels compute on the CPU

    def __init__(self, config: PlacetoSizes) -> None:
        super().__init__()
        self.config, self.device_count = config, config.devices
        length = OWN + config.devices
        self._packing = Packing(length, config.devices)
        for name, shape in self._packing.shapes.items():
            weight = torch.empty(shape.count, len(shape.inputs), len(shape.outputs))
            for layer in weight:
                nn.init.xavier_uniform_(layer)
            self.register_parameter(f"{name}_weight", nn.Parameter(weight))
            bias = torch.zeros(shape.count, len(shape.outputs))
            self.register_parameter(f"{name}_bias", nn.Parameter(bias))

    def encode(self, problem: Problem) -> PlacetoProblem:
        """Compute the features of a problem; see `Policy.encode`."""
        return features.encode(problem, self.config)

    def batch(self, encoded: Sequence[PlacetoProblem]) -> PlacetoBatch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return PlacetoBatch(encoded)

    def episode(self, encoded: PlacetoProblem) -> int:
        """Return the number of steps of a sweep, which visits every operator once."""
        return encoded.size

    def towards(self, encoded: PlacetoProblem, devices: Ints) -> Ints:
        """Return the actions of the sweep that ends in a placement; see `Refiner.towards`."""
        return np.stack([encoded.order, devices[encoded.order]], axis=1)

    def rollout(
        self,
        batch: PlacetoBatch,
        start: Ints,
        steps: Sequence[int],
        sampler: Sampler,
        evaluators: Sequence[Evaluator],
        forced: Ints | None = None,
    ) -> Trajectories:
        """Revise placements step by step; see `Refiner.rollout`.

        Raises
        ------
        UnsuitableError
            If the number of devices of a cluster differs from the network's.
        """
        for one in batch.encoded:
            self.check(one.problem)
        samples, weights = start.shape[1], self._weights()
        tasks = []
        for p, (one, evaluator) in enumerate(zip(batch.encoded, evaluators, strict=True)):
            draws = draws_of(sampler, samples, steps[p], self.config.devices)
            for s in range(samples):
                chosen = None if forced is None else forced[p, s, : steps[p], 1]
                walk = walk_from(one, start[p, s, : one.size], steps[p], chosen)
                tasks.append(partial(take, one, weights, walk, draws[s], evaluator))
        walks: list[Walk] = _each(tasks)
        return self._trajectories(batch, samples, walks, weights)

    def evaluate(self, batch: PlacetoBatch, trajectories: Trajectories) -> Trajectories:
        """Recompute the probabilities of trajectories; see `Refiner.evaluate`."""
        weights, walks = self._weights(), trajectories.walks
        samples = len(walks) // len(batch)
        again: list[Walk] = _each(
            [
                partial(evaluated, batch.encoded[n // samples], weights, walk)
                for n, walk in enumerate(walks)
            ]
        )
        return self._trajectories(batch, samples, again, weights)

    def _weights(self) -> Weights:
        """Return the current parameters for kernels."""
        return self._packing.pack(
            {name: x.detach().cpu().numpy() for name, x in self.named_parameters()}
        )

    def _trajectories(
        self, batch: PlacetoBatch, samples: int, walks: list[Walk], weights: Weights
    ) -> Trajectories:
        """Return walks as trajectories with differentiable probabilities."""
        replays = [(batch.encoded[n // samples], walk) for n, walk in enumerate(walks)]
        parameters = [getattr(self, f"{name}_{part}") for name in NAMES for part in _PARTS]
        arguments = (self._packing, weights, replays, *parameters)
        logits: Tensor = _Logits.apply(*arguments)  # type: ignore[no-untyped-call]
        chosen = np.concatenate([walk.chosen for walk in walks])
        probabilities = Sampler.scores(logits, chosen)
        return Trajectories.of_relocations(walks, len(batch), *probabilities, self.torch_device)


class _Logits(torch.autograd.Function):
    """The logits of walks as a function of the parameters."""

    @staticmethod
    def forward(
        ctx: Any,
        packing: Packing,
        weights: Weights,
        replays: list[tuple[PlacetoProblem, Walk]],
        *parameters: Tensor,
    ) -> Tensor:
        """Return the recorded logits, (N, D), of all steps of all walks."""
        ctx.packing, ctx.weights, ctx.replays = packing, weights, replays
        ctx.device = parameters[0].device
        return torch.from_numpy(np.concatenate([walk.logits for _, walk in replays])).to(ctx.device)

    @staticmethod
    def backward(ctx: Any, *changes: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of the parameters; those of the walks are added in order."""
        lengths = [len(walk.chosen) for _, walk in ctx.replays]
        parts = torch.split(changes[0].cpu(), lengths)
        tasks = [
            partial(gradient, ctx.packing, ctx.weights, one, walk, part.numpy())
            for (one, walk), part in zip(ctx.replays, parts, strict=True)
        ]
        total: dict[str, np.ndarray] = {}
        for found in _each(tasks):
            total = {name: total.get(name, 0.0) + x for name, x in found.items()}
        names = [f"{name}_{part}" for name in NAMES for part in _PARTS]
        return None, None, None, *(torch.from_numpy(total[n]).to(ctx.device) for n in names)


def _each(tasks: Sequence[partial[Any]]) -> list[Any]:
    """Call functions that release the interpreter lock, on as many threads as torch uses."""
    threads = min(torch.get_num_threads(), len(tasks))
    if threads <= 1:
        return [task() for task in tasks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda task: task(), tasks))
