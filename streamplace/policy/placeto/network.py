"""Placeto (Addanki et al. 2019): a policy that revises one operator's device after another."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.policy.base import Refiner
from streamplace.policy.config import PlacetoSizes
from streamplace.policy.decoding import Sampler
from streamplace.policy.device_counts import check_devices
from streamplace.policy.placeto import features, walking
from streamplace.policy.placeto.features import EncodedProblem, PlacetoBatch
from streamplace.policy.placeto.kernels.network import OWN, Weights
from streamplace.policy.placeto.kernels.sweep import Walk
from streamplace.policy.placeto.packing import NAMES, Packing
from streamplace.policy.trajectories import Trajectories, of_choices, of_walks
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Evaluator
from streamplace.util.arrays import Ints


class Placeto(Refiner[EncodedProblem, PlacetoBatch]):
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
        self.config = config
        length = OWN + config.devices
        self._packing = Packing(length, config.devices)
        for name, shape in self._packing.shapes.items():
            weight = torch.empty(shape.count, len(shape.inputs), len(shape.outputs))
            for layer in weight:
                nn.init.xavier_uniform_(layer)
            self.register_parameter(f"{name}_weight", nn.Parameter(weight))
            bias = torch.zeros(shape.count, len(shape.outputs))
            self.register_parameter(f"{name}_bias", nn.Parameter(bias))

    def encode(self, problem: Problem) -> EncodedProblem:
        """Compute the features of a problem; see `Policy.encode`."""
        return features.encode(problem, self.config)

    def batch(self, encoded: Sequence[EncodedProblem]) -> PlacetoBatch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return PlacetoBatch(encoded)

    def check(self, problem: Problem) -> None:
        """Raise an UnsuitableError if the number of devices differs from the network's outputs."""
        check_devices(problem, self.config.devices)

    def episode(self, encoded: EncodedProblem) -> int:
        """Return the number of steps of a sweep, which visits every operator once."""
        return encoded.size

    def towards(self, encoded: EncodedProblem, devices: Ints) -> Ints:
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
            draws = walking.draws_of(sampler, samples, steps[p], self.config.devices)
            for s in range(samples):
                chosen = None if forced is None else forced[p, s, : steps[p], 1]
                walk = walking.walk_from(one, start[p, s, : one.size], steps[p], chosen)
                tasks.append(partial(walking.take, one, weights, walk, draws[s], evaluator))
        walks: list[Walk] = _each(tasks)
        return self._trajectories(batch, samples, walks, weights)

    def evaluate(self, batch: PlacetoBatch, trajectories: Trajectories) -> Trajectories:
        """Recompute the probabilities of trajectories; see `Refiner.evaluate`."""
        weights, walks = self._weights(), trajectories.record
        assert isinstance(walks, list), "trajectories must be this policy's own"
        samples = len(walks) // len(batch)
        again: list[Walk] = _each(
            [
                partial(walking.evaluated, batch.encoded[n // samples], weights, walk)
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
        probabilities = of_choices(logits, chosen)
        return of_walks(walks, len(batch), samples, *probabilities, self.torch_device)


_PARTS = ("weight", "bias")


class _Logits(torch.autograd.Function):
    """The logits of walks as a function of the parameters."""

    @staticmethod
    def forward(
        ctx: Any,
        packing: Packing,
        weights: Weights,
        replays: list[tuple[EncodedProblem, Walk]],
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
            partial(walking.gradient, ctx.packing, ctx.weights, one, walk, part.numpy())
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
