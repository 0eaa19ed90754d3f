"""Tables of comparisons of all kinds: their rows, views and files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from streamplace.display.text import aligned, quoted
from streamplace.display.view import TABLE_ROWS, Grid, Line, View
from streamplace.errors import UsageError
from streamplace.files import write_json
from streamplace.files.reading import to_csv
from streamplace.files.writing import make_folder, write_text
from streamplace.util.arrays import Bools, Floats
from streamplace.util.checks import finite
from streamplace.util.suggest import candidates
from streamplace.util.text import counted

ROWS_SHOWN = 24  # in a repr
SAVED = ("compare.json", "table.csv", "graphs.csv")
INTERVAL = "95% interval"
"""The heading of the interval of the mean difference from a placer, or ratio to it."""
START, OVER_START = "start", "over start"


class Started(Protocol):
    """A row of a comparison: what the placer began from in words, and the mean ratio to it."""

    @property
    def start(self) -> str | None:
        """What the placer improves; None: it builds placements."""

    @property
    def over_start(self) -> float | None:
        """The mean ratio of what it reaches to what its start reaches."""


OF_STARTS: Mapping[str, Callable[[Started], str]] = {
    START: lambda row: row.start or "-",
    OVER_START: lambda row: "-" if row.over_start is None else f"{row.over_start:.3f}",
}
"""The cell of each column about starts."""


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
        lines.append(f"and {counted(count - ROWS_SHOWN, 'more row')}")
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
