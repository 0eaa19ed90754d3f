"""Lines, tables and views as wide as the terminal; in files and pipes nothing is cut off.

In tables, names are shortened where they do not fit, numbers never.
Rich respects NO_COLOR and COLUMNS. Text is never interpreted as markup.
"""

import os
from collections.abc import Mapping, Sequence
from shlex import quote

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamplace.display.mixins import Displayable, view_of
from streamplace.display.view import Cell, Grid, Line, Names, View, labels, names_that_fit
from streamplace.execution.progress import is_quiet
from streamplace.util.text import file_in_shell, printable, shortened

MIN_WIDTH = 40  # characters, even on a narrower terminal
COLUMN_GAP = 2  # spaces
MIN_NAME_WIDTH = 8  # characters to which a column of names may shrink
FIRST_COLUMN_WIDTH = 24  # characters; expendable columns are dropped to make room for it
NAME_WIDTH = 48  # characters of a name within a line on a terminal
FILE_WIDTH = 10**5  # characters per line in files and pipes, where nothing is cut

Row = Sequence[str]


def console(to_stderr: bool = False) -> Console:
    """Return the console of stdout or stderr; that of stderr is silent with --quiet."""
    quiet = to_stderr and is_quiet()
    out = Console(
        stderr=to_stderr, highlight=False, soft_wrap=True, markup=False, emoji=False, quiet=quiet
    )
    has_width = os.environ.get("COLUMNS", "").isdigit()
    wide = not (out.is_terminal or has_width)
    out.width = FILE_WIDTH if wide else max(out.width, MIN_WIDTH)
    return out


def print_result(result: Displayable, to_stderr: bool = False, limit: int | None = None) -> None:
    """Print the view of a result, at most `limit` rows of each table."""
    print_view(console(to_stderr), view_of(result), limit)


def print_view(out: Console, view: View, limit: int | None = None) -> None:
    """Print the body of a view, at most `limit` rows of each table."""
    for part in view.body:
        if isinstance(part, Line):
            print_line(out, part)
        else:
            print_table(out, part, limit)


def print_line(out: Console, line: Line) -> None:
    """Print a line with its names, which are shortened on a terminal."""
    blanks = [""] * len(line.names)
    room = out.width - len(line.text.format(*blanks))
    text = line.text.format(*(_in_line(out, name, room) for name in line.names))
    out.print(text, soft_wrap=not out.is_terminal)


def print_command(command: str, argument: str, values: Mapping[str, object]) -> None:
    """Print a command to run, with the options that have a value, quoted for a shell.

    The argument is the name of a file. An option whose value is a list is repeated, and one whose
    value is True is a flag.
    """
    several = ((name, v if isinstance(v, list) else [v]) for name, v in values.items())
    stated = [(name, v) for name, all_of in several for v in all_of if v is not None]
    words = [w for name, v in stated for w in ((name,) if v is True else (name, v))]
    line = " ".join([command, file_in_shell(argument), *(quote(str(word)) for word in words)])
    console().print(f"to place on these devices: {printable(line)}")


def name_in(out: Console, name: str, length: int = NAME_WIDTH) -> str:
    """Return a name for use in a line; on a terminal it is cut to `length` characters."""
    return shortened(name, length) if out.width < FILE_WIDTH else printable(name)


def _in_line(out: Console, cell: Cell, room: int) -> str:
    return name_in(out, cell) if isinstance(cell, str) else names_that_fit(cell, room)


def print_table(out: Console, grid: Grid, limit: int | None = None) -> None:
    """Print a table with one line per row, and say what it leaves out.

    Parameters
    ----------
    limit
        Rows to print at most; None: all.
    """
    rows = _texts(grid, grid.rows(limit), out.width)
    without = _without_room(grid, rows, out.width)
    kept = [i for i, head in enumerate(grid.head) if head not in without]
    heads = [grid.head[i] for i in kept]
    names = [new for new, i in enumerate(kept) if i in grid.names]
    _print(out, heads, [[row[i] for i in kept] for row in rows], names)
    if remainder := grid.remainder(limit):
        out.print(remainder)
    if without:
        hidden = ", ".join(f"'{head}'" for head in without)
        out.print(f"hidden columns: {hidden}; --json has all")


def _texts(grid: Grid, rows: Sequence[Sequence[Cell]], width: int) -> list[list[str]]:
    """Return cells as text; if one column has lists, it gets the width that the others leave."""
    lists = {i for row in rows for i, cell in enumerate(row) if isinstance(cell, Names)}
    room = FILE_WIDTH
    if len(lists) == 1:
        others = [i for i in range(len(grid.head)) if i not in lists]
        widths = [max(len(str(row[i])) for row in (grid.head, *rows)) for i in others]
        room = max(width - sum(widths) - COLUMN_GAP * len(others), NAME_WIDTH)
    return [
        [cell if isinstance(cell, str) else names_that_fit(cell, room) for cell in row]
        for row in rows
    ]


def _without_room(grid: Grid, rows: Sequence[Row], width: int) -> list[str]:
    """Return the headings of expendable columns to drop, so that the first column has room."""
    if not grid.expendable:
        return []
    first, *others = zip(grid.head, *rows, strict=True)
    needed = min(FIRST_COLUMN_WIDTH, max(map(len, first[1:]), default=0))
    widths = {head: max(map(len, (head, *cells))) for head, *cells in others}
    without: list[str] = []
    for head in grid.expendable:
        if width - sum(widths.values()) - COLUMN_GAP * len(widths) < needed:
            del widths[head]
            without.append(head)
    return without


def _print(out: Console, heads: Row, rows: Sequence[Row], names: Sequence[int]) -> None:
    """Print rows of text under their headings."""
    widths = _widths([heads, *rows], set(names), out.width)
    columns = [list(column) for column in zip(*rows, strict=True)]
    cells = [
        _cut(column, width) if i in names else column
        for i, (column, width) in enumerate(zip(columns, widths, strict=False))
    ]
    if not out.is_terminal:
        _print_plain(out, [heads, *zip(*cells, strict=True)], names)
        return
    table = Table(box=None, pad_edge=False)
    for i, head in enumerate(heads):
        is_name = i in names
        table.add_column(head, justify="left" if is_name else "right", no_wrap=not is_name)
    for row in zip(*cells, strict=True):
        table.add_row(*(Text(cell, no_wrap=True) for cell in row))
    out.print(table, soft_wrap=False)


def _print_plain(out: Console, rows: Sequence[Row], names: Sequence[int]) -> None:
    """Print rows into a file or pipe; rich would take ten times as long to lay out many rows."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(_width, {*column})) for column in columns]
    padded = []
    for i, (column, width) in enumerate(zip(columns, widths, strict=True)):
        blanks = [" " * (width - _width(cell)) for cell in column]
        pairs = zip(column, blanks, strict=True)
        padded.append([cell + blank if i in names else blank + cell for cell, blank in pairs])
    gap = " " * COLUMN_GAP
    if not out.quiet:
        out.file.writelines(f"{gap.join(row).rstrip()}\n" for row in zip(*padded, strict=True))


def _widths(rows: Sequence[Row], names: set[int], room: int) -> list[int]:
    """Return the widths of columns; if they do not fit, the widest columns of names shrink."""
    shown = [[*map(printable, {*column})] for column in zip(*rows, strict=True)]
    widths = [max(map(_width, column)) for column in shown]
    excess = sum(widths) + COLUMN_GAP * (len(widths) - 1) - room
    while excess > 0 and names:
        first, *others = sorted(names, key=lambda i: -widths[i])
        step = min(excess, max(1, widths[first] - max((widths[i] for i in others), default=0)))
        if widths[first] - step < MIN_NAME_WIDTH:
            break
        widths[first] -= step
        excess -= step
    return widths


def _cut(column: Row, width: int) -> list[str]:
    """Return names cut to the width of their column; different names stay different."""
    known = list(dict.fromkeys(column))
    short = dict(zip(known, labels(known, width), strict=True))
    fitting = {name: _cut_to_cells(label, width) for name, label in short.items()}
    return [fitting[name] for name in column]


def _cut_to_cells(label: str, width: int) -> str:
    """Return a label cut to a width in cells; some characters are two cells wide."""
    length, cut = width, label
    while _width(cut) > width and length > 1:
        length -= 1
        cut = shortened(label, length)
    return cut


def _width(text: str) -> int:
    """Return the width of printable text in cells; most is ASCII, which needs no tables."""
    return len(text) if text.isascii() else cell_len(text)
