"""The partial placements of the encoder-decoders, and what their decoders read of them."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from streamplace.policy.decoding import OneOrderState
from streamplace.policy.ni2020.features import Ni2020Batch
from streamplace.util.arrays import Floats, Ints


class SharedPrefixes:
    """The distinct prefixes among rows; a prefix is the sequence of devices chosen so far.

    At the start, all rows of a problem share the empty prefix.

    Parameters
    ----------
    samples
        The number of rows per problem.
    rows
        R, the number of rows.

    Attributes
    ----------
    prefix_of_row
        (R',) the prefix of each row.
    row_of_prefix
        (B,) one row of each of B prefixes.
    """

    def __init__(self, samples: int, rows: int, device: torch.device) -> None:
        self.prefix_of_row = torch.arange(rows, device=device) // samples
        self.row_of_prefix = torch.arange(0, rows, samples, device=device)

    def branch(self, chosen: Tensor, devices: int) -> Tensor:
        """Extend the prefixes of the remaining rows by their choices, (R',).

        Returns
        -------
        (B',) int64
            The old prefix that each new one extends.
        """
        extended, self.prefix_of_row = torch.unique(
            self.prefix_of_row[: len(chosen)] * devices + chosen, return_inverse=True
        )
        self.row_of_prefix = torch.empty_like(extended).scatter_(
            0, self.prefix_of_row, torch.arange(len(chosen), device=chosen.device)
        )
        parent: Tensor = extended // devices
        return parent


class Ni2020State(OneOrderState):
    """Partial placements, and what the network reads of them; see `OneOrderState`."""

    def __init__(
        self,
        batch: Ni2020Batch,
        samples: int,
        devices: int,
        forced: Ints | None,
        neighbours: Callable[[Ni2020Batch, Ints], Tensor],
    ) -> None:
        super().__init__(batch, samples, devices, forced)
        rows, where = len(batch) * samples, batch.device
        self._on = torch.zeros(len(batch), len(self.rows), samples * devices, device=where)
        self._used = torch.zeros(rows, devices, dtype=torch.bool, device=where)
        self._neighbours = neighbours(batch, self.order).to(where)
        kind = (
            torch.from_numpy(np.concatenate([one.kind for one in batch.encoded]))
            .to(where)
            .view(-1, devices)
        )
        same_kind = (kind.unsqueeze(2) == kind.unsqueeze(1)).tril(-1)
        self._same_kind_before = same_kind.repeat_interleave(samples, dim=0)

    def placed_neighbours(self, t: int) -> Tensor:
        """Return the sum of the weights of placed neighbours on each device, (R', D)."""
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


def placed_neighbours(
    batch: Ni2020Batch, order: Ints, of_streams: Sequence[Floats] | None = None
) -> Tensor:
    """Return a weight, (P, T, T), of each operator that is placed before step t and linked to it.

    Parameters
    ----------
    order
        (P, T) the operator of each step, as an index within its problem; -1 beyond the last one.
    of_streams
        The weights of each problem's streams, (E,), which are added where streams have the same
        ends; None: 1 for each neighbour.
    """
    weights = np.zeros((len(batch), order.shape[1], order.shape[1]), dtype=np.float32)
    for p, one in enumerate(batch.encoded):
        position = np.empty(one.size, dtype=np.int64)
        position[order[p, : one.size]] = np.arange(one.size)
        source, target = position[one.flow.source], position[one.flow.target]
        later, earlier = np.maximum(source, target), np.minimum(source, target)
        if of_streams is None:
            weights[p, later, earlier] = 1.0
        else:
            np.add.at(weights[p], (later, earlier), of_streams[p])
    return torch.from_numpy(weights)
