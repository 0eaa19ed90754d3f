"""What a part of the campaign has counted, and the tables made of it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from streamplace.files import write_json

MOST_FAULTS = 20


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Parameters
    ----------
    what
        Was tried.
    tried
        How often.
    wrong
        Times by what may go wrong; all of them are to be 0.
    figures
        What was measured besides, with its unit: ``{"longest": "0.41 s"}``.
    faults
        What went wrong, told so that it can be done again; the first few.
    """

    what: str
    tried: int
    wrong: Mapping[str, int]
    figures: Mapping[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether something was tried, and nothing went wrong."""
        return self.tried > 0 and not any(self.wrong.values())

    def __str__(self) -> str:
        wrong = ", ".join(f"{count} {what}" for what, count in self.wrong.items())
        figures = "".join(f"; {what} {value}" for what, value in self.figures.items())
        return f"{self.what}: {self.tried:,} tried, {wrong}{figures}"


def write_rows(path: Path, rows: Iterable[Row], **run: Any) -> None:
    """Write what a part has counted, and of which run it is."""
    write_json(path, {**run, "rows": [asdict(row) for row in rows]})


def read_rows(path: Path) -> tuple[list[Row], dict[str, Any]]:
    """Return what `write_rows` wrote."""
    found = json.loads(path.read_text())
    rows = [Row(**row) for row in found.pop("rows")]
    return rows, found


def markdown(rows: Iterable[Row], command: str) -> str:
    """Return rows as lines of a Markdown table: what, tried, wrong, measured, command."""
    lines = []
    for row in rows:
        wrong = ", ".join(f"{count} {what}" for what, count in row.wrong.items())
        figures = ", ".join(f"{what} {value}" for what, value in row.figures.items())
        lines.append(f"| {row.what} | {row.tried:,} | {wrong} | {figures} | `{command}` |")
    return "".join(line + "\n" for line in lines)
