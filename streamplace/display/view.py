"""Views: the lines and tables that describe a value, for any renderer.

A view holds the names of operators, devices and the like apart from the text around them, so that a
renderer can cut and escape them as it must.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

SUMMARY_ROWS, TABLE_ROWS = 12, 60
MOST_NAMES = 12


@dataclass(frozen=True)
class Names:
    """Several names in one place, of which a renderer lists as many as it has room for.

    Parameters
    ----------
    first
        The first of them, at least `MOST_NAMES` where there are as many.
    count
        The number of all of them.
    """

    first: tuple[str, ...]
    count: int

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """Return the names of a sequence."""
        return cls(tuple(names[:MOST_NAMES]), len(names))


Cell = str | Names


@dataclass(frozen=True)
class Line:
    """A line of text.

    Parameters
    ----------
    text
        A template, with ``{}`` where a name goes.
    names
        What goes there, in order.
    """

    text: str
    names: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class Grid:
    """A table whose rows are made when they are rendered.

    Parameters
    ----------
    head
        A heading for each column.
    count
        The number of rows.
    row
        Row number -> its cells.
    names
        The columns that hold names; they are aligned left, the others right.
    most
        Rows that any renderer shows at most; None: no limit.
    left_out
        What to say of rows left out, a template for their number.
    expendable
        Headings of columns that may be left out where there is no room for names, in this order.
    """

    head: tuple[str, ...]
    count: int
    row: Callable[[int], tuple[Cell, ...]]
    names: tuple[int, ...] = (0,)
    most: int | None = None
    left_out: str = "and {:,} more"
    expendable: tuple[str, ...] = ()

    def rows(self, limit: int | None = None) -> list[tuple[Cell, ...]]:
        """Return the rows to show, at most so many."""
        return [self.row(i) for i in range(self._shown(limit))]

    def remainder(self, limit: int | None = None) -> str:
        """Return what to say of the rows that `rows` leaves out; nothing if it leaves out none."""
        rest = self.count - self._shown(limit)
        return self.left_out.format(rest) if rest else ""

    def _shown(self, limit: int | None) -> int:
        return min([self.count, *(most for most in (self.most, limit) if most is not None)])


@dataclass(frozen=True)
class View:
    """What a value shows of itself.

    Parameters
    ----------
    title
        One line; with `details` it is the repr.
    details
        Further lines of the repr.
    body
        What stands below the title in notebooks, and alone on the command line.
    rows
        Rows of a table that are shown where the size is bounded: in notebooks and by `rich.print`.
    """

    title: str
    details: tuple[str, ...] = ()
    body: tuple[Line | Grid, ...] = ()
    rows: int = SUMMARY_ROWS

    def __str__(self) -> str:
        return "\n  ".join((self.title, *self.details))
