"""Cells of bounded size, for renderers that do not know the available width."""

from streamplace.display.text import NAME_LENGTH
from streamplace.display.view import Cell, Names, listed, shortened

NAMES_LISTED = 8
ROOM = NAMES_LISTED * (NAME_LENGTH + 2) + len(" and 9999 more")


def short(cell: Cell) -> str:
    """Return a cell as printable text: at most eight names, each cut to 40 characters."""
    if isinstance(cell, str):
        return shortened(cell, NAME_LENGTH)
    first = tuple(shortened(name, NAME_LENGTH) for name in cell.first[:NAMES_LISTED])
    return listed(Names(first, cell.count, cell.between), ROOM)
