"""Devices chosen so far in one decoding order, of networks with an output for each device."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from streamplace.learning.policy.graph_batch import GraphBatch
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.util.arrays import Ints


class OneOrderState:
    """S partial placements of each of P problems on D devices, in the first decoding order.

    There are S rows per problem. At step t the first `rows[t]` rows have an operator left.

    Parameters
    ----------
    samples
        S, the number of placements per problem.
    devices
        D, the number of devices of every cluster.
    forced
        (P, S, V) devices to use instead of chosen ones; -1 where the network chooses.

    Attributes
    ----------
    order
        (P, T) the operator of each step, as an index within its problem; -1 beyond the last one.
    problems, rows
        (T,) the numbers of problems and of rows that have an operator left.
    placements
        (P, S, V) the device of each operator so far; -1 where there is none.
    """

    def __init__(
        self, batch: GraphBatch[Any], samples: int, devices: int, forced: Ints | None
    ) -> None:
        self.batch, self.samples, self._devices = batch, samples, devices
        self.order = batch.orders(np.zeros(1, dtype=np.int32))[:, 0]
        self.problems = batch.active(np.arange(self.order.shape[1], dtype=np.int32)).tolist()
        self.rows = [count * samples for count in self.problems]
        self.placements: Ints = np.full((len(batch), samples, len(self.rows)), -1, dtype=np.int32)
        self._last = torch.zeros(len(batch) * samples, devices, device=batch.device)
        self._forced: Tensor | None = None
        if forced is not None:
            forced_now = np.take_along_axis(forced, np.maximum(self.order, 0)[:, None, :], axis=2)
            self._forced = torch.from_numpy(forced_now.astype(np.int64)).to(batch.device)

    def last(self, t: int) -> Tensor:
        """Return the device of the previous step, (R', D) one-hot; zeros at the start."""
        return self._last[: self.rows[t]]

    def take(self, t: int, chosen: Tensor) -> Tensor:
        """Place a step's operators on chosen or forced devices, (R',), and return these devices."""
        now, rows = self.problems[t], self.rows[t]
        if self._forced is not None:
            forced_now = self._forced[:now, :, t].reshape(rows)
            chosen = torch.where(forced_now >= 0, forced_now, chosen)
        self._last = one_hot(chosen, self._devices).to(self._last.dtype)
        at = np.arange(now)[:, None], np.arange(self.samples), self.order[:now, t : t + 1]
        self.placements[at] = chosen.view(now, self.samples).cpu().numpy()
        return chosen

    def operators(self, t: int) -> Ints:
        """Return the operators of a step, (R',), as indices within their problems."""
        return np.repeat(self.order[: self.problems[t], t], self.samples)

    def trajectories(
        self, devices: Tensor, log_prob: Tensor, entropy: Tensor, agreement: Tensor | None
    ) -> Trajectories:
        """Return the trajectories of all decisions, (N,), which are ordered by step."""
        operators = np.repeat(self.order.T, self.samples, axis=1)
        return Trajectories.of_placements(
            self.placements, operators, self.rows, devices, log_prob, entropy, agreement
        )
