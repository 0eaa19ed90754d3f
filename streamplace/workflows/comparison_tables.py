"""Tables of comparisons of all kinds: their rows, views and files."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from streamplace.display.paper_table import Best, Place, best_places
from streamplace.display.text import aligned, quoted
from streamplace.display.view import TABLE_ROWS, Grid, Line, View
from streamplace.errors import Fault, UsageError
from streamplace.files import write_json
from streamplace.files.reading import to_csv
from streamplace.files.writing import make_folder, write_text
from streamplace.util.arrays import Bools, Floats
from streamplace.util.checks import finite
from streamplace.util.suggest import candidates
from streamplace.util.text import counted, shortened

ROWS_SHOWN = 24  # in a repr
SAVED = ("compare.json", "table.csv", "graphs.csv")
PLACER, RATE, INTERVAL, START, OVER_START, CPU = (  # names of columns
    *("placer", "rate", "interval", "start", "over-start", "cpu-ms"),
)
INTERVAL_HEADING = "95% interval"
BOOTSTRAP = "by a paired bootstrap over the graphs"
SHARES = "share of graphs better (+) and worse (-)"
NAME_IN_HEADING = 24  # characters of a placer's name in a heading; a note has the whole name


@dataclass(frozen=True)
class Column:
    """A column of the tables of a comparison.

    Parameters
    ----------
    heading
        Its heading.
    keys
        The fields of a row that it shows.
    text
        Returns a cell, of the values of these fields.
    best
        `max` or `min`, which finds the best of the values of its first field; None: no value is
        better than another, or another column has the same order.
    meaning
        What it means, for a note under the table; empty: its heading says so.
    unknown
        The cell of a row without such a value.
    """

    heading: str
    keys: tuple[str, ...]
    text: Callable[..., str] = str
    best: Best | None = None
    meaning: str = ""
    unknown: str = "-"

    def values(self, row: Any) -> list[Any]:
        """Return the values of a row that it shows; None is an unknown one."""
        return [getattr(row, key) for key in self.keys]

    def value(self, row: Any) -> Any:
        """Return the first of these values."""
        return self.values(row)[0]

    def cell(self, row: Any) -> str:
        """Return the cell of a row."""
        values = self.values(row)
        return self.unknown if None in values else self.text(*values)


Columns = Mapping[str, Column]
"""Name, as the option ``--columns`` has it -> column; the first one has the placers."""


def check_columns(names: Iterable[str], known: Collection[str]) -> None:
    """Raise a UsageError about the first name that no column has."""
    for name in names:
        if name not in known:
            fault = f"unknown column {name!r:.80}; choose from {', '.join(known)}"
            raise UsageError(Fault(fault, option="--columns"))


def best_cells(rows: Sequence[Any], columns: Columns, block: int) -> set[Place]:
    """Return the places with the best value of a column among each block of rows; ties are all.

    `Column.best` says what is best: the highest throughput, the lowest makespan, cost, gap or time.
    Placers that placed fewer graphs than another one of their block have none, since their means
    are over fewer graphs.
    """
    found = set[Place]()
    placed = [getattr(row, "placed", 0) for row in rows]
    for j, column in enumerate(columns.values()):
        if column.best is None:
            continue
        for begin in range(0, len(rows), block):
            most = max(placed[begin : begin + block])
            of_block = (i for i in range(begin, begin + block) if placed[i] == most)
            cells = (((i, j), column.value(rows[i]), column.cell(rows[i])) for i in of_block)
            found |= best_places(cells, column.best)
    return found


def beside_placer(words: str, placer: str, what: str) -> tuple[str, str]:
    """Return heading and meaning of a column that compares with a placer; `what` is the figure."""
    name = shortened(placer, NAME_IN_HEADING)
    whole = "" if name == placer else f"; the whole name is {placer}"
    return f"{words} {name}", f"{what} over the graphs{whole}"


def three_digits(value: float) -> str:
    """Return the cell of a ratio or a share."""
    return f"{value:.3f}"


def in_ms(seconds: float) -> str:
    """Return the cell of a time in milliseconds."""
    return f"{seconds * 1e3:.2f}"


def columns_of_starts(best: Best) -> Columns:
    """Return the columns about starts; `best` finds the best ratio to them."""
    return {
        START: Column("start", ("start",)),
        OVER_START: Column("over start", ("over_start",), three_digits, best),
    }


def columns_of_times() -> Columns:
    """Return the columns of the time that a placer takes per graph: by the clock, and of CPUs."""
    return {
        "ms": Column("ms", ("seconds_per_graph",), in_ms, min),
        CPU: Column("CPU ms", ("cpu_seconds_per_graph",), in_ms, min),
    }


def quotients(values: Floats, others: Floats) -> Floats:
    """Return values over others; 1 where both are 0, and infinity where only the others are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where((values == 0.0) & (others == 0.0), 1.0, values / others)
    return found


def mean(values: Floats | Bools) -> float | None:
    """Return the mean of values, or None if there is none, or it is not finite."""
    return finite(values.mean()) if len(values) else None


def index_of(placer: str, placers: Sequence[str]) -> int:
    """Return the row of a placer.

    Raises
    ------
    UsageError
        If it was not compared.
    """
    if placer not in placers:
        raise UsageError(f"placer {placer!r} was not compared{candidates(placer, placers)}")
    return placers.index(placer)


def labelled_as(name: str, placers: Sequence[str], labels: Mapping[str, str]) -> str | None:
    """Return how the table calls the placer of a name, see `Comparison`; None if it is absent."""
    return next((placer for placer in placers if labels.get(placer, placer) == name), None)


def table_view(
    headline: str,
    line: Line,
    head: tuple[str, ...],
    count: int,
    cells: Callable[[int], tuple[str, ...]],
    expendable: tuple[str, ...],
) -> View:
    """Return the view of a comparison: its headline in a repr, or its first line and its table.

    Parameters
    ----------
    cells
        Function from a row number to the cells of the row, of which the first is a placer's name.
    expendable
        Headings of columns that are dropped, in this order, if the table is too wide to show names.
    """
    shown = (cells(i) for i in range(min(count, ROWS_SHOWN)))
    lines = aligned([head, *((quoted(name)[1:-1], *others) for name, *others in shown)])
    if count > ROWS_SHOWN:
        lines.append(f"and {counted(count - ROWS_SHOWN, 'more line')}")
    table = Grid(head, count, cells, expendable=tuple(x for x in expendable if x in head))
    return View(headline, tuple(lines), (line, table), TABLE_ROWS)


def rows_as_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows with the same keys as CSV."""
    return to_csv(list(rows[0]), (row.values() for row in rows))


def save_tables(
    folder: str | Path,
    document: dict[str, Any],
    rows: Sequence[dict[str, Any]],
    cases: Iterable[dict[str, Any]],
) -> None:
    """Write compare.json (`document`), table.csv (`rows`) and graphs.csv (`cases`) to a folder."""
    folder = make_folder(folder)
    paths = [folder / name for name in SAVED]
    write_json(paths[0], document)
    for path, lines in ((paths[1], rows), (paths[2], list(cases))):
        write_text(path, rows_as_csv(lines))
