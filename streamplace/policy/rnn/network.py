"""The RNN placer's network: a bidirectional LSTM, and an LSTM decoder with additive attention."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from streamplace.errors import UnsuitableError
from streamplace.policy.base import Constructive
from streamplace.policy.config import RnnSizes
from streamplace.policy.decoding import UNAVAILABLE, Sampler
from streamplace.policy.rnn import features
from streamplace.policy.rnn.features import EncodedProblem, RnnBatch
from streamplace.policy.rnn.state import RnnState
from streamplace.policy.teachers import Teacher
from streamplace.policy.trajectories import Trajectories
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints

MASKED = -1e9  # attention score of padding, where a problem has fewer operators
BOUND, TEMPERATURE = 5.0, 10.0
"""Logits are at most `BOUND`, and a `TEMPERATURE` divides them before."""


class Rnn(Constructive[EncodedProblem, RnnBatch]):
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
        self.config = config
        hidden = config.hidden
        self.encoder = nn.LSTM(
            features.feature_count(config), hidden, batch_first=True, bidirectional=True
        )
        self.decoder = nn.LSTMCell(config.devices, hidden)
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

    def encode(self, problem: Problem) -> EncodedProblem:
        """Compute the features of a problem; see `Policy.encode`."""
        return features.encode(problem, self.config)

    def batch(self, encoded: Sequence[EncodedProblem]) -> RnnBatch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return RnnBatch(encoded, self.torch_device)

    def check(self, problem: Problem) -> None:
        """Raise an UnsuitableError if the problem does not fit the network's inputs and outputs."""
        sizes = self.config
        devices, operators = len(problem.cluster.devices), len(problem.graph.names)
        if devices != sizes.devices:
            raise UnsuitableError(f"this policy requires {sizes.devices} devices (got {devices})")
        outputs = features.most_outputs(problem)
        for what, count, most in (
            ("operators", operators, sizes.operators),
            ("streams out of an operator", outputs, sizes.out_streams),
        ):
            if count > most:
                raise UnsuitableError(f"this policy allows at most {most} {what} (got {count})")
        if unknown := sorted(set(features.labels_of(problem)) - set(sizes.labels)):
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

        Raises
        ------
        UnsuitableError
            If a problem does not fit the network.
        """
        for encoded in batch.encoded:
            self.check(encoded.problem)
        decoding = RnnState(batch, samples, self.config.devices, forced)
        expert = None if teacher is None else teacher.follow(batch.encoded, samples)
        read, state, cell = self._read(batch)
        keys = self.attention["operator"](read).unsqueeze(1)
        padding = torch.where(batch.valid, 0.0, MASKED).unsqueeze(1)
        state, cell = (one.repeat_interleave(samples, dim=0) for one in (state, cell))
        chosen: list[Tensor] = []
        log_prob: list[Tensor] = []
        entropy: list[Tensor] = []
        agreement: list[Tensor] = []
        for t, now in enumerate(decoding.problems):
            rows = decoding.rows[t]
            state, cell = self.decoder(decoding.last(t), (state[:rows], cell[:rows]))
            of_problems = state.view(now, samples, -1)
            weights = self._attention(of_problems, keys[:now], padding[:now])
            logits = self._logits(weights @ read[:now], of_problems)
            logits = logits.masked_fill(~decoding.offered(t), UNAVAILABLE)
            logs = torch.log_softmax(logits, dim=1)
            taken = decoding.take(t, sampler(logs.detach(), samples))
            if teacher is not None and expert is not None:
                devices = taken.cpu().numpy().astype(np.int32)
                best = batch.tensor(expert.judge(decoding.operators(t), devices))
                agreement.append(teacher.agreement(logs, best & (logits > UNAVAILABLE / 2)))
            chosen.append(taken)
            log_prob.append(logs.gather(1, taken.unsqueeze(1)).squeeze(1))
            entropy.append(-(logs.exp() * logs).sum(dim=1))
        return decoding.trajectories(
            torch.cat(chosen),
            torch.cat(log_prob),
            torch.cat(entropy),
            torch.cat(agreement) if agreement else None,
        )

    def _read(self, batch: RnnBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Return the encoder's outputs, (P, T, 2H), and its forward state and cell, (P, H)."""
        sizes = torch.from_numpy(batch.sizes).long()
        packed = pack_padded_sequence(batch.sequence, sizes, batch_first=True)
        outputs, (state, cell) = self.encoder(packed)
        read, _ = pad_packed_sequence(outputs, batch_first=True)
        return read, state[0], cell[0]

    def _attention(self, state: Tensor, keys: Tensor, padding: Tensor) -> Tensor:
        """Return the weights of operators, (P, S, T), for states, (P, S, H).

        Parameters
        ----------
        keys
            (P, 1, T, H) what the operators contribute to the scores.
        padding
            (P, 1, T) added to the scores.
        """
        query = self.attention["state"](state).unsqueeze(2)
        score = self.attention["score"](torch.tanh(keys + query)).squeeze(3)
        return torch.softmax(score + padding, dim=2)

    def _logits(self, context: Tensor, state: Tensor) -> Tensor:
        """Return logits, (R, D), from contexts, (P, S, 2H), and states, (P, S, H)."""
        joined = self.choose(torch.cat([context, state], dim=2).flatten(0, 1))
        return BOUND * torch.tanh(joined / TEMPERATURE)
