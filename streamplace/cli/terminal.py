"""Lines and tables as wide as the terminal; in files and pipes nothing is cut off.

Rich honours NO_COLOR and COLUMNS. Text is never markup: names are what they are.
"""

import os
from collections.abc import Collection, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamplace.display.labels import labels, shortened
from streamplace.execution.progress import is_quiet
from streamplace.util.text import printable

WIDTH_OF_FILES = 10**5  # of lines nobody looks at
LEAST_WIDTH = 40
BETWEEN = 2  # spaces between columns
LEAST_NAME = 8
NAMES_SHOWN = 12
NAME_WIDTH = 48  # letters of a name within a line on a terminal


def console(to_stderr: bool = False) -> Console:
    """Return where to print; stderr is silent with --quiet."""
    quiet = to_stderr and is_quiet()
    out = Console(
        stderr=to_stderr, highlight=False, soft_wrap=True, markup=False, emoji=False, quiet=quiet
    )
    told = os.environ.get("COLUMNS", "").isdigit()
    out.width = max(out.width, LEAST_WIDTH) if out.is_terminal or told else WIDTH_OF_FILES
    return out


def print_table(
    out: Console,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    names: Collection[int] = (0,),
    title: str | None = None,
) -> None:
    """Print a table, a line a row: names are cut where it is too wide, numbers last of all.

    Parameters
    ----------
    names
        Columns of names, aligned left; the others are numbers.
    """
    table = Table(box=None, pad_edge=False, title=title, title_justify="left")
    for i, head in enumerate(heads):
        is_name = i in names
        table.add_column(head, justify="left" if is_name else "right", no_wrap=not is_name)
    widths = _widths([heads, *rows], set(names), out.width)
    columns = [list(column) for column in zip(*rows, strict=True)]
    cells = [
        _cells(column, width) if i in names else column
        for i, (column, width) in enumerate(zip(columns, widths, strict=False))
    ]
    for row in zip(*cells, strict=True):
        table.add_row(*row)
    out.print(table, soft_wrap=False)


def name_in(out: Console, name: str, length: int = NAME_WIDTH) -> str:
    """Return a name as it stands in a line: short on a terminal."""
    return shortened(name, length) if out.width < WIDTH_OF_FILES else printable(name)


def listed(names: Sequence[str], room: int = WIDTH_OF_FILES) -> str:
    """Return the first of some names that find room, and how many more there are."""
    shown: list[str] = []
    for name in names[:NAMES_SHOWN]:
        left = room - sum(len(one) + 2 for one in shown)
        left -= len(" and 9999 more") if len(shown) + 1 < len(names) else 0
        if len(name) > left and shown:
            break
        shown.append(shortened(name, max(left, 2)))
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _widths(rows: Sequence[Sequence[str]], names: set[int], room: int) -> list[int]:
    """Return the widths of columns: where all do not fit, the widest of names give way."""
    widths = [
        max(cell_len(printable(text)) for text in column) for column in zip(*rows, strict=True)
    ]
    excess = sum(widths) + BETWEEN * (len(widths) - 1) - room
    while excess > 0 and names:
        first, *others = sorted(names, key=lambda i: -widths[i])
        step = min(excess, max(1, widths[first] - max((widths[i] for i in others), default=0)))
        if widths[first] - step < LEAST_NAME:
            break
        widths[first] -= step
        excess -= step
    return widths


def _cells(column: Sequence[str], width: int) -> list[Text]:
    """Return names as wide as their column: different ones stay so."""
    known = list(dict.fromkeys(column))
    short = dict(zip(known, labels(known, width), strict=True))
    return [Text(_fitting(short[name], width), no_wrap=True) for name in column]


def _fitting(label: str, width: int) -> str:
    """Return a label cut for letters that are two cells wide."""
    length, cut = width, label
    while cell_len(cut) > width and length > 1:
        length -= 1
        cut = shortened(label, length)
    return cut
