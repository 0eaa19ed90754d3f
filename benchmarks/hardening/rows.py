"""What a part of the campaign has counted, kept as JSON."""

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Self

from streamplace.files import write_json

MOST_FAULTS = 20
NOT_RUN = "not run"
"""Among the figures of a row of which nothing was tried: why."""
UNREACHABLE = "service not reachable"
"""Why a row may stay so: nobody here can do more about it."""


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
    group
        Under which rows of one part that count the same are one line of the README; none: a line
        of its own.
    """

    what: str
    tried: int
    wrong: Mapping[str, int]
    figures: Mapping[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    group: str = ""

    @property
    def good(self) -> bool:
        """Whether something was tried, and nothing went wrong."""
        return self.tried > 0 and not any(self.wrong.values())

    def __str__(self) -> str:
        wrong = ", ".join(f"{count} {what}" for what, count in self.wrong.items())
        figures = "".join(f"; {what} {value}" for what, value in self.figures.items())
        return f"{self.what}: {self.tried:,} tried, {wrong}{figures}"


@dataclass(frozen=True)
class Run:
    """Which run counted a row: what is typed to count it again, and of what it was.

    Parameters
    ----------
    share
        Of the whole campaign.
    commit
        With ``-dirty`` where files were changed since.
    """

    command: str
    share: float
    seed: int
    commit: str
    on: str

    @classmethod
    def of(cls, words: str, share: float, seed: int) -> Self:
        """Return a run that begins now.

        Parameters
        ----------
        words
            After ``python -m benchmarks.hardening`` on the command line.
        """
        command = f"python -m benchmarks.hardening {words}"
        if share != 1.0:
            command += f" --share {share:g}"
        if seed:
            command += f" --seed {seed}"
        return cls(command, share, seed, _commit(), f"{datetime.now(UTC):%Y-%m-%d}")


Counted = tuple[Row, Run]


def keep(path: Path, counted: Iterable[Counted], *, only: bool = False) -> None:
    """Write rows into the file of a part, each with its run.

    Parameters
    ----------
    only
        Whether no other rows stay there; else those of the same names are replaced.
    """
    kept = {} if only or not path.exists() else {row.what: (row, run) for row, run in read(path)}
    kept |= {row.what: (row, run) for row, run in counted}
    write_json(path, [{**asdict(row), "run": asdict(run)} for row, run in kept.values()])


def read(path: Path) -> list[Counted]:
    """Return the rows that `keep` wrote; none where there is no such file."""
    found = json.loads(path.read_text()) if path.exists() else []
    return [(Row(**row), Run(**run)) for row in found if (run := row.pop("run"))]


@cache
def _commit() -> str:
    """Return the commit once and for all: what is running does not change with the files."""
    told = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(
        told, capture_output=True, text=True, check=False, cwd=Path(__file__).parent
    ).stdout.strip()
