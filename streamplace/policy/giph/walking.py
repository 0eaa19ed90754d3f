"""Walks: sequences of relocations, several at once, and their states again afterwards."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.policy.decoding import UNAVAILABLE, Sampler
from streamplace.policy.giph.network import union
from streamplace.policy.giph.pairs import EncodedProblem
from streamplace.policy.giph.potentials import sight_of
from streamplace.policy.giph.questions import Question, Sight, WalkState
from streamplace.scoring.evaluator import Evaluator
from streamplace.util.arrays import Floats, Ints

Asks: TypeAlias = Callable[[WalkState, Sight], Question]
"""What a step decides in a state."""
PROBABLE = UNAVAILABLE / 2  # logits below are of pairs that are not offered


@dataclass
class Walk:
    """The T steps of one sample, and what it takes to compute their probabilities again.

    Attributes
    ----------
    operator, chosen
        (T,) the operator that each step moves, and the device that it moves to.
    pair
        (T,) the pair that each step chooses; -1 if there is none.
    devices
        (T + 1, V) the placement before each step, and at the end.
    losses
        (T + 1,) their losses.
    sights
        T values: what each step read.
    """

    operator: Ints
    chosen: Ints
    pair: Ints
    devices: Ints
    losses: Floats
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
        self, one: EncodedProblem, start: Ints, steps: int, evaluator: Evaluator, asks: Asks
    ) -> None:
        self.known: tuple[list[float], list[float]] = ([], [])
        self.walk = Walk(
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


def step(state: WalkState, walk: Walk, t: int) -> None:
    """Move as step t of a walk does."""
    if walk.pair[t] < 0:
        state.stay()
    else:
        state.move(int(walk.operator[t]), int(walk.chosen[t]))


def replayed(one: EncodedProblem, walk: Walk, asks: Asks) -> Iterator[Question]:
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
