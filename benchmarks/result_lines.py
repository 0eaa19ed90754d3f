"""Results in a file, a line for each trial, to which an interrupted run adds the rest."""

import gzip
import json
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from benchmarks.commit import running_commit

LINES, SETTINGS = "results.jsonl", "settings.json"


def read(path: Path) -> list[dict[str, Any]]:
    """Return the results in a file; remove an incomplete last line."""
    if not path.exists():
        return []
    if path.suffix == ".gz":
        return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    text = path.read_text()
    lines = text[: text.rfind("\n") + 1].splitlines()
    if len(lines) < len(text.splitlines()):
        path.write_text("".join(line + "\n" for line in lines))
    return [json.loads(line) for line in lines]


def add(file: TextIO, row: dict[str, Any]) -> None:
    """Write a result at once, so that a run that is interrupted later keeps it."""
    file.write(json.dumps(row) + "\n")
    file.flush()


def origin(module: str) -> dict[str, Any]:
    """Return what produces a result: the command of a module, the commit and the date."""
    return {
        "command": f"python -m {module} {shlex.join(sys.argv[1:])}",
        "commit": running_commit(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }


class Results:
    """The results in a folder.

    Parameters
    ----------
    settings
        What all results depend on.
    """

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.path = folder, folder / LINES
        known = folder / SETTINGS
        if known.exists() and json.loads(known.read_text()) != settings:
            print(f"{known}: has other settings; choose another folder", file=sys.stderr)
            sys.exit(2)
        known.write_text(json.dumps(settings, indent=1) + "\n")
        read(self.path)  # drops a line that was cut off

    def add(self, row: dict[str, Any]) -> None:
        """Write a line."""
        with self.path.open("a") as file:
            add(file, row)

    def rows(self) -> list[dict[str, Any]]:
        """Return the results so far."""
        return read(self.path)
