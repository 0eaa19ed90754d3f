"""The frame of studies: the plan, the units of work and the outcome.

A `Study` is a protocol. Ours are a `PlannedStudy`: settings, tables of units with the function that
runs each of them, and an outcome.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from streamplace.display.view import Grid, Line, View
from streamplace.families import Recipe
from streamplace.papers.studies.table import Table
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.problem import Problem
from streamplace.sim.orders import longest_paths
from streamplace.util.threads import one_thread

DEVICES = "5x2500"
SOURCE_RATE = 1e4  # tuples/s

Size = TypeVar("Size")
Row = dict[str, Any]
"""One result, as it is written to the folder: names and JSON values."""


def problem_of(number: int, graphs: int, seed: int) -> Problem:
    """Return the problem of a graph of the branched benchmark, of which there are `graphs`."""
    graph = Recipe("dream", graphs, seed=seed).graph(number)
    return Problem(graph, Cluster.parse(DEVICES), source_rate=SOURCE_RATE)


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
    seeds
        Number of seeds of each training and search; None: that of the plan.
    """

    quick: bool = False
    seed: int = 0
    seeds: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Part:
    """The units of one kind as a table, whose rows are units and whose columns are settings.

    Parameters
    ----------
    columns
        The names of the settings. No other part of the study has the same ones.
    rows
        Returns the settings of each unit, in the order of the columns.
    key
        Returns the key of a unit with some settings.
    run
        Returns the results of a unit with some settings.
    """

    columns: tuple[str, ...]
    rows: Callable[[], Iterable[Sequence[Any]]]
    key: Callable[..., str]
    run: Callable[..., Iterable[Row]]

    def units(self) -> Iterator[Unit]:
        """Yield the units, in the order of the rows."""
        for row in self.rows():
            settings = dict(zip(self.columns, row, strict=True))
            yield Unit(self.key(**settings), settings)


class Study(Protocol):
    """A published experiment. It is picklable, since its units run in other processes."""

    @property
    def name(self) -> str:
        """Its name in folders of results and in messages."""
        ...

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


@dataclass(frozen=True)
class PlannedStudy(Options, ABC):
    """A study that consists of tables of units; see `Study` for what it does with them."""

    name: ClassVar[str]

    def with_seeds(self, size: Size, *fields: str) -> Size:
        """Return a size whose `fields` are the number of seeds that was asked for, if any was."""
        if self.seeds is None:
            return size
        changed: Size = replace(size, **dict.fromkeys(fields, self.seeds))  # type: ignore[type-var]
        return changed

    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """Return all that determines the results besides the seed, as JSON values.

        Raises
        ------
        StreamplaceError
            If an input of the study cannot be read.
        """

    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """Return the tables of units, in the order of the plan."""

    @abstractmethod
    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return the outcome; see `Study.outcome`."""

    def plan(self) -> Plan:
        """Return the plan; see `Study.plan`."""
        settings = {**self.settings(), "seed": self.seed}
        return Plan(settings, tuple(unit for part in self.parts() for unit in part.units()))

    def run(self, unit: Unit) -> list[Row]:
        """Return the results of one unit, on one thread; see `Study.run`."""
        (part,) = [one for one in self.parts() if set(one.columns) == set(unit.settings)]
        with one_thread():
            return list(part.run(**unit.settings))


def blocks(count: int, size: int) -> Iterator[tuple[int]]:
    """Yield the rows of a table whose units are blocks of `size` graphs: their first numbers."""
    yield from ((first,) for first in range(0, count, size))


def seed_of(*numbers: int) -> int:
    """Return a seed for a run with some numbers, at least 0; other numbers have another seed."""
    return int(np.random.SeedSequence(list(numbers)).generate_state(1)[0])


def longest_path(graph: StreamGraph) -> int:
    """Return the number of streams on the longest path."""
    paths = longest_paths(graph.stream_source, graph.stream_target, len(graph.names))
    return int(paths.max())
