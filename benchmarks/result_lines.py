"""Results in a folder, a line for each trial, to which an interrupted run adds the rest."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LINES, SETTINGS = "results.jsonl", "settings.json"


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
        if self.path.exists():
            whole = self.path.read_text()
            self.path.write_text(whole[: whole.rfind("\n") + 1])  # without a line cut off

    def add(self, row: dict[str, Any]) -> None:
        """Write a line."""
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the lines so far."""
        if self.path.exists():
            with self.path.open() as file:
                for line in file:
                    yield json.loads(line)
