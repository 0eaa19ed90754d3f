"""Lines and views as wide as the terminal; in files and pipes nothing is cut off.

Rich respects NO_COLOR and COLUMNS. Text is never interpreted as markup.
"""

import os
from collections.abc import Mapping
from shlex import quote

from rich.console import Console

from streamplace.cli.table import FILE_WIDTH, NAME_WIDTH, print_table
from streamplace.display.labels import listed, shortened
from streamplace.display.mixins import Displayable, view_of
from streamplace.display.view import Cell, Line, View
from streamplace.execution.progress import is_quiet
from streamplace.util.text import printable

MIN_WIDTH = 40  # characters, even on a narrower terminal


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
    out.print(line.text.format(*(_in_line(out, name, room) for name in line.names)))


def print_command(command: str, argument: str, values: Mapping[str, object]) -> None:
    """Print a command to run, with the options that have a value, quoted for a shell."""
    words = [argument, *(word for pair in values.items() if pair[1] is not None for word in pair)]
    line = " ".join([command, *(quote(str(word)) for word in words)])
    console().print(f"to place on these devices: {printable(line)}")


def name_in(out: Console, name: str, length: int = NAME_WIDTH) -> str:
    """Return a name for use in a line; on a terminal it is cut to `length` characters."""
    return shortened(name, length) if out.width < FILE_WIDTH else printable(name)


def _in_line(out: Console, cell: Cell, room: int) -> str:
    return name_in(out, cell) if isinstance(cell, str) else listed(cell, room)
