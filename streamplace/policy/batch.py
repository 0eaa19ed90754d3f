"""Batches: several problems as tensors, for one step of a network."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from sim.lookahead import LookaheadBatch, collate
from streamplace.policy.features import EncodedProblem
from streamplace.util.arrays import Ints

EVENLY = 0.2


@dataclass(frozen=True, eq=False)
class Batch:
    """P problems, largest first, so that those still being placed are always the first ones.

    Attributes
    ----------
    lookahead
        Their arrays end to end.
    sizes
        (P,) numbers of operators, falling.
    operators, streams, whole, published
        (V, ·), (E, ·), (P, ·) and (V, ·) float32 features, see `EncodedProblem`.
    source, target
        (E,) int64 operators, numbered through the batch.
    problem_of
        (V,) int64.
    """

    prepared: tuple[EncodedProblem, ...]
    lookahead: LookaheadBatch
    sizes: Ints
    operators: Tensor
    streams: Tensor
    whole: Tensor
    published: Tensor
    source: Tensor
    target: Tensor
    problem_of: Tensor

    @classmethod
    def of(cls, prepared: Sequence[EncodedProblem], device: torch.device | str = "cpu") -> "Batch":
        """Lay problems end to end; they must come largest first."""
        sizes = np.array([one.size for one in prepared], dtype=np.int32)
        if np.any(np.diff(sizes) > 0):
            raise ValueError("problems must come largest first")
        lookahead = collate([one.lookahead for one in prepared])
        ends = [
            np.concatenate(
                [
                    getattr(one.lookahead.flow, end) + start
                    for one, start in zip(prepared, lookahead.first_operator, strict=False)
                ]
            )
            for end in ("source", "target")
        ]
        features = [
            np.concatenate([one.operators for one in prepared]),
            np.concatenate([one.streams for one in prepared]),
            np.stack([one.whole for one in prepared]),
            np.concatenate([one.published for one in prepared]),
            *(end.astype(np.int64) for end in ends),
            np.repeat(np.arange(len(sizes)), sizes),
        ]
        tensors = (torch.from_numpy(column).to(device) for column in features)
        return cls(tuple(prepared), lookahead, sizes, *tensors)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.operators.device

    @cached_property
    def inputs(self) -> Tensor:
        """(V, 1) streams into each operator, at least 1."""
        return self._ends(self.target)

    @cached_property
    def outputs(self) -> Tensor:
        """(V, 1) streams out of each operator, at least 1."""
        return self._ends(self.source)

    @cached_property
    def even_share(self) -> Tensor:
        """(V, 1) of `EVENLY`: what an operator counts on its device whatever it costs.

        However many operators there are, they come to `EVENLY` a device on average.
        """
        each = EVENLY * np.diff(self.lookahead.first_device) / self.sizes
        return (
            torch.from_numpy(each.astype(np.float32)).to(self.device)[self.problem_of].unsqueeze(1)
        )

    def _ends(self, operators: Tensor) -> Tensor:
        count = torch.bincount(operators, minlength=len(self.operators))
        return count.clamp(min=1).unsqueeze(1).to(self.operators.dtype)

    @property
    def columns(self) -> int:
        """The largest number of devices."""
        return int(np.diff(self.lookahead.first_device).max())

    def active(self, steps: Ints) -> Ints:
        """Return how many problems have an operator left at each of these steps, (T,)."""
        return np.searchsorted(-self.sizes, -steps).astype(np.int32)

    def orders(self, which: Ints) -> Ints:
        """Return the orders of rows, (P, S, T): row s follows order which[s]; -1 beyond the end."""
        padded = np.full((len(self), len(which), int(self.sizes[0])), -1, dtype=np.int32)
        for p, one in enumerate(self.prepared):
            padded[p, :, : one.size] = one.orders[which]
        return padded
