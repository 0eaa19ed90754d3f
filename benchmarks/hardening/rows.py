"""What a part of the campaign has counted, kept as JSON."""

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
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


def about_run(part: str, share: float, seed: int) -> dict[str, Any]:
    """Return what tells a run of a part from others: its command, share, seed, commit and day."""
    told = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(told, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "command": f"python -m benchmarks.hardening {part}",
        "share": share,
        "seed": seed,
        "commit": commit,
        "on": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def write_rows(path: Path, rows: Iterable[Row], **run: Any) -> None:
    """Write what a part has counted, and of which run it is."""
    write_json(path, {**run, "rows": [asdict(row) for row in rows]})


def read_rows(path: Path) -> tuple[list[Row], dict[str, Any]]:
    """Return what `write_rows` wrote."""
    found = json.loads(path.read_text())
    rows = [Row(**row) for row in found.pop("rows")]
    return rows, found
