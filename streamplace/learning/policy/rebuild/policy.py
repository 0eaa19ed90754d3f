"""The policy that chooses which part of a placement to build anew, and by which rule."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.config import RebuildSizes
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.encoded import SortedBatch
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.learning.policy.walks import Walks
from streamplace.makespan.rebuilding import (
    COUNTS,
    FEATURES,
    RELEVANT,
    Lane,
    RebuildProblem,
    RebuildWalk,
)
from streamplace.placers.base import MAKESPAN
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Evaluator
from streamplace.util.arrays import Ints

RebuildBatch: TypeAlias = SortedBatch[RebuildProblem]

SEEDS = 2**31
STEPS = 2  # of an episode per operator


class Rebuild(Refiner[RebuildProblem, RebuildBatch]):
    """A policy that builds parts of a placement anew with a list scheduler.

    A step chooses a part of the graph, and the weights of messages, of PEFT's optimistic costs and
    of noise by which the list scheduler compares devices (see `makespan.rebuilding`).
    It keeps the result unless the makespan rises. The network reads a few numbers of the problem
    and of the episode so far, and has one hidden layer.
    """

    relocates = False
    gpu = False  # it chooses by NumPy, and its network is too small to gain

    def __init__(self, sizes: RebuildSizes) -> None:
        super().__init__()
        self.config = sizes
        self.hidden = nn.Linear(FEATURES, sizes.hidden)
        self.heads = nn.Linear(sizes.hidden, sum(COUNTS))

    @classmethod
    def uniform(cls) -> "Rebuild":
        """Return a policy whose choices are all equally likely."""
        policy = cls(RebuildSizes())
        for parameter in policy.parameters():
            nn.init.zeros_(parameter)
        return policy

    @classmethod
    def quantities(cls) -> frozenset[str] | None:
        """Return makespans: parts are kept by the ends of their schedules."""
        return MAKESPAN

    def encode(self, problem: Problem) -> RebuildProblem:
        """Return what the policy reads of a problem; see `Policy.encode`.

        Raises
        ------
        ObjectiveError
            If the objective is not the makespan.
        """
        return RebuildProblem.of(problem)

    def batch(self, encoded: Sequence[RebuildProblem]) -> RebuildBatch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return RebuildBatch(encoded)

    def episode(self, encoded: RebuildProblem) -> int:
        """Return the number of steps of an episode: two per operator."""
        return STEPS * encoded.size

    def rollout(
        self,
        batch: RebuildBatch,
        start: Ints,
        steps: Sequence[int],
        sampler: Sampler,
        evaluators: Sequence[Evaluator],
        forced: Ints | None = None,
    ) -> Trajectories:
        """Build parts anew step by step; see `Refiner.rollout`.

        The first part of an action is the seed of the step's random numbers.
        """
        samples = start.shape[1]

        def begin(one: RebuildProblem, placement: Ints, count: int, p: int) -> Lane:
            return Lane(one, placement, count, evaluators[p])

        lanes = Walks(batch, start, steps, begin)
        with torch.inference_mode():
            for t, rows in lanes.going():
                actions = self._actions([lanes[n] for n in rows], t, sampler, samples)
                for row, n in enumerate(rows):
                    action = actions[row]
                    if forced is not None:
                        own = forced[n // samples, n % samples, t]
                        action = np.where(own >= 0, own, action)
                    lanes[n].act(t, action)
        return self._trajectories([lane.walk for lane in lanes], len(batch))

    def evaluate(self, batch: RebuildBatch, trajectories: Trajectories) -> Trajectories:
        """Recompute the probabilities of trajectories; see `Refiner.evaluate`."""
        return self._trajectories(trajectories.walks, len(batch))

    def _actions(self, lanes: Sequence[Lane], t: int, sampler: Sampler, samples: int) -> Ints:
        """Return the actions of some walks, (R, 1 + H)."""
        logits = self._logits(np.stack([lane.features(t) for lane in lanes]))
        seeds = torch.full((len(lanes),), t)
        if sampler.generator is not None:
            seeds = torch.randint(SEEDS, (len(lanes),), generator=sampler.generator)
        chosen = [sampler(part, samples) for part in logits]
        actions: Ints = torch.stack([seeds, *chosen], dim=1).numpy()
        return actions

    def _logits(self, features: np.ndarray) -> Sequence[Tensor]:
        """Return the logits of each head, (N, values), from features, (N, F)."""
        read = torch.from_numpy(features).to(self.heads.weight)
        logits: Tensor = self.heads(torch.tanh(self.hidden(read)))
        return torch.split(logits, COUNTS, dim=1)

    def _trajectories(self, walks: list[RebuildWalk], problems: int) -> Trajectories:
        """Return walks as trajectories with differentiable probabilities."""
        actions = np.concatenate([walk.actions for walk in walks])
        probabilities = self._scores(np.concatenate([walk.features for walk in walks]), actions)
        return Trajectories.of_walks(walks, problems, torch.from_numpy(actions), *probabilities)

    def _scores(self, features: np.ndarray, actions: Ints) -> tuple[Tensor, Tensor]:
        """Return log-probabilities and entropies of actions, (N, 1 + H) each; 0 for seeds."""
        matters = torch.from_numpy(RELEVANT[actions[:, 1]])
        scores = [
            Sampler.scores(logits, actions[:, 1 + head])
            for head, logits in enumerate(self._logits(features))
        ]
        none = torch.zeros(len(actions), 1)
        log_prob, entropy = (
            torch.where(matters, torch.stack(values, dim=1), 0.0)
            for values in zip(*scores, strict=True)
        )
        return torch.cat([none, log_prob], dim=1), torch.cat([none, entropy], dim=1)
