"""Walks: sequences of relocations, several at once, and their states again afterwards."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.policy.decoding import UNAVAILABLE, Sampler
from streamplace.policy.giph.encode import EncodedProblem
from streamplace.policy.giph.kernels.view import View
from streamplace.policy.giph.potentials import Times, potentials
from streamplace.policy.giph.state import WalkState
from streamplace.policy.giph.union import union
from streamplace.scoring.evaluator import Evaluator
from streamplace.util.arrays import Bools, Floats, Ints

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
    potential
        T arrays, (N,), of the last feature of each pair.
    """

    operator: Ints
    chosen: Ints
    pair: Ints
    devices: Ints
    losses: Floats
    potential: list[Floats] = field(default_factory=list)


@dataclass
class Question:
    """What a policy decides in one step: a graph, and the nodes that may be chosen.

    Attributes
    ----------
    view
        The graph.
    may
        (n,) which nodes may be chosen.
    """

    view: View
    may: Bools


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
        self,
        one: EncodedProblem,
        start: Ints,
        steps: int,
        evaluator: Evaluator,
        reads_potential: bool,
    ) -> None:
        self.one, self.evaluator = one, evaluator
        self.state = WalkState(one, start)
        self.walk = Walk(
            operator=np.zeros(steps, np.int32),
            chosen=np.zeros(steps, np.int32),
            pair=np.zeros(steps, np.int32),
            devices=np.zeros((steps + 1, one.size), np.int32),
            losses=np.zeros(steps + 1),
        )
        self.known: tuple[list[float], list[float]] = ([], [])
        self._reads_potential = reads_potential
        self._times: Times | None = None
        self._observe(0)

    def question(self) -> Question:
        """Return what the next step decides."""
        is_offered = self.state.offered()
        potential = np.zeros(len(is_offered))
        if self._reads_potential:
            potential = potentials(self.one, self.state, self._times, is_offered)
        self.walk.potential.append(potential)
        return question(self.state, potential, is_offered)

    def act(self, t: int, pair: int, known: tuple[float, float]) -> None:
        """Take step t.

        Parameters
        ----------
        pair
            The pair to choose; -1: none.
        known
            Its log-probability, and the entropy of the step.
        """
        walk, pairs = self.walk, self.one.pairs
        for values, value in zip(self.known, known, strict=True):
            values.append(value)
        walk.pair[t] = pair
        if pair < 0:
            walk.operator[t], walk.chosen[t] = 0, self.state.devices[0]
            self.state.stay()
            walk.devices[t + 1], walk.losses[t + 1] = walk.devices[t], walk.losses[t]
            return
        walk.operator[t], walk.chosen[t] = pairs.operator[pair], pairs.device[pair]
        self.state.move(int(walk.operator[t]), int(walk.chosen[t]))
        self._observe(t + 1)

    def _observe(self, t: int) -> None:
        """Record the placement after t steps and its loss."""
        self.walk.devices[t] = self.state.devices
        self.walk.losses[t] = self.evaluator.loss(self.state.devices)[0]
        if self.one.is_pass and self._reads_potential:
            self._times = Times(self.evaluator, self.state)


def question(state: WalkState, potential: Floats, is_offered: Bools) -> Question:
    """Return what a step decides in a state."""
    view = state.view(potential, is_offered)
    return Question(view, state.movable()[view.pair])


def replayed(one: EncodedProblem, walk: Walk) -> Iterator[Question]:
    """Yield what each step of a walk decided."""
    state = WalkState(one, walk.devices[0])
    for t, potential in enumerate(walk.potential):
        yield question(state, potential, state.offered())
        if walk.pair[t] < 0:
            state.stay()
        else:
            state.move(int(walk.operator[t]), int(walk.chosen[t]))


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
    """Return the pair that each of R questions is answered with; -1 where none may be chosen."""
    nodes = sampler(logits, samples).tolist()
    return [
        int(each.view.pair[node]) if each.may[node] else -1
        for each, node in zip(questions, nodes, strict=True)
    ]


def scores(
    logits: Tensor, questions: Sequence[Question], pairs: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Return the log-probability of the pair that each question was answered with, and the entropy.

    Both are (R,), and 0 where no pair could be chosen.
    """
    nodes = torch.tensor([node_of(each, pair) for each, pair in zip(questions, pairs, strict=True)])
    logs = torch.log_softmax(logits, dim=1)
    offered = logits > PROBABLE
    entropy = -(logs.exp() * logs).masked_fill(~offered, 0.0).sum(dim=1)
    none = ~offered.any(dim=1)
    log_prob = logs.gather(1, nodes.clamp(min=0)[:, None]).squeeze(1)
    log_prob = torch.where(nodes < 0, UNAVAILABLE, log_prob)
    return log_prob.masked_fill(none, 0.0), entropy.masked_fill(none, 0.0)


def node_of(each: Question, pair: int) -> int:
    """Return the node of a pair; -1 if it is not part of the graph."""
    node = int(np.searchsorted(each.view.pair, pair))
    return node if node < len(each.view.pair) and each.view.pair[node] == pair else -1
