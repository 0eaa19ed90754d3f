"""Batches of the device scorer as tensors, and the state of decoding them."""

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from streamplace.policy import trajectories
from streamplace.policy.device_scorer.features import EncodedProblem, ScorerArrays
from streamplace.policy.device_scorer.partial import CandidateFeatures, PartialRows
from streamplace.policy.graph_batch import GraphBatch
from streamplace.policy.trajectories import Trajectories
from streamplace.util.arrays import Bools, Ints


class ScorerBatch(GraphBatch[EncodedProblem]):
    """P problems, with V operators and E streams in all, as tensors for the device scorer.

    Attributes
    ----------
    arrays
        The same problems as arrays.
    operators, streams, totals, even_share
        See `ScorerArrays`.
    """

    def __init__(
        self, encoded: Sequence[EncodedProblem], device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(encoded, device)
        self.arrays = ScorerArrays(encoded)
        self.operators = self.tensor(self.arrays.operators)
        self.streams = self.tensor(self.arrays.streams)
        self.totals = self.tensor(self.arrays.totals)
        self.even_share = self.tensor(self.arrays.even_share)

    @cached_property
    def inputs(self) -> Tensor:
        """(V, 1) the number of streams into each operator, at least 1."""
        return self._ends(self.target)

    @cached_property
    def outputs(self) -> Tensor:
        """(V, 1) the number of streams out of each operator, at least 1."""
        return self._ends(self.source)

    def _ends(self, operators: Tensor) -> Tensor:
        count = torch.bincount(operators, minlength=len(self.operators))
        return count.clamp(min=1).unsqueeze(1).to(self.operators.dtype)


class Scores(Protocol):
    """The part of the network that decoding needs."""

    orders: Sequence[int]

    def logits(
        self, operator: Tensor, resident: Tensor, candidates: Tensor, offered: Tensor
    ) -> Tensor:
        """Return the logits of devices, (R, D), for one operator per row."""
        ...


class DecodingState(PartialRows):
    """Partial placements whose next devices a network scores in torch.

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
        super().__init__(batch, batch.arrays.lookahead, network.orders, samples)
        self.batch, self._network = batch, network
        self._operator, self._contribution = encoded
        self._at = batch.tensor(self.in_batch())
        rows = self._at.shape[1]
        self._every = torch.arange(rows, device=batch.device)
        shape = (rows, batch.columns, self._contribution.shape[1])
        self._resident = torch.zeros(shape, device=batch.device)

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
        self.place(t, chosen.cpu().numpy().astype(np.int32))
        rows = self._every[: len(chosen)]
        self._resident.index_put_(
            (rows, chosen), self._contribution[self.operators(t)], accumulate=True
        )

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
