"""The decoding state of the device scorer: partial placements and features of the next step."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim.lookahead import (
    CANDIDATE_FEATURES,
    PartialPlacements,
    candidate_features,
    nothing_placed,
    place_next,
)
from streamplace.policy import trajectories
from streamplace.policy.device_scorer.features import ScorerBatch
from streamplace.policy.trajectories import Trajectories
from streamplace.util.arrays import Bools, Ints

CandidateFeatures = NDArray[np.float32]
"""(R', D, F) features of every device with the next operator on it, see `sim.lookahead`."""


class Scores(Protocol):
    """The part of the network that decoding needs."""

    orders: Sequence[int]

    def logits(
        self, operator: Tensor, resident: Tensor, candidates: Tensor, offered: Tensor
    ) -> Tensor:
        """Return the logits of devices, (R, D), for one operator per row."""
        ...


class DecodingState:
    """S partial placements of each of P problems: R = P·S rows, grouped by problem.

    Problems are sorted by size, largest first, so the rows that have an operator left at step t
    are the first R'.

    Parameters
    ----------
    network
        The network that scores devices.
    samples
        S, the number of placements per problem.
    encoded
        Two embeddings of every operator, (V, H) each: the one for scoring it, and the one that is
        added to its device. See `DeviceScorer.embed`.
    """

    def __init__(
        self, network: Scores, batch: ScorerBatch, samples: int, encoded: tuple[Tensor, Tensor]
    ) -> None:
        self.batch, self.samples, self._network = batch, samples, network
        self._operator, self._contribution = encoded
        which = np.array([network.orders[s % len(network.orders)] for s in range(samples)])
        order = batch.orders(which).reshape(len(batch) * samples, -1)
        problem_of_row = np.repeat(np.arange(len(batch), dtype=np.int32), samples)
        self._order = np.ascontiguousarray(order.T)  # (T, R), indices within the problem
        self._at = torch.from_numpy(
            self._order + batch.first_operator[problem_of_row].astype(np.int64)
        )
        self._at = self._at.to(batch.device)
        self._rows = (batch.active(np.arange(len(self._order), dtype=np.int32)) * samples).tolist()
        self._every = torch.arange(len(problem_of_row), device=batch.device)
        self._placed = nothing_placed(batch.lookahead, problem_of_row)
        shape = (len(problem_of_row), batch.columns, self._contribution.shape[1])
        self._resident = torch.zeros(shape, device=batch.device)
        self._scratch = self._new(len(problem_of_row))

    @property
    def steps(self) -> int:
        """T, the number of operators of the largest problem."""
        return len(self._order)

    @property
    def placements(self) -> Ints:
        """(P, S, V) the device of each operator, see `Trajectories`."""
        return self._placed.on.reshape(len(self.batch), self.samples, -1)

    def buffers(self, t: int) -> tuple[CandidateFeatures, Bools]:
        """Return uninitialised arrays for `score` at a step; the next step reuses them."""
        rows = self._rows[t]
        return self._scratch[0][:rows], self._scratch[1][:rows]

    def all_buffers(self) -> tuple[list[CandidateFeatures], list[Bools]]:
        """Return separate uninitialised arrays for `score` at every step."""
        new = [self._new(rows) for rows in self._rows]
        return [candidates for candidates, _ in new], [offered for _, offered in new]

    def fill(self, t: int, candidates: CandidateFeatures, offered: Bools) -> None:
        """Fill arrays with the features of devices at a step and with the devices it offers."""
        candidate_features(
            self.batch.lookahead, self._placed, self.operators_within(t), candidates, offered
        )

    def score(self, t: int, candidates: CandidateFeatures, offered: Bools) -> Tensor:
        """Fill arrays as `fill` does, and return the network's logits, (R', D)."""
        self.fill(t, candidates, offered)
        return self._network.logits(
            self._operator[self.operators(t)],
            self._resident[: len(candidates)],
            torch.from_numpy(candidates).to(self.batch.device),
            torch.from_numpy(offered).to(self.batch.device),
        )

    def take(self, t: int, chosen: Tensor) -> None:
        """Place the operators of a step on devices, (R',)."""
        devices = chosen.cpu().numpy().astype(np.int32)
        place_next(self.batch.lookahead, self._placed, self.operators_within(t), devices)
        rows = self._every[: len(chosen)]
        self._resident.index_put_(
            (rows, chosen), self._contribution[self.operators(t)], accumulate=True
        )

    def keep(self, rows: Tensor) -> None:
        """Continue with these rows, (R,), some of which may repeat."""
        chosen = rows.cpu().numpy()
        self._placed = PartialPlacements(*(column[chosen] for column in self._placed))
        self._resident = self._resident[rows]
        self._order, self._at = np.ascontiguousarray(self._order[:, chosen]), self._at[:, rows]

    def operators(self, t: int) -> Tensor:
        """Return the operators of a step, (R',), as indices into the batch."""
        return self._at[t, : self._rows[t]]

    def of_step(self, t: int, forced: Ints) -> Tensor:
        """Return the entries of (P, S, V) that belong to a step's operators, (R',) int64."""
        local = self.operators_within(t)
        forced_now = forced.reshape(len(self._every), -1)[np.arange(len(local)), local]
        return torch.from_numpy(forced_now.astype(np.int64)).to(self.batch.device)

    def trajectories(
        self, devices: Tensor, log_prob: Tensor, entropy: Tensor, agreement: Tensor | None
    ) -> Trajectories:
        """Return the trajectories of all decisions, (N,), which are ordered by step."""
        return trajectories.of_placements(
            self.placements, self._order, self._rows, devices, log_prob, entropy, agreement
        )

    def operators_within(self, t: int) -> Ints:
        """Return the operators of a step, (R',), as indices within their problems."""
        return self._order[t, : self._rows[t]]

    def _new(self, rows: int) -> tuple[CandidateFeatures, Bools]:
        shape = (rows, self.batch.columns)
        return np.empty((*shape, len(CANDIDATE_FEATURES)), np.float32), np.empty(shape, np.bool_)
