"""Parsers of cost files, TOML and CSV."""

import csv
import io
from typing import Any

from streamplace.errors import GraphError, within
from streamplace.files.toml import parse_toml

COLUMNS = ("instructions", "payload_bytes", "memory_bytes", "selectivity")


def from_toml(text: str) -> Any:
    """Parse TOML, or raise GraphError with the fault."""
    try:
        return parse_toml(text)
    except ValueError as error:
        raise GraphError(str(error)) from None


def from_csv(text: str) -> dict[str, Any]:
    """Read a header ``operator,instructions,…`` and one line per operator; cells may be empty.

    Raises
    ------
    GraphError
        Naming the line and the fault.
    """
    reader = csv.reader(io.StringIO(text), strict=True)
    operators: dict[str, dict[str, float]] = {}
    header: list[str] = []
    try:
        for row in reader:
            with within(f"line {reader.line_num}"):
                if not header:
                    header = _header(row)
                elif row:
                    _add(operators, header, row)
    except csv.Error as error:
        raise GraphError(f"not CSV: {error}") from None
    if not header:
        raise GraphError("is empty")
    return {"operators": operators}


def _header(row: list[str]) -> list[str]:
    if row[:1] != ["operator"]:
        raise GraphError("must begin with 'operator'")
    for i, name in enumerate(row[1:], start=1):
        if name not in COLUMNS:
            raise GraphError(f"no column is called {name!r:.40}; there are {', '.join(COLUMNS)}")
        if name in row[:i]:
            raise GraphError(f"column {name!r} appears twice")
    return row


def _add(operators: dict[str, dict[str, float]], header: list[str], row: list[str]) -> None:
    if len(row) != len(header):
        raise GraphError(f"must have {len(header)} columns, not {len(row)}")
    operator = row[0]
    if operator in operators:
        raise GraphError(f"operator {operator!r:.40} appears twice")
    operators[operator] = {}
    for what, cell in zip(header[1:], row[1:], strict=True):
        if not cell.strip():
            continue
        try:
            operators[operator][what] = float(cell)
        except ValueError:
            raise GraphError(f"{what}: {cell!r:.40} is no number") from None
