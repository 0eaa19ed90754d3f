"""Views: the lines and tables that describe a value, independent of the renderer.

A view keeps the names of operators, devices and so on separate from the text around them, so that
each renderer can cut and escape them as it needs to.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

SUMMARY_ROWS, TABLE_ROWS = 12, 60
MAX_NAMES = 12  # names of a list that a renderer shows


@dataclass(frozen=True)
class Names:
    """A list of names, of which a renderer shows as many as fit.

    Parameters
    ----------
    first
        The first names, at least `MAX_NAMES` of them if there are that many.
    count
        The number of all names.
    between
        Text between two names.
    """

    first: tuple[str, ...]
    count: int
    between: str = ", "

    @classmethod
    def of(cls, names: Sequence[str], between: str = ", ") -> Self:
        """Return a list of all names in a sequence."""
        return cls(tuple(names[:MAX_NAMES]), len(names), between)


Cell = str | Names


@dataclass(frozen=True)
class Line:
    """A line of text.

    Parameters
    ----------
    text
        A template with ``{}`` in place of each name.
    names
        The names, in order.
    """

    text: str
    names: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class Grid:
    """A table whose rows are made when they are rendered.

    Parameters
    ----------
    head
        The headings of the columns.
    count
        The number of rows.
    row
        Function from a row number to the cells of the row.
    names
        Indices of the columns that contain names; they are left-aligned, the others right-aligned.
    max_rows
        Largest number of rows that any renderer shows; None: no limit.
    left_out
        Text for rows that are left out; ``{}`` stands for their number.
    expendable
        Headings of columns that may be dropped, in this order, if names do not fit.
    min_rows
        The number of rows that a renderer shows whatever its own limit.
    """

    head: tuple[str, ...]
    count: int
    row: Callable[[int], tuple[Cell, ...]]
    names: tuple[int, ...] = (0,)
    max_rows: int | None = None
    left_out: str = "and {:,} more"
    expendable: tuple[str, ...] = ()
    min_rows: int = 0

    def rows(self, limit: int | None = None) -> list[tuple[Cell, ...]]:
        """Return the rows to show, at most `limit`."""
        return [self.row(i) for i in range(self._shown(limit))]

    def remainder(self, limit: int | None = None) -> str:
        """Return the text for the rows that `rows` leaves out; empty if there are none."""
        rest = self.count - self._shown(limit)
        return self.left_out.format(rest) if rest else ""

    def _shown(self, limit: int | None) -> int:
        if limit is not None:
            limit = max(limit, self.min_rows)
        return min([self.count, *(bound for bound in (self.max_rows, limit) if bound is not None)])


@dataclass(frozen=True)
class View:
    """The description of a value.

    Parameters
    ----------
    title
        One line; the repr consists of the title and `details`.
    details
        Further lines of the repr.
    body
        Lines and tables, shown below the title in notebooks, and without it on the command line.
    rows
        Rows shown per table in notebooks and by `rich.print`.
    """

    title: str
    details: tuple[str, ...] = ()
    body: tuple[Line | Grid, ...] = ()
    rows: int = SUMMARY_ROWS

    def __str__(self) -> str:
        return "\n  ".join((self.title, *self.details))
