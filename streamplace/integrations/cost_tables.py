"""Parsers of costs files, TOML and CSV."""

import csv
import io
from typing import Any

from streamplace.errors import GraphError, within
from streamplace.files.toml import parse_toml

RESOURCE = "resources."
"""The columns of resources begin with it, such as ``resources.gpu``."""

Operators = dict[str, dict[str, Any]]
WHOLE = ("parallelism", "partitions")
COLUMNS = (
    "instructions",
    "payload_bytes",
    "memory_bytes",
    "selectivity",
    "instructions_se",
    "payload_bytes_se",
    "selectivity_se",
    *WHOLE,
)


def from_toml(text: str) -> Any:
    """Parse TOML.

    Raises
    ------
    GraphError
        If the text is not valid TOML.
    """
    try:
        return parse_toml(text)
    except ValueError as error:
        raise GraphError(str(error)) from None


def from_csv(text: str) -> dict[str, Any]:
    """Parse CSV with a header ``operator,instructions,…`` and one line per operator.

    Cells may be empty.

    Raises
    ------
    GraphError
        If the text is not valid. The message names the line and the fault.
    """
    reader = csv.reader(io.StringIO(text), strict=True)
    operators: Operators = {}
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
        raise GraphError("the first column must be 'operator'")
    for i, name in enumerate(row[1:], start=1):
        if name not in COLUMNS and not (name.startswith(RESOURCE) and name != RESOURCE):
            known = ", ".join((*COLUMNS, f"{RESOURCE}NAME"))
            raise GraphError(f"unknown column {name!r:.40}; choose from {known}")
        if name in row[:i]:
            raise GraphError(f"column {name!r} appears twice")
    return row


def _add(operators: Operators, header: list[str], row: list[str]) -> None:
    if len(row) != len(header):
        raise GraphError(f"expected {len(header)} columns (got {len(row)})")
    operator = row[0]
    if operator in operators:
        raise GraphError(f"operator {operator!r:.40} appears twice")
    operators[operator] = {}
    for column, cell in zip(header[1:], row[1:], strict=True):
        if not cell.strip():
            continue
        try:
            number = float(cell)
        except ValueError:
            raise GraphError(f"{column}: must be a number (got {cell!r:.40})") from None
        if column in COLUMNS:
            is_whole = column in WHOLE and number.is_integer()
            operators[operator][column] = int(number) if is_whole else number
        else:
            resources = operators[operator].setdefault("resources", {})
            resources[column.removeprefix(RESOURCE)] = number
