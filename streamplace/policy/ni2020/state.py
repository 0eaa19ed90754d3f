"""The decoding state of the networks of Ni et al. (AAAI 2020): the devices chosen so far."""

import numpy as np
import torch
from torch import Tensor

from streamplace.policy.ni2020.features import Ni2020Batch
from streamplace.policy.one_order import OneOrderState
from streamplace.util.arrays import Ints


class Ni2020State(OneOrderState):
    """Partial placements, and what the network reads of them; see `OneOrderState`."""

    def __init__(self, batch: Ni2020Batch, samples: int, devices: int, forced: Ints | None) -> None:
        super().__init__(batch, samples, devices, forced)
        rows, where = len(batch) * samples, batch.device
        self._on = torch.zeros(len(batch), len(self.rows), samples * devices, device=where)
        self._used = torch.zeros(rows, devices, dtype=torch.bool, device=where)
        self._neighbours = _placed_neighbours(batch, self.order).to(where)
        kind = (
            torch.from_numpy(np.concatenate([one.kind for one in batch.encoded]))
            .to(where)
            .view(-1, devices)
        )
        same_kind = (kind.unsqueeze(2) == kind.unsqueeze(1)).tril(-1)
        self._same_kind_before = same_kind.repeat_interleave(samples, dim=0)

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
        taken = super().take(t, chosen)
        self._on[: self.problems[t], t] = self._last.view(self.problems[t], -1)
        self._used[: self.rows[t]] |= self._last > 0
        return taken


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
