"""The RNN placer's network: a bidirectional LSTM, and a decoder with attention."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from streamplace.errors import UnsuitableError
from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import UNAVAILABLE, Sampler
from streamplace.learning.policy.teachers import Teacher
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.papers.one_order import OneOrderState
from streamplace.papers.rnn.features import (
    RnnBatch,
    RnnProblem,
    encode,
    feature_count,
    labels_of,
    most_outputs,
)
from streamplace.papers.rnn.sizes import RnnSizes
from streamplace.problem.problem import Problem
from streamplace.sim.rules import nothing_placed_in, offer, put_in
from streamplace.util.arrays import Ints

MASKED = -1e9  # attention score of padding, where a problem has fewer operators
BOUND, TEMPERATURE = 5.0, 10.0
"""Logits are at most `BOUND`, and a `TEMPERATURE` divides them before."""


class RnnState(OneOrderState):
    """Partial placements, and the devices that constraints leave; see `OneOrderState`.

    The N decisions of all R rows are ordered by step.
    """

    def __init__(self, batch: RnnBatch, samples: int, devices: int, forced: Ints | None) -> None:
        super().__init__(batch, samples, devices, forced)
        self._rules = [one.rules for one in batch.encoded]
        self._placed = [nothing_placed_in(rules, samples) for rules in self._rules]
        self._offered: list[Tensor] = []
        self._taken: list[Tensor] = []

    def offered(self, t: int) -> Tensor:
        """Return the devices, (R', D) bool, that the operators of a step may go to.

        At least one device of each row is offered.
        """
        now = self.problems[t]
        offered = np.empty((now, self.samples, self._devices), np.bool_)
        for p in range(now):
            offer(self._rules[p], self._placed[p], int(self.order[p, t]), offered[p])
        self._offered.append(self.batch.tensor(offered.reshape(self.rows[t], -1)))
        return self._offered[-1]

    def take(self, t: int, chosen: Tensor) -> Tensor:
        """Place a step's operators on chosen or forced devices, (R',), and return these devices."""
        self._taken.append(super().take(t, chosen))
        for p, v in enumerate(self.order[: self.problems[t], t].tolist()):
            put_in(self._rules[p], self._placed[p], v, self.placements[p, :, v])
        return self._taken[-1]

    @property
    def all_offered(self) -> Tensor:
        """(N, D) bool, the devices that were offered."""
        return torch.cat(self._offered)

    @property
    def all_taken(self) -> Tensor:
        """(N,) the devices that were taken."""
        return torch.cat(self._taken)

    @property
    def decided(self) -> Tensor:
        """(T, R) bool, whether a row has an operator left at a step."""
        counts = torch.tensor(self.rows, device=self.batch.device)
        return torch.arange(self.rows[0], device=self.batch.device) < counts.unsqueeze(1)

    @property
    def all_last(self) -> Tensor:
        """(R, T, D) the device of the step before each step, one-hot; zeros at the start."""
        steps, rows = len(self.rows), self.rows[0]
        last = torch.zeros(steps, rows, self._devices, device=self.batch.device)
        for t, taken in enumerate(self._taken[:-1]):
            last[t + 1, : len(taken)] = one_hot(taken, self._devices).to(last.dtype)
        return last.transpose(0, 1)


class Read(NamedTuple):
    """What the encoder makes of P problems of at most T operators.

    Attributes
    ----------
    outputs
        (P, T, 2H) its outputs in decoding order; 0 beyond the last operator.
    keys
        (P, T, H) what they contribute to the scores of the attention.
    padding
        (P, T) added to these scores.
    state, cell
        (P, H) the final state and cell of the forward direction.
    """

    outputs: Tensor
    keys: Tensor
    padding: Tensor
    state: Tensor
    cell: Tensor

    def first(self, samples: int) -> tuple[Tensor, Tensor]:
        """Return the decoder's first state and cell, (1, P·S, H)."""
        state, cell = (one.repeat_interleave(samples, dim=0) for one in (self.state, self.cell))
        return state.unsqueeze(0), cell.unsqueeze(0)

    def of_first(self, problems: int) -> "Read":
        """Return what it makes of the first problems."""
        return Read(*(one[:problems] for one in self))


class Rnn(Constructive[RnnProblem, RnnBatch]):
    """The network of the paper's baseline; see the README of this folder.

    With e_1 … e_V, the outputs of the encoder for the operators in decoding order,

    s_t = LSTM(device of step t-1 as a one-hot vector, s_t-1)
    a_t = softmax_i(v · tanh(W1 e_i + W2 s_t))
    logits = 5 tanh((W [Σ_i a_ti e_i : s_t] + b) / 10),

    where s_0 is the final state of the encoder's forward direction, and [a : b] is concatenation.
    """

    any_objective = True

    def __init__(self, config: RnnSizes) -> None:
        super().__init__()
        self.config, self.device_count = config, config.devices
        hidden = config.hidden
        self.encoder = nn.LSTM(feature_count(config), hidden, batch_first=True, bidirectional=True)
        self.decoder = nn.LSTM(config.devices, hidden, batch_first=True)
        self.attention = nn.ModuleDict(
            {
                "operator": nn.Linear(2 * hidden, hidden, bias=False),
                "state": nn.Linear(hidden, hidden, bias=False),
                "score": nn.Linear(hidden, 1, bias=False),
            }
        )
        self.choose = nn.Linear(3 * hidden, config.devices)
        nn.init.zeros_(self.choose.bias)
        if config.frozen_attention:
            self.attention.requires_grad_(False)

    def encode(self, problem: Problem) -> RnnProblem:
        """Compute the features of a problem; see `Policy.encode`."""
        return encode(problem, self.config)

    def batch(self, encoded: Sequence[RnnProblem]) -> RnnBatch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return RnnBatch(encoded, self.torch_device)

    def check(self, problem: Problem) -> None:
        """Raise an UnsuitableError if the problem does not fit the network's inputs and outputs."""
        sizes = self.config
        super().check(problem)
        operators = len(problem.graph.names)
        outputs = most_outputs(problem)
        for what, count, most in (
            ("operators", operators, sizes.operators),
            ("streams out of an operator", outputs, sizes.out_streams),
        ):
            if count > most:
                raise UnsuitableError(f"this policy allows at most {most} {what} (got {count})")
        if unknown := sorted(set(labels_of(problem)) - set(sizes.labels)):
            known = ", ".join(sizes.labels) or "none"
            raise UnsuitableError(
                f"operators require the label {unknown[0]!r}, which this policy does not know "
                f"(its labels: {known})"
            )

    def rollout(
        self,
        batch: RnnBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Place every problem `samples` times; see `Constructive.rollout`.

        The devices are chosen one after another without gradients. The probabilities of all steps
        are then computed at once, which takes a fraction of the time.

        Raises
        ------
        UnsuitableError
            If a problem does not fit the network.
        """
        read = self._read(batch)
        decoding, best = self._decode(batch, read, samples, sampler, forced, teacher)
        logits = self._all_logits(read, decoding).masked_fill(~decoding.all_offered, UNAVAILABLE)
        logs = torch.log_softmax(logits, dim=1)
        taken = decoding.all_taken
        agreement = None
        if teacher is not None:
            agreement = teacher.agreement(logs, torch.cat(best) & decoding.all_offered)
        log_prob = logs.gather(1, taken.unsqueeze(1)).squeeze(1)
        entropy = -(logs.exp() * logs).sum(dim=1)
        return decoding.trajectories(taken, log_prob, entropy, agreement)

    def sample(self, batch: RnnBatch, samples: int, sampler: Sampler) -> Ints:
        """Place each of P problems S times without gradients; see `Constructive.sample`."""
        with torch.inference_mode():
            return self._decode(batch, self._read(batch), samples, sampler)[0].placements

    def _decode(
        self,
        batch: RnnBatch,
        read: Read,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> tuple[RnnState, list[Tensor]]:
        """Choose all devices; return them and a teacher's best devices of each step, (R', D)."""
        decoding = RnnState(batch, samples, self.config.devices, forced)
        expert = None if teacher is None else teacher.follow(batch.encoded, samples)
        best: list[Tensor] = []
        with torch.no_grad():
            state, cell = (one[0] for one in read.first(samples))
            weights = self.decoder.all_weights[0]
            for t, now in enumerate(decoding.problems):
                rows = decoding.rows[t]
                memory = state[:rows], cell[:rows]
                state, cell = torch.lstm_cell(decoding.last(t), memory, *weights)
                logits = self._logits(read.of_first(now), state.view(now, samples, 1, -1))
                logits = logits.masked_fill(~decoding.offered(t), UNAVAILABLE)
                taken = decoding.take(t, sampler(logits, samples))
                if expert is not None:
                    devices = taken.cpu().numpy().astype(np.int32)
                    best.append(batch.tensor(expert.judge(decoding.operators(t), devices)))
        return decoding, best

    def _all_logits(self, read: Read, decoding: RnnState) -> Tensor:
        """Return the logits of all decisions, (N, D), ordered by step."""
        problems, samples, steps = decoding.placements.shape
        states, _ = self.decoder(decoding.all_last, read.first(samples))
        logits = self._logits(read, states.view(problems, samples, steps, -1))
        return logits.view(problems * samples, steps, -1).transpose(0, 1)[decoding.decided]

    def _read(self, batch: RnnBatch) -> Read:
        """Return what the encoder makes of problems.

        Raises
        ------
        UnsuitableError
            If a problem does not fit the network.
        """
        for encoded in batch.encoded:
            self.check(encoded.problem)
        sizes = torch.from_numpy(batch.sizes).long()
        packed = pack_padded_sequence(batch.sequence, sizes, batch_first=True)
        packed_outputs, (state, cell) = self.encoder(packed)
        outputs, _ = pad_packed_sequence(packed_outputs, batch_first=True)
        padding = torch.where(batch.valid, 0.0, MASKED)
        return Read(outputs, self.attention["operator"](outputs), padding, state[0], cell[0])

    def _logits(self, read: Read, state: Tensor) -> Tensor:
        """Return logits, (P·S·T', D), from states, (P, S, T', H), at T' steps."""
        query = self.attention["state"](state).unsqueeze(3)
        keys, padding = (one[:, None, None] for one in (read.keys, read.padding))
        score = self.attention["score"](torch.tanh(keys + query)).squeeze(4)
        weights = torch.softmax(score + padding, dim=3)
        context = weights @ read.outputs.unsqueeze(1)
        joined = self.choose(torch.cat([context, state], dim=3).flatten(0, 2))
        return BOUND * torch.tanh(joined / TEMPERATURE)
