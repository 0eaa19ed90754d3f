"""Rows of results and the runs that produced them, stored as JSON."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from benchmarks.commit import running_commit
from streamplace.files import write_json

MAX_FAULTS = 20  # whose descriptions a row keeps
NOT_RUN = "not run"
"""The figure that states why a row has no tries."""
UNREACHABLE = "service not reachable"
"""A reason outside the project's control, with which the table still counts as complete."""


@dataclass(frozen=True)
class Row:
    """One row of the table.

    Parameters
    ----------
    what
        What was tried.
    tried
        The number of tries.
    wrong
        The number of faults by kind; all are 0 in a good row.
    figures
        Further measurements with their units: ``{"longest": "0.41 s"}``.
    faults
        Descriptions of the first faults, from which they can be reproduced.
    group
        The line of the table in docs/reliability.md that sums this row with others; empty for a
        separate line.
    """

    what: str
    tried: int
    wrong: Mapping[str, int]
    figures: Mapping[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    group: str = ""

    @property
    def good(self) -> bool:
        """Whether something was tried and nothing went wrong."""
        return self.tried > 0 and not any(self.wrong.values())

    def __str__(self) -> str:
        wrong = ", ".join(f"{count} {what}" for what, count in self.wrong.items())
        figures = "".join(f"; {what} {value}" for what, value in self.figures.items())
        return f"{self.what}: {self.tried:,} tried, {wrong}{figures}"


@dataclass(frozen=True)
class Run:
    """The run that produced a row, with the command that repeats it.

    Parameters
    ----------
    share
        The fraction of the whole campaign, 0 to 1.
    commit
        The commit, with ``-dirty`` if the tree had changes.
    on
        The date in UTC, YYYY-MM-DD.
    """

    command: str
    share: float
    seed: int
    commit: str
    on: str

    @classmethod
    def of(cls, words: str, share: float, seed: int) -> Self:
        """Return a run that starts now.

        Parameters
        ----------
        words
            The arguments after ``python -m benchmarks.hardening``.
        """
        command = f"python -m benchmarks.hardening {words}"
        if share != 1.0:
            command += f" --share {share:g}"
        if seed:
            command += f" --seed {seed}"
        return cls(command, share, seed, running_commit(), f"{datetime.now(UTC):%Y-%m-%d}")


Counted = tuple[Row, Run]


def save_rows(path: Path, counted: Iterable[Counted], *, replace_all: bool = False) -> None:
    """Write rows, each with its run, to the file of a part.

    Parameters
    ----------
    replace_all
        Whether to drop all earlier rows; otherwise only rows with the same names are replaced.
    """
    kept = (
        {}
        if replace_all or not path.exists()
        else {row.what: (row, run) for row, run in read_rows(path)}
    )
    kept |= {row.what: (row, run) for row, run in counted}
    write_json(path, [{**asdict(row), "run": asdict(run)} for row, run in kept.values()])


def read_rows(path: Path) -> list[Counted]:
    """Return the rows that `save_rows` wrote; an empty list if the file does not exist."""
    rows = json.loads(path.read_text()) if path.exists() else []
    return [(Row(**row), Run(**run)) for row in rows if (run := row.pop("run"))]
