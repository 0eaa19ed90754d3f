"""Batches of stream graphs as tensors, shared by policies."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from streamplace.learning.policy.encoded import EncodedGraph, G, JoinedGraphs

__all__ = ["EncodedGraph", "GraphBatch"]


class GraphBatch(JoinedGraphs[G]):
    """P problems joined end to end, as tensors; see `JoinedGraphs`.

    Attributes
    ----------
    source, target
        (E,) int64 batch indices of the operators at the ends of each stream.
    problem_of
        (V,) int64 problem of each operator.

    Raises
    ------
    ValueError
        If the problems are not sorted by size, largest first.
    """

    def __init__(self, encoded: Sequence[G], device: torch.device | str = "cpu") -> None:
        super().__init__(encoded)
        self.device = torch.device(device)
        self.source = self.tensor(self.ends("source"))
        self.target = self.tensor(self.ends("target"))
        self.problem_of = self.tensor(self.owners())

    def tensor(self, column: np.ndarray) -> Tensor:
        """Return an array as a tensor on the batch's torch device."""
        return torch.from_numpy(column).to(self.device)
