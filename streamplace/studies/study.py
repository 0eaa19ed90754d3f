"""The protocol of a study: its plan, its units of work and its outcome."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from streamplace.display.view import Grid, Line, View
from streamplace.generate import Recipe
from streamplace.problem.cluster import Cluster
from streamplace.problem.problem import Problem
from streamplace.studies.table import Table

DEVICES = "5x2500"
SOURCE_RATE = 1e4  # tuples/s


def problem_of(number: int, graphs: int, seed: int) -> Problem:
    """Return the problem of a graph of the branched benchmark, of which there are `graphs`."""
    graph = Recipe("dream", graphs, seed=seed).graph(number)
    return Problem(graph, Cluster.parse(DEVICES), source_rate=SOURCE_RATE)


Row = dict[str, Any]
"""One result, as it is written to the folder: names and JSON values."""


@dataclass(frozen=True)
class Unit:
    """A part of a study that one process works on.

    Parameters
    ----------
    key
        Its name in the folder of results, different from those of all others.
    settings
        What the study needs to run it; JSON values.
    """

    key: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """The plan of a study, fixed before it runs.

    Parameters
    ----------
    settings
        All that determines the results, as JSON values. A folder of results is resumed only by a
        study with equal settings.
    units
        The units of work.
    """

    settings: Mapping[str, Any]
    units: tuple[Unit, ...]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a study.

    Parameters
    ----------
    title
        What was studied.
    findings
        Whole sentences, the most important first.
    tables
        Tables with measured and published figures.
    pictures
        Functions that draw a picture into a file, by its name without a suffix.
    """

    title: str
    findings: tuple[str, ...]
    tables: tuple[Table, ...]
    pictures: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)

    def view(self) -> View:
        """Return the findings and the tables for display."""
        body: list[Line | Grid] = [Line("{}", (text,)) for text in self.findings]
        for table in self.tables:
            body += [Line(""), Line("{}", (table.long_caption,)), table.grid()]
        return View(self.title, body=tuple(body))

    def to_dict(self) -> dict[str, Any]:
        """Return what `study … --json` prints."""
        return {
            "title": self.title,
            "findings": list(self.findings),
            "tables": [table.to_dict() for table in self.tables],
        }


@dataclass(frozen=True)
class Options:
    """The options that every built-in study has.

    Parameters
    ----------
    quick
        Whether to run a small share of the plan.
    seed
        Seed of the graphs and of all runs.
    """

    quick: bool = False
    seed: int = 0


class Study(Protocol):
    """A published experiment. It is picklable, since its units run in other processes."""

    name: ClassVar[str]

    def plan(self) -> Plan:
        """Return the plan.

        Raises
        ------
        StreamplaceError
            If an input of the study cannot be read.
        """
        ...

    def run(self, unit: Unit) -> list[Row]:
        """Return the results of one unit.

        They are the same on every machine and in every order, except for CPU times, ``cpu_s``.

        Raises
        ------
        StreamplaceError
            If it has no result.
        """
        ...

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return the outcome.

        Parameters
        ----------
        rows
            The results of all units, in the order of the plan.
        """
        ...


def seed_of(*numbers: int) -> int:
    """Return a seed for a run with some numbers, at least 0; other numbers have another seed."""
    return int(np.random.SeedSequence(list(numbers)).generate_state(1)[0])
