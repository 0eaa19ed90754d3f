"""Assignments without a problem: CSV files, and JSON objects with nothing but an ``assignment``."""

import csv
import io
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from streamplace.errors import FormatError
from streamplace.files.placement_columns import NPZ, read_placement_columns
from streamplace.files.reading import (
    STDIO,
    folder_of,
    name_of,
    parse,
    read_text,
    separator_fault,
    to_csv,
)
from streamplace.util.plugins import load_ours

HEADER = ["operator", "device"]
REFUSE_RESULT = "streamplace.jobs.files:refuse_result"
"""Refuses a result of several jobs, and names the placements beside it."""


def read_placement_json(path: str | Path) -> Any:
    """Return the JSON value of a placement file; a CSV file is read as ``{"assignment": {…}}``.

    A file is CSV if its name ends in .csv, or if its first line is the header
    ``operator,device``, also with other separators, which are refused. A file whose name ends in
    .npz is a placement in columns. The path of a graph that is not in the file is made one from the
    current folder.

    Raises
    ------
    FormatError
        If the file is neither, or holds a result of several jobs. The message names the file, the
        line and the fault.
    """
    if str(path).endswith(NPZ):
        return read_placement_columns(path)
    text, where = read_text(path), name_of(path)
    first = text.lstrip().partition("\n")[0].strip()
    if where.lower().endswith(".csv") or re.split("[,;\t]", first) == HEADER:
        return {"assignment": assignment_from_csv(text, where)}
    value = parse(text, where)
    is_of_jobs = isinstance(value, dict) and {"jobs", "assignment"} <= value.keys()
    if is_of_jobs and "problem" not in value:  # it is in a placement of all jobs
        load_ours(REFUSE_RESULT)(value, Path(path), where)
    return with_graph_beside(value, path)


def with_graph_beside(value: Any, path: str | Path) -> Any:
    """Return the JSON value of a file with the path of its graph, if it has one, made relative.

    The path is relative to the file, and then to the current folder.
    """
    problem = value.get("problem") if isinstance(value, dict) else None
    graph = problem.get("graph") if isinstance(problem, dict) else None
    if isinstance(graph, dict) and graph.get("path") not in (None, "", STDIO):
        with suppress(TypeError):  # the form reports a path that is not text
            graph["path"] = str(folder_of(path) / graph["path"])
    return value


def csv_of(assignment: Mapping[str, str]) -> str:
    """Return operator -> device as the text of a CSV file."""
    return to_csv(HEADER, assignment.items())


def is_assignment(value: Any) -> bool:
    """Return whether a JSON value is an assignment without a problem."""
    return (
        isinstance(value, dict) and "assignment" in value and not {"problem", "format"} & {*value}
    )


def assignment_from(value: Any, where: str) -> dict[str, str]:
    """Return operator -> device from a JSON value for which `is_assignment` holds.

    Raises
    ------
    FormatError
        If it is not an object of texts.
    """
    assignment = value["assignment"]
    if not isinstance(assignment, dict):
        raise FormatError(f"{where}: assignment: expected an object of operator: device")
    for operator, device in assignment.items():
        if not isinstance(device, str):
            got = "null" if device is None else f"{device!r:.40}"
            expected = f"expected a device's name (got {got})"
            raise FormatError(f"{where}: assignment[{operator!r:.80}]: {expected}")
    return assignment


def assignment_from_csv(text: str, where: str) -> dict[str, str]:
    """Return operator -> device from CSV with the header ``operator,device``.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the line and the fault.
    """
    reader = csv.reader(io.StringIO(text), strict=True)
    assignment: dict[str, str] = {}
    header: list[str] = []
    try:
        for row in reader:
            place = f"{where}: line {reader.line_num}"
            if not row:
                continue
            if not header:
                header = [cell.strip() for cell in row]
                if header != HEADER:
                    fault = separator_fault(header)
                    raise FormatError(f"{place}: {fault or 'the header must be operator,device'}")
            elif len(row) != len(HEADER):
                raise FormatError(f"{place}: expected 2 columns (got {len(row)})")
            elif not all(cell.strip() for cell in row):
                empty = HEADER[0] if not row[0].strip() else HEADER[1]
                raise FormatError(f"{place}: {empty} must not be empty")
            elif row[0] in assignment:
                raise FormatError(f"{place}: operator {row[0]!r:.80} appears twice")
            else:
                assignment[row[0]] = row[1]
    except csv.Error as error:
        raise FormatError(f"{where}: line {reader.line_num}: not CSV: {error}") from None
    if not assignment:
        raise FormatError(f"{where}: has no assignments")
    return assignment
