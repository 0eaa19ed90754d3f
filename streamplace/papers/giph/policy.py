"""GiPH as a policy: relocations chosen from the graph of (operator, device) pairs; its walks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.decoding import UNAVAILABLE, Sampler
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.learning.policy.walks import Recorded, Walks
from streamplace.papers.giph.features import MOVES, GiphBatch, GiphProblem, encode
from streamplace.papers.giph.network import NETWORKS, union
from streamplace.papers.giph.questions import (
    Question,
    Sight,
    WalkState,
    about_operators,
    about_pairs,
    sight_of,
)
from streamplace.papers.giph.sizes import GiphSizes
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Evaluator
from streamplace.util.arrays import Ints

Asks: TypeAlias = Callable[[WalkState, Sight], Question]
"""What a step decides in a state."""
PROBABLE = UNAVAILABLE / 2  # logits below are of pairs that are not offered
NODES = 100_000  # of the graphs whose probabilities are computed at once, to bound memory


@dataclass(eq=False)
class GiphWalk(Recorded):
    """The T steps of one sample, and what it takes to compute their probabilities again.

    Attributes
    ----------
    operator, chosen
        (T,) the operator that each step moves, and the device that it moves to.
    pair
        (T,) the pair that each step chooses; -1 if there is none.
    sights
        T values: what each step read.
    """

    operator: Ints
    chosen: Ints
    pair: Ints
    sights: list[Sight] = field(default_factory=list)


class Lane:
    """One walk while it is taken.

    Attributes
    ----------
    walk
        The steps so far.
    known
        The log-probabilities and the entropies of these steps.
    """

    def __init__(
        self, one: GiphProblem, start: Ints, steps: int, evaluator: Evaluator, asks: Asks
    ) -> None:
        self.known: tuple[list[float], list[float]] = ([], [])
        self.walk = GiphWalk(
            operator=np.zeros(steps, np.int32),
            chosen=np.zeros(steps, np.int32),
            pair=np.zeros(steps, np.int32),
            devices=np.zeros((steps + 1, one.size), np.int32),
            losses=np.zeros(steps + 1),
        )
        self._state = WalkState(one, start)
        self._evaluator, self._asks = evaluator, asks
        self._sight: Sight | None = None
        self._record(0)

    def question(self) -> Question:
        """Return what the next step decides."""
        sight = self._sight
        if sight is None or self._is_new:
            sight = self._sight = sight_of(self._state, self._evaluator, sight)
        self.walk.sights.append(sight)
        return self._asks(self._state, sight)

    def act(self, t: int, pair: int, known: tuple[float, float]) -> None:
        """Take step t.

        Parameters
        ----------
        pair
            The pair to choose; -1: none.
        known
            Its log-probability, and the entropy of the step.
        """
        walk, pairs = self.walk, self._state.one.pairs
        walk.pair[t] = pair
        for values, value in zip(self.known, known, strict=True):
            values.append(value)
        walk.operator[t], walk.chosen[t] = 0, self._state.devices[0]
        if pair >= 0:
            walk.operator[t], walk.chosen[t] = pairs.operator[pair], pairs.device[pair]
        step(self._state, walk, t)
        self._record(t + 1)

    def _record(self, t: int) -> None:
        """Record the placement after t steps and its loss."""
        walk, devices = self.walk, self._state.devices
        walk.devices[t] = devices
        self._is_new = t == 0 or not np.array_equal(devices, walk.devices[t - 1])
        walk.losses[t] = self._evaluator.loss(devices)[0] if self._is_new else walk.losses[t - 1]


def step(state: WalkState, walk: GiphWalk, t: int) -> None:
    """Move as step t of a walk does."""
    if walk.pair[t] < 0:
        state.stay()
    else:
        state.move(int(walk.operator[t]), int(walk.chosen[t]))


def replay(one: GiphProblem, walk: GiphWalk, asks: Asks) -> Iterator[Question]:
    """Yield what each step of a walk decided."""
    state = WalkState(one, walk.devices[0])
    for t, sight in enumerate(walk.sights):
        yield asks(state, sight)
        step(state, walk, t)


def logits_of(network: nn.Module, questions: Sequence[Question]) -> Tensor:
    """Return the logits of the nodes of R questions, (R, n), padded with `UNAVAILABLE`."""
    logits: Tensor = network(union([each.view for each in questions]))
    sizes = [len(each.may) for each in questions]
    is_node = torch.arange(max(sizes)) < torch.tensor(sizes)[:, None]
    may = torch.from_numpy(np.concatenate([each.may for each in questions]))
    padded = torch.full(is_node.shape, UNAVAILABLE)
    return padded.masked_scatter(is_node, torch.where(may, logits, UNAVAILABLE))


def choose(
    logits: Tensor, questions: Sequence[Question], sampler: Sampler, samples: int
) -> list[int]:
    """Return the pair that each of R questions is answered with; -1 where none may be chosen.

    Where none may be chosen, the sampler may also choose a column beyond the last node.
    """
    nodes = sampler(logits, samples).tolist()
    return [
        int(each.answer[node]) if node < len(each.may) and each.may[node] else -1
        for each, node in zip(questions, nodes, strict=True)
    ]


def scores(
    logits: Tensor, questions: Sequence[Question], pairs: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Return the log-probability of the pair that each question was answered with, and the entropy.

    Both are (R,), and 0 where no pair could be chosen.
    """
    nodes = torch.tensor([each.node(pair) for each, pair in zip(questions, pairs, strict=True)])
    logs = torch.log_softmax(logits, dim=1)
    is_offered = logits > PROBABLE
    entropy = -(logs.exp() * logs).masked_fill(~is_offered, 0.0).sum(dim=1)
    none = ~is_offered.any(dim=1)
    log_prob = logs.gather(1, nodes.clamp(min=0)[:, None]).squeeze(1)
    log_prob = torch.where(nodes < 0, UNAVAILABLE, log_prob)
    return log_prob.masked_fill(none, 0.0), entropy.masked_fill(none, 0.0)


class Giph(Refiner[GiphProblem, GiphBatch]):
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

    def encode(self, problem: Problem) -> GiphProblem:
        """Return the pairs of a problem; see `Policy.encode`."""
        return encode(problem, self.config)

    def batch(self, encoded: Sequence[GiphProblem]) -> GiphBatch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return GiphBatch(encoded)

    def episode(self, encoded: GiphProblem) -> int:
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

        def begin(one: GiphProblem, placement: Ints, count: int, p: int) -> Lane:
            return Lane(one, placement, count, evaluators[p], self._ask)

        lanes = Walks(batch, start, steps, begin)
        takes = forced.reshape(len(lanes), -1, 2) if forced is not None else None
        with torch.inference_mode():
            for t, rows in lanes.going():
                self._step(t, rows, lanes, batch, sampler, takes)
        walks = [lane.walk for lane in lanes]
        if torch.is_grad_enabled():
            return self._trajectories(batch, samples, walks)
        log_prob, entropy = (
            torch.tensor([x for lane in lanes for x in lane.known[part]]) for part in range(2)
        )
        return Trajectories.of_relocations(walks, len(batch), log_prob, entropy, self.torch_device)

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
        walks = trajectories.walks
        return self._trajectories(batch, len(walks) // len(batch), walks)

    def _trajectories(self, batch: GiphBatch, samples: int, walks: list[GiphWalk]) -> Trajectories:
        """Return walks as trajectories with differentiable probabilities."""
        log_prob: list[Tensor] = []
        entropy: list[Tensor] = []
        questions: list[Question] = []
        chosen: list[int] = []
        nodes = 0
        for n, walk in enumerate(walks):
            for t, each in enumerate(replay(batch.encoded[n // samples], walk, self._ask)):
                if questions and nodes + len(each.may) > NODES:
                    self._score(questions, chosen, log_prob, entropy)
                    questions, chosen, nodes = [], [], 0
                questions.append(each)
                chosen.append(int(walk.pair[t]))
                nodes += len(each.may)
        self._score(questions, chosen, log_prob, entropy)
        probabilities = torch.cat(log_prob), torch.cat(entropy)
        return Trajectories.of_relocations(walks, len(batch), *probabilities, self.torch_device)

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
