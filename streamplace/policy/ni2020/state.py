"""The decoding state of the networks of Ni et al. (AAAI 2020): the devices chosen so far."""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from streamplace.policy import trajectories
from streamplace.policy.ni2020.features import Ni2020Batch
from streamplace.policy.trajectories import Trajectories
from streamplace.util.arrays import Ints


class Ni2020State:
    """S partial placements of each of P problems on D devices, decoded in their orders.

    There are S rows per problem. At step t the first `rows[t]` rows have an operator left.

    Parameters
    ----------
    samples
        S, the number of placements per problem.
    devices
        D, the number of devices of every cluster.
    forced
        (P, S, V) devices to use instead of chosen ones; -1 where the network chooses.
    """

    def __init__(self, batch: Ni2020Batch, samples: int, devices: int, forced: Ints | None) -> None:
        self.batch, self.samples, self._devices = batch, samples, devices
        self.order = batch.orders(np.zeros(1, dtype=np.int32))[:, 0]  # (P, T)
        self.problems = batch.active(np.arange(self.order.shape[1], dtype=np.int32)).tolist()
        self.rows = [count * samples for count in self.problems]
        self.placements: Ints = np.full((len(batch), samples, len(self.rows)), -1, dtype=np.int32)
        rows, where = len(batch) * samples, batch.device
        self._on = torch.zeros(len(batch), len(self.rows), samples * devices, device=where)
        self._last = torch.zeros(rows, devices, device=where)
        self._used = torch.zeros(rows, devices, dtype=torch.bool, device=where)
        self._neighbours = _placed_neighbours(batch, self.order).to(where)
        kind = (
            torch.from_numpy(np.concatenate([one.kind for one in batch.encoded]))
            .to(where)
            .view(-1, devices)
        )
        same_kind = (kind.unsqueeze(2) == kind.unsqueeze(1)).tril(-1)
        self._same_kind_before = same_kind.repeat_interleave(samples, dim=0)
        self._forced: Tensor | None = None
        if forced is not None:
            forced_now = np.take_along_axis(forced, np.maximum(self.order, 0)[:, None, :], axis=2)
            self._forced = torch.from_numpy(forced_now.astype(np.int64)).to(where)

    def last(self, t: int) -> Tensor:
        """Return the device of the previous step, (R', D) one-hot; zeros at the start."""
        return self._last[: self.rows[t]]

    def placed_neighbours(self, t: int) -> Tensor:
        """Return the share of the operator's placed neighbours on each device, (R', D)."""
        now = self.problems[t]
        shares = self._neighbours[:now, t : t + 1] @ self._on[:now]
        return shares.reshape(self.rows[t], self._devices)

    def spare(self, t: int) -> Tensor:
        """Return which devices are redundant, (R', D): unused after an unused one of their kind."""
        rows = self.rows[t]
        unused = ~self._used[:rows]
        return unused & (self._same_kind_before[:rows] & unused.unsqueeze(1)).any(dim=2)

    def take(self, t: int, chosen: Tensor) -> Tensor:
        """Place a step's operators on chosen or forced devices, (R',), and return these devices."""
        now, rows = self.problems[t], self.rows[t]
        if self._forced is not None:
            forced_now = self._forced[:now, :, t].reshape(rows)
            chosen = torch.where(forced_now >= 0, forced_now, chosen)
        self._last = one_hot(chosen, self._devices).to(self._last.dtype)
        self._on[:now, t] = self._last.view(now, -1)
        self._used[:rows] |= self._last > 0
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
        return trajectories.of_placements(
            self.placements, operators, self.rows, devices, log_prob, entropy, agreement
        )


def _placed_neighbours(batch: Ni2020Batch, order: Ints) -> Tensor:
    """Return weights, (P, T, T), whose row t averages over the neighbours placed before step t.

    In topological orders, these are the upstream operators, as in the paper. A backward order
    would leave the decoder nothing to read if only upstream operators counted.
    """
    weights = np.zeros((len(batch), order.shape[1], order.shape[1]), dtype=np.float32)
    for p, one in enumerate(batch.encoded):
        position = np.empty(one.size, dtype=np.int64)
        position[order[p, : one.size]] = np.arange(one.size)
        source, target = position[one.flow.source], position[one.flow.target]
        weights[p, np.maximum(source, target), np.minimum(source, target)] = 1.0
    return torch.from_numpy(weights / np.maximum(weights.sum(axis=2, keepdims=True), 1.0))
