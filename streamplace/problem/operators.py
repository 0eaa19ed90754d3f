"""Operators and streams: the rows of a graph's columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Generic, TypeVar, overload

from streamplace.display.mixins import TruncatedRepr

Row = TypeVar("Row")
ROWS_SHOWN = 3
UNKNOWN = nan
"""A number of an operator or stream that nobody has told; `Problem` asks for it."""


@dataclass(frozen=True, slots=True, repr=False)
class Operator(TruncatedRepr):
    """A step of the job.

    Parameters
    ----------
    instructions
        CPU instructions per tuple it processes; may be `UNKNOWN`.
    payload_bytes
        Bytes of a tuple it emits; may be `UNKNOWN`.
    memory_bytes
        What it takes of its device's memory.
    requires
        Labels that its device must carry.
    instance_of
        The operator of the engine's job that this is one parallel instance of, if it is.
    """

    name: str
    instructions: float
    payload_bytes: float
    memory_bytes: float = 0.0
    requires: tuple[str, ...] = ()
    instance_of: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Stream(TruncatedRepr):
    """A directed edge: tuples that one operator sends another.

    Parameters
    ----------
    selectivity
        Tuples put on this stream per tuple that its source operator processes; may be `UNKNOWN`.
    payload_bytes
        Bytes of a tuple on it; None stands for its source operator's.
    """

    source: str
    target: str
    selectivity: float = 1.0
    payload_bytes: float | None = None


class RowView(Sequence[Row], Generic[Row]):
    """Columns seen row by row: nothing is kept but the columns."""

    def __init__(self, length: int, row: Callable[[int], Row]) -> None:
        self._length = length
        self._row = row

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        shown = [repr(row) for row in self[:ROWS_SHOWN]]
        more = len(self) - ROWS_SHOWN
        return f"[{', '.join(shown)}" + (f", and {more:,} more]" if more > 0 else "]")

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self._row(i) for i in range(*index.indices(self._length))]
        return self._row(range(self._length)[index])
