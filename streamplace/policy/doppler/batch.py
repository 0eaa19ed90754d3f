"""Problems as tensors for DOPPLER's networks."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from streamplace.policy.doppler.encode import EncodedProblem
from streamplace.policy.encoded import SortedBatch
from streamplace.util.arrays import Floats, Ints

Single = np.ndarray


class Groups(NamedTuple):
    """Edges in G groups of at most C, each of one value.

    Attributes
    ----------
    values
        (K,) the distinct values.
    value_of
        (G,) index of each group's value.
    source, target
        (G, C) operators at the ends of each edge; V, the number of operators, where there is none.
    """

    values: Single
    value_of: Ints
    source: Ints
    target: Ints


def groups_of(source: Ints, target: Ints, values: Floats, operators: int) -> Groups:
    """Group edges by value.

    A group has at most twice the mean number of edges of a value, so that fewer than three quarters
    of all places remain empty.
    """
    distinct, kind = np.unique(values, return_inverse=True)
    order = np.argsort(kind, kind="stable")
    counts = np.bincount(kind, minlength=len(distinct))
    size = max(1, -(-2 * len(values) // max(1, len(distinct))))
    groups = -(-counts // size)
    first = np.concatenate([[0], np.cumsum(groups)])[:-1]
    rank = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    group, place = first[kind[order]] + rank // size, rank % size
    shape = (int(groups.sum()), int(min(size, counts.max(initial=1))))
    ends = np.full((2, *shape), operators, np.int64)
    ends[0, group, place], ends[1, group, place] = source[order], target[order]
    return Groups(distinct, np.repeat(np.arange(len(distinct)), groups), ends[0], ends[1])


class DopplerBatch(SortedBatch[EncodedProblem]):
    """P problems joined end to end, with V operators in total, largest first.

    Parameters
    ----------
    like
        A tensor of the precision and the torch device of all others.

    Attributes
    ----------
    devices
        The largest number of devices of any problem.
    first
        (P + 1,) batch index of each problem's first operator; the last entry is V.
    starts
        (P,) the same as a tensor, without the last entry.
    exists
        (P, D) bool, the devices that each problem has.
    features
        (V, 5) features of the operators; see `EncodedProblem`.
    problem_of
        (V,) int64 problem of each operator.
    values, value_of, source, target
        The streams in both directions as `edges.Groups`.
    to_exit, to_entry
        Pairs of batch indices, (N,) each: an operator, and one on its longest path.
    """

    def __init__(self, encoded: Sequence[EncodedProblem], like: Tensor) -> None:
        super().__init__(encoded)
        self._like = like
        self.devices = max(one.devices for one in self.encoded)
        self.first = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)
        self.starts = self.tensor(self.first[:-1])
        counts = np.array([one.devices for one in self.encoded])
        self.exists = self.tensor(np.arange(self.devices) < counts[:, None])
        self.features = self.tensor(np.concatenate([one.features for one in self.encoded]))
        self.problem_of = self.tensor(np.repeat(np.arange(len(self)), self.sizes))
        source = self._joined([one.costs.source for one in self.encoded])
        target = self._joined([one.costs.target for one in self.encoded])
        values = np.concatenate([one.edges for one in self.encoded])
        groups = groups_of(
            np.concatenate([source, target]),
            np.concatenate([target, source]),
            np.concatenate([values, values]),
            int(self.first[-1]),
        )
        self.values, self.value_of, self.source, self.target = map(self.tensor, groups)
        self.to_exit = self._paths([one.to_exit for one in self.encoded])
        self.to_entry = self._paths([one.to_entry for one in self.encoded])

    def tensor(self, column: np.ndarray) -> Tensor:
        """Return an array as a tensor on the batch's torch device, in its precision if real."""
        made = torch.from_numpy(np.ascontiguousarray(column)).to(self._like.device)
        return made.to(self._like.dtype) if made.is_floating_point() else made

    def active(self, step: int) -> int:
        """Return the number of problems that have an operator left at a step."""
        return int(np.searchsorted(-self.sizes, -step))

    def _joined(self, columns: Sequence[Ints]) -> Ints:
        """Return operator indices of each problem as batch indices."""
        return np.concatenate(
            [column + start for column, start in zip(columns, self.first, strict=False)]
        )

    def _paths(self, pairs: Sequence[tuple[Ints, Ints]]) -> tuple[Tensor, Tensor]:
        """Return pairs of operators of each problem as batch indices."""
        owners, others = zip(*pairs, strict=True)
        return self.tensor(self._joined(owners)), self.tensor(self._joined(others))
