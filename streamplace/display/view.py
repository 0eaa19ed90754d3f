"""Views: the lines and tables that describe a value, independent of the renderer.

A view keeps the names of operators, devices and so on separate from the text around them, so that
each renderer can cut and escape them as it needs to.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Self

from streamplace.display.text import NAME_LENGTH
from streamplace.util.text import ELLIPSIS, printable, shortened

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
    drawing
        Makes the SVG element that notebooks show above the body; None: there is none.
    """

    title: str
    details: tuple[str, ...] = ()
    body: tuple[Line | Grid, ...] = ()
    rows: int = SUMMARY_ROWS
    drawing: Callable[[], str] | None = None

    def __str__(self) -> str:
        return "\n  ".join((self.title, *self.details))


CONTEXT = 6  # characters kept around the part in which names differ
MORE_LENGTH = len(" and 9999 more")
NAMES_LISTED = 8  # in a cell, where the available width is unknown
ROOM = NAMES_LISTED * (NAME_LENGTH + 2) + MORE_LENGTH


def labels(names: Sequence[str], length: int) -> list[str]:
    """Return names cut to at most `length` characters, all of them different.

    Names whose labels would be equal are cut around the part in which they differ. Labels that are
    still equal are numbered.
    """
    found = [shortened(name, length) for name in names]
    alike: dict[str, list[int]] = {}
    for i, label in enumerate(found):
        alike.setdefault(label, []).append(i)
    for group in alike.values():
        if len(group) > 1:
            distinct = _differences([printable(names[i]) for i in group], length)
            for i, label in zip(group, distinct, strict=True):
                found[i] = shortened(label, length)
    used: set[str] = set()
    for i, name in enumerate(found):
        label, number = name, 1
        while label in used:
            number += 1
            mark = f" ({number})"
            label = shortened(name, length - len(mark)) + mark
        used.add(label)
        found[i] = label
    return found


def names_that_fit(names: Names, room: int) -> str:
    """Return the names that fit into `room` characters, and the number of the others."""
    found: list[str] = []
    for name in names.first[:MAX_NAMES]:
        left = room - sum(len(one) + len(names.between) for one in found)
        left -= MORE_LENGTH if len(found) + 1 < names.count else 0
        if len(name) > left and found:
            break
        found.append(shortened(name, max(left, 2)))
    more = names.count - len(found)
    return names.between.join(found) + (f" and {more} more" if more else "")


def template(text: str) -> str:
    """Return the part of a `Line.text` that shows a text whole; its braces stand for themselves."""
    return text.replace("{", "{{").replace("}", "}}")


def short(cell: Cell) -> str:
    """Return a cell as printable text: at most eight names, each cut to 40 characters."""
    if isinstance(cell, str):
        return shortened(cell, NAME_LENGTH)
    first = tuple(shortened(name, NAME_LENGTH) for name in cell.first[:NAMES_LISTED])
    return names_that_fit(Names(first, cell.count, cell.between), ROOM)


def _differences(names: list[str], length: int) -> list[str]:
    """Return the part in which names differ, with as much around it as `length` allows."""
    before = len(commonprefix(names))  # noqa: RUF071 - a prefix of characters, not of folders
    after = len(commonprefix([name[before:][::-1] for name in names]))  # noqa: RUF071
    found = []
    for name in names:
        first, last = max(0, before - CONTEXT), len(name) - max(0, after - CONTEXT)
        first = max(0, min(first, last - (length - 2)))
        last = min(len(name), max(last, first + length - 2))
        head, tail = ELLIPSIS if first else "", ELLIPSIS if last < len(name) else ""
        found.append(head + name[first:last] + tail)
    return found
