"""Encoded problems, and batches of them."""

from collections.abc import Sequence
from functools import cached_property
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints


class Encoded(Protocol):
    """A problem with the features that a policy computes from it."""

    @property
    def problem(self) -> Problem:
        """The problem."""
        ...

    @property
    def size(self) -> int:
        """The number of operators."""
        ...


E = TypeVar("E", bound=Encoded)


@runtime_checkable
class Reorderable(Protocol):
    """An encoded problem whose operators can be placed in any order."""

    def in_order(self, order: Ints) -> object:
        """Return the problem with another order of its operators, (V,)."""
        ...


class SortedBatch(Generic[E]):
    """Several encoded problems without further arrays, largest first.

    Raises
    ------
    ValueError
        If the problems are not sorted by size, largest first.
    """

    def __init__(self, encoded: Sequence[E]) -> None:
        self.encoded = tuple(encoded)
        if np.any(np.diff(self.sizes) > 0):
            raise ValueError("problems must be sorted by size, largest first")

    @cached_property
    def sizes(self) -> Ints:
        """(P,) numbers of operators, in descending order."""
        return np.array([one.size for one in self.encoded], dtype=np.int32)

    def __len__(self) -> int:
        return len(self.encoded)


class Batch(Protocol):
    """Several encoded problems as tensors, largest first."""

    @property
    def encoded(self) -> Sequence[Encoded]:
        """The problems, largest first."""
        ...

    @property
    def sizes(self) -> Ints:
        """(P,) numbers of operators, in descending order."""
        ...

    def __len__(self) -> int: ...
