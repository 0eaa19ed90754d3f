"""The state of decoding: placements so far, and the features of the next operator."""

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

Seen = NDArray[np.float32]


class Scores(Protocol):
    """What decoding asks: one network, the same for every device."""

    orders: Sequence[int]

    def logits(self, operator: Tensor, resident: Tensor, seen: Tensor, offered: Tensor) -> Tensor:
        """Score the devices, (R, D), for one operator a row."""
        ...


class DecodingState:
    """S placements of each of P problems; R = P·S rows, a problem's side by side.

    At step t the first rows have an operator left: problems come largest first.

    Parameters
    ----------
    encoded
        (V, H) what scoring needs of every operator, and (V, H) what it leaves on its device.
    """

    def __init__(
        self, network: Scores, batch: ScorerBatch, samples: int, encoded: tuple[Tensor, Tensor]
    ) -> None:
        self.batch, self.samples, self._network = batch, samples, network
        self._operator, self._left = encoded
        which = np.array([network.orders[s % len(network.orders)] for s in range(samples)])
        order = batch.orders(which).reshape(len(batch) * samples, -1)
        problem_of_row = np.repeat(np.arange(len(batch), dtype=np.int32), samples)
        self._order = np.ascontiguousarray(order.T)  # (T, R), numbered within the problem
        self._at = torch.from_numpy(
            self._order + batch.first_operator[problem_of_row].astype(np.int64)
        )
        self._at = self._at.to(batch.device)
        self._rows = (batch.active(np.arange(len(self._order), dtype=np.int32)) * samples).tolist()
        self._every = torch.arange(len(problem_of_row), device=batch.device)
        self._grown = nothing_placed(batch.lookahead, problem_of_row)
        shape = (len(problem_of_row), batch.columns, self._left.shape[1])
        self._resident = torch.zeros(shape, device=batch.device)
        self._scratch = self._new(len(problem_of_row))

    @property
    def steps(self) -> int:
        """T, operators of the largest problem."""
        return len(self._order)

    @property
    def placements(self) -> Ints:
        """(P, S, V), see `Trajectories`."""
        return self._grown.on.reshape(len(self.batch), self.samples, -1)

    def room(self, t: int) -> tuple[Seen, Bools]:
        """Return arrays for what is seen at a step; the next step uses them again."""
        rows = self._rows[t]
        return self._scratch[0][:rows], self._scratch[1][:rows]

    def room_for_all(self) -> tuple[list[Seen], list[Bools]]:
        """Return arrays for what is seen at every step."""
        new = [self._new(rows) for rows in self._rows]
        return [seen for seen, _ in new], [offered for _, offered in new]

    def look(self, t: int, seen: Seen, offered: Bools) -> None:
        """Fill in what each device would be like at a step; see `sim.lookahead`."""
        candidate_features(
            self.batch.lookahead, self._grown, self.operators_within(t), seen, offered
        )

    def ask(self, t: int, seen: Seen, offered: Bools) -> Tensor:
        """Look, and return the network's logits, (R', D)."""
        self.look(t, seen, offered)
        return self._network.logits(
            self._operator[self.operators(t)],
            self._resident[: len(seen)],
            torch.from_numpy(seen).to(self.batch.device),
            torch.from_numpy(offered).to(self.batch.device),
        )

    def take(self, t: int, chosen: Tensor) -> None:
        """Place the operators of a step on devices, (R',)."""
        devices = chosen.cpu().numpy().astype(np.int32)
        place_next(self.batch.lookahead, self._grown, self.operators_within(t), devices)
        rows = self._every[: len(chosen)]
        self._resident.index_put_((rows, chosen), self._left[self.operators(t)], accumulate=True)

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows, (R,), which may repeat."""
        chosen = rows.cpu().numpy()
        self._grown = PartialPlacements(*(column[chosen] for column in self._grown))
        self._resident = self._resident[rows]
        self._order, self._at = np.ascontiguousarray(self._order[:, chosen]), self._at[:, rows]

    def operators(self, t: int) -> Tensor:
        """Return the operators of a step, (R',), numbered through the batch."""
        return self._at[t, : self._rows[t]]

    def of_step(self, t: int, forced: Ints) -> Tensor:
        """Return the entries of (P, S, V) that belong to a step's operators, (R',) int64."""
        local = self.operators_within(t)
        forced_now = forced.reshape(len(self._every), -1)[np.arange(len(local)), local]
        return torch.from_numpy(forced_now.astype(np.int64)).to(self.batch.device)

    def trajectories(
        self, devices: Tensor, log_prob: Tensor, entropy: Tensor, agreement: Tensor | None
    ) -> Trajectories:
        """Return the trajectories of all decisions, (N,) step after step."""
        return trajectories.of_placements(
            self.placements, self._order, self._rows, devices, log_prob, entropy, agreement
        )

    def operators_within(self, t: int) -> Ints:
        """Return the operators of a step, (R',), numbered within their problems."""
        return self._order[t, : self._rows[t]]

    def _new(self, rows: int) -> tuple[Seen, Bools]:
        shape = (rows, self.batch.columns)
        return np.empty((*shape, len(CANDIDATE_FEATURES)), np.float32), np.empty(shape, np.bool_)
