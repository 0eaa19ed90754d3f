"""GiPH as a policy: relocations chosen from the graph of (operator, device) pairs."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from streamplace.policy.base import Refiner
from streamplace.policy.config import GiphSizes
from streamplace.policy.decoding import Sampler
from streamplace.policy.giph.network import NETWORKS
from streamplace.policy.giph.pairs import MOVES, EncodedProblem, GiphBatch, encode
from streamplace.policy.giph.questions import (
    Question,
    Sight,
    WalkState,
    about_operators,
    about_pairs,
)
from streamplace.policy.giph.walking import (
    Lane,
    Walk,
    choose,
    logits_of,
    replayed,
    scores,
)
from streamplace.policy.trajectories import Trajectories, of_walks
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Evaluator
from streamplace.util.arrays import Ints

NODES = 100_000  # of the graphs whose probabilities are computed at once, to bound memory


class Giph(Refiner[EncodedProblem, GiphBatch]):
    """A policy that relocates one operator at a time, on clusters of any size.

    A step reads the graph of (operator, device) pairs of the current placement and chooses one: the
    operator moves to the device. Pairs that the placement contains already, and those of the
    operator that moved last, are not offered. Operators that constraints keep together move
    together.
    """

    gpu = False  # messages are passed by kernels for the CPU

    def __init__(self, sizes: GiphSizes) -> None:
        super().__init__()
        self.config = sizes
        self.network = NETWORKS[sizes.variant](sizes)

    def encode(self, problem: Problem) -> EncodedProblem:
        """Return the pairs of a problem; see `Policy.encode`."""
        return encode(problem, self.config)

    def batch(self, encoded: Sequence[EncodedProblem]) -> GiphBatch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return GiphBatch(encoded)

    def episode(self, encoded: EncodedProblem) -> int:
        """Return the number of steps of an episode: two per operator."""
        return MOVES * encoded.size

    def rollout(
        self,
        batch: GiphBatch,
        start: Ints,
        steps: Sequence[int],
        sampler: Sampler,
        evaluators: Sequence[Evaluator],
        forced: Ints | None = None,
    ) -> Trajectories:
        """Relocate operators step by step; see `Refiner.rollout`."""
        samples = start.shape[1]
        lanes = [
            Lane(one, start[p, s, : one.size], steps[p], evaluators[p], self._ask)
            for p, one in enumerate(batch.encoded)
            for s in range(samples)
        ]
        takes = forced.reshape(len(lanes), -1, 2) if forced is not None else None
        with torch.inference_mode():
            for t in range(max(steps)):
                rows = [n for n in range(len(lanes)) if t < len(lanes[n].walk.pair)]
                self._step(t, rows, lanes, batch, sampler, takes)
        walks = [lane.walk for lane in lanes]
        if torch.is_grad_enabled():
            return self._trajectories(batch, samples, walks)
        log_prob, entropy = (
            torch.tensor([x for lane in lanes for x in lane.known[part]]) for part in range(2)
        )
        return of_walks(walks, len(batch), samples, log_prob, entropy, self.torch_device)

    def _step(
        self,
        t: int,
        rows: Sequence[int],
        lanes: Sequence[Lane],
        batch: GiphBatch,
        sampler: Sampler,
        forced: Ints | None,
    ) -> None:
        """Take one step of the lanes with these numbers."""
        samples = len(lanes) // len(batch)
        questions = [lanes[n].question() for n in rows]
        logits = logits_of(self.network, questions)
        pairs = choose(logits, questions, sampler, samples)
        for row, n in enumerate(rows):
            if forced is not None and forced[n, t, 1] >= 0:
                pairs[row] = batch.encoded[n // samples].pair(*forced[n, t].tolist())
        log_prob, entropy = (x.tolist() for x in scores(logits, questions, pairs))
        for row, n in enumerate(rows):
            lanes[n].act(t, pairs[row], (log_prob[row], entropy[row]))

    def _ask(self, state: WalkState, sight: Sight) -> Question:
        """Return what a step decides."""
        if not self.config.potential:
            sight = replace(sight, potential=np.zeros_like(sight.potential))
        if self.config.variant == "task-eft":
            return about_operators(state, sight, self.config.waits)
        return about_pairs(state, sight)

    def evaluate(self, batch: GiphBatch, trajectories: Trajectories) -> Trajectories:
        """Recompute the probabilities of trajectories; see `Refiner.evaluate`."""
        walks = trajectories.record
        assert isinstance(walks, list), "trajectories must be this policy's own"
        return self._trajectories(batch, len(walks) // len(batch), walks)

    def _trajectories(self, batch: GiphBatch, samples: int, walks: list[Walk]) -> Trajectories:
        """Return walks as trajectories with differentiable probabilities."""
        log_prob: list[Tensor] = []
        entropy: list[Tensor] = []
        questions: list[Question] = []
        chosen: list[int] = []
        nodes = 0
        for n, walk in enumerate(walks):
            for t, each in enumerate(replayed(batch.encoded[n // samples], walk, self._ask)):
                if questions and nodes + len(each.may) > NODES:
                    self._score(questions, chosen, log_prob, entropy)
                    questions, chosen, nodes = [], [], 0
                questions.append(each)
                chosen.append(int(walk.pair[t]))
                nodes += len(each.may)
        self._score(questions, chosen, log_prob, entropy)
        probabilities = torch.cat(log_prob), torch.cat(entropy)
        return of_walks(walks, len(batch), samples, *probabilities, self.torch_device)

    def _score(
        self,
        questions: list[Question],
        chosen: list[int],
        log_prob: list[Tensor],
        entropy: list[Tensor],
    ) -> None:
        """Append the log-probabilities and entropies of some steps."""
        compute = partial(_scores, self.network, questions, chosen)
        made: Any = checkpoint(compute, use_reentrant=False) if log_prob else compute()
        log_prob.append(made[0])
        entropy.append(made[1])


def _scores(network: torch.nn.Module, questions: list[Question], chosen: list[int]) -> Any:
    return scores(logits_of(network, questions), questions, chosen)
