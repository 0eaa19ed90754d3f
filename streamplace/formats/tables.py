"""Tables of operators and streams, CSV: what spreadsheets save."""

import csv
import io
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from streamplace.errors import GraphError, within
from streamplace.files.reading import separator_fault
from streamplace.formats.columns import (
    FROM,
    OPERATOR,
    RESOURCE,
    SPEED,
    TIME,
    TO,
    Column,
    columns_of,
)
from streamplace.formats.speeds import ASSUMED_MIPS
from streamplace.util.text import PlacedFault, joined_faults

MICROSECONDS = 1e6
"""In a second; a time in microseconds times MIPS is instructions."""
WHOLE = ("parallelism", "partitions")
RATE = "source_rate"
OF_STREAMS = ("selectivity", "payload_bytes")
"""Fields that a row with both ends of a stream may have."""
Ends = tuple[str, str]


@dataclass
class Table:
    """What a table says.

    Parameters
    ----------
    operators
        Operator -> its fields, as a costs file has them.
    streams
        Ends of a stream -> its fields; it may have none.
    rates
        Source -> tuples/s.
    notes
        What was assumed, a sentence each.
    """

    operators: dict[str, dict[str, Any]] = field(default_factory=dict)
    streams: dict[Ends, dict[str, Any]] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def table_of(text: str) -> Table:
    """Parse a table with a header and a row per operator or stream.

    A row with ``operator`` is about an operator, and ``from`` and ``to`` in it name the operators
    before and after it, which semicolons or commas separate. Other rows have both, for a stream.
    Cells may be empty.

    Raises
    ------
    GraphError
        If the text is not valid. The message names the faults and their lines.
    """
    reader = csv.reader(io.StringIO(text), strict=True)
    table = Table()
    columns: list[Column] = []
    faults: list[PlacedFault] = []
    read_lines = 0
    try:
        for row in reader:
            read_lines = reader.line_num
            line = f"line {read_lines}"
            if not columns and row:
                with within(line):
                    columns = _header(row)
            elif any(row):
                faults += _add(table, columns, row, line)
    except csv.Error as error:
        raise GraphError(f"line {read_lines + 1}: not CSV: {error}") from None
    if not columns:
        raise GraphError("is empty")
    if faults:
        raise GraphError(joined_faults(faults, len(faults)))
    return table


def _header(row: list[str]) -> list[Column]:
    if fault := separator_fault(row):
        raise GraphError(f"{fault}, and write decimals with points")  # European spreadsheets
    columns = columns_of([cell.strip() for cell in row])
    if not _column_with(columns, OPERATOR) and not (
        _column_with(columns, FROM) and _column_with(columns, TO)
    ):
        raise GraphError(
            f"the header needs a column {OPERATOR!r}, or columns {FROM!r} and {TO!r} of streams"
        )
    if (speed := _column_with(columns, SPEED)) and not _column_with(columns, TIME):
        raise GraphError(f"column {speed.header!r} needs one of times, such as cpu_ms")
    return columns


def _column_with(columns: list[Column], what: str) -> Column | None:
    return next((each for each in columns if each.what == what), None)


def _add(table: Table, columns: list[Column], row: list[str], line: str) -> Iterator[PlacedFault]:
    """Add what a row says to a table, and yield the faults of the row."""
    if len(row) != len(columns):
        yield PlacedFault(line, f"expected {len(columns)} columns", f"{len(row)}")
        return
    cells = {each: cell.strip() for each, cell in zip(columns, row, strict=True) if cell.strip()}
    name, before, after = (_take(cells, what) for what in (OPERATOR, FROM, TO))
    time = _column_with([*cells], TIME)
    if time is not None and not _column_with([*cells], SPEED):
        table.notes[:] = [
            f"{time.header} is the time on a core of {ASSUMED_MIPS:g} MIPS, as in --devices "
            f"4x{ASSUMED_MIPS:g}; a column {SPEED} states another speed"
        ]
    numbers = yield from _numbers(cells, line)
    if name:
        if name in table.operators:
            yield PlacedFault(line, f"operator {name!r:.40} appears twice")
            return
        if (rate := numbers.pop(RATE, None)) is not None:
            table.rates[name] = rate
        table.operators[name] = numbers
        ends = (
            *((each, name) for each in _names(before)),
            *((name, each) for each in _names(after)),
        )
        table.streams |= {stream: table.streams.get(stream, {}) for stream in ends}
        return
    if not before or not after:
        yield PlacedFault(line, "needs the name of an operator, or both ends of a stream")
    if table.streams.get((before, after)):
        yield PlacedFault(line, f"stream {before!r:.40} -> {after!r:.40} appears twice")
    if wrong := [each.header for each in cells if each.field not in OF_STREAMS]:
        yield PlacedFault(line, f"{wrong[0]} is of operators, and the row is of a stream")
    table.streams[before, after] = numbers


def _take(cells: dict[Column, str], what: str) -> str:
    """Remove a cell from those of a row, and return it; empty if there is none."""
    return next((cells.pop(each) for each in [*cells] if each.what == what), "")


def _names(cell: str) -> list[str]:
    """Return the names in a cell, which semicolons or commas separate."""
    names = (name.strip() for name in cell.replace(",", ";").split(";"))
    return [name for name in names if name]


def _numbers(cells: dict[Column, str], line: str) -> Generator[PlacedFault, None, dict[str, Any]]:
    """Return the fields of a row; yield the faults of its cells."""
    found: dict[str, Any] = {}
    speed = ASSUMED_MIPS
    times: list[str] = []
    for column, cell in cells.items():
        number = column.number(cell)
        if not column.header:
            yield PlacedFault(line, "a cell has no header", f"{cell!r:.40}")
        elif number is None:
            yield PlacedFault(f"{line}: {column.header}", column.expected, f"{cell!r:.40}")
        elif column.what == SPEED and number <= 0:  # on such a core, any time is no work
            yield PlacedFault(f"{line}: {column.header}", "must be above 0", f"{cell!r:.40}")
        elif number < 0:
            yield PlacedFault(f"{line}: {column.header}", "must be at least 0", f"{cell!r:.40}")
        elif column.what == SPEED:
            speed = number
        elif column.what.startswith(RESOURCE):
            found.setdefault("resources", {})[column.what.removeprefix(RESOURCE)] = number
        else:
            times += [column.field] if column.what == TIME else []
            is_whole = column.what in WHOLE and number.is_integer()
            found[column.field] = int(number) if is_whole else number
    for name in times:
        found[name] *= MICROSECONDS * speed
    return found
