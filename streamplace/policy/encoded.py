"""Protocols of encoded problems and batches."""

from collections.abc import Sequence
from typing import Protocol

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
