"""View: what is shown of a thing, whoever shows it. Cells are plain text, never markup."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from streamplace.util.text import printable

NAME_LENGTH, CELL_LENGTH = 40, 480


@dataclass(frozen=True)
class Grid:
    """A table.

    Parameters
    ----------
    left_out
        How many rows there are besides.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int = 0

    def is_of_numbers(self, column: int) -> bool:
        """Return whether a column, not the first, is to stand to the right."""
        cells = [row[column] for row in self.rows]
        return column > 0 and all(cell[:1].isdigit() or cell[:1] in "-+" for cell in cells)


@dataclass(frozen=True)
class View:
    """A line that says what matters, and tables of bounded size."""

    title: str
    grids: tuple[Grid, ...] = ()


def grid(head: Sequence[str], rows: Iterable[Sequence[str]], left_out: int = 0) -> Grid:
    """Return a table of cells that are safe to show."""
    cells = tuple(tuple(map(plain, row)) for row in rows)
    return Grid(tuple(head), cells, max(0, left_out))


def plain(text: str, most: int = CELL_LENGTH) -> str:
    """Return printable text, cut where it is long."""
    return printable(text if len(text) <= most else text[: most - 1] + "…")
