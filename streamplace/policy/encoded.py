"""Protocols of encoded problems and batches."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

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


@runtime_checkable
class Reorderable(Protocol):
    """An encoded problem whose operators can be placed in any order."""

    def in_order(self, order: Ints) -> object:
        """Return the problem with another order of its operators, (V,)."""
        ...


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
