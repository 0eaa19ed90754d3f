"""The result type of `compare`: a table of placers x source rates, over graphs, by a measure."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from math import nan
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self
from zlib import crc32

import numpy as np

from streamplace.display.mixins import Displayable, Tabular
from streamplace.display.paper_table import PaperTable
from streamplace.display.view import Line, View
from streamplace.errors import UsageError
from streamplace.placers.base import Found
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Objective
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Placements
from streamplace.util.arrays import Floats
from streamplace.util.effect import FEWEST, Effect
from streamplace.util.text import counted
from streamplace.workflows.cases import CaseList
from streamplace.workflows.comparison_tables import (
    CPU,
    INTERVAL,
    OVER_START,
    PLACER,
    RATE,
    START,
    Columns,
    best_cells,
    check_columns,
    index_of,
    labelled_as,
    quotients,
    save_tables,
    table_view,
)


class Figures(NamedTuple):
    """The numbers of R source rates, P placers and C cases; unknown ones are NaN."""

    values: Floats  # (R, P, C), by the measure; NaN where a placer found no placement
    starts: Floats  # (R, P, C), of the placement that a placer improves
    seconds: Floats  # (R, P, C), wall time of the placer
    cpu_seconds: Floats  # (R, P, C), CPU time of its process
    devices_used: Floats  # (R, P, C)
    evaluations: Floats  # (R, P, C), placements that the placer scored
    own_schedules: Floats  # (R, P, C), the value in the order of a list scheduler's own schedule
    bounds: Floats  # (R, C), the tightest bound on the value that is known
    longest_paths: Floats  # (R, C), seconds with all operators on their fastest devices

    @classmethod
    def of(cls, values: Floats, **known: Floats) -> Self:
        """Return these numbers with others of the same shape; those that are left out are NaN."""
        rates, _, cases = values.shape
        shapes = dict.fromkeys(cls._fields, values.shape)
        shapes |= dict.fromkeys(("bounds", "longest_paths"), (rates, cases))
        unknown = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
        return cls(**{**unknown, "values": values, **known})

    def of_placers(self, numbers: Sequence[int]) -> Self:
        """Return the numbers of some of the placers."""
        by_case = ("bounds", "longest_paths")
        kept = {n: a[:, numbers] for n, a in self._asdict().items() if n not in by_case}
        return self._replace(**kept)


@dataclass(frozen=True)
class ScoreMeasure(ABC):
    """What a comparison compares under an objective, and how its tables show that.

    Attributes
    ----------
    is_ratio
        Whether a placer is set against another by the ratio of their values, and not by the
        difference.
    skips_failures
        Whether a placer without a placement of some cases is no error.
    expendable
        Columns that are dropped, in this order, if the table is too wide to show names.
    """

    is_ratio: ClassVar[bool]
    skips_failures: ClassVar[bool]
    expendable: ClassVar[tuple[str, ...]]

    objective: Objective

    @property
    def name(self) -> str:
        """What is measured, in words."""
        return self.objective.quantity

    @property
    def unit(self) -> str:
        """The unit of a value; empty without one."""
        return self.objective.unit

    @property
    def higher_is_better(self) -> bool:
        """Whether the better of two values is the higher one."""
        return self.objective.higher_is_better

    @property
    def reference(self) -> str | None:
        """The placer with which all others are compared, if it is among them; None: none."""
        return self.objective.reference

    @property
    def scored_by(self) -> str:
        """What scores placements, as titles of plots name it."""
        return self.objective.settings_in_words()

    @property
    @abstractmethod
    def pictures(self) -> tuple[str, ...]:
        """The names of the pictures in the folder of `save_report`; the first compares placers."""

    @property
    @abstractmethod
    def effect(self) -> str:
        """The column of the differences or ratios whose interval `INTERVAL` is."""

    @property
    @abstractmethod
    def in_papers(self) -> tuple[str, ...]:
        """The columns of a table for a paper, which fit into one column of a page with two."""

    def problem(self, graph: StreamGraph, cluster: Cluster, rate: float | None) -> Problem:
        """Return the problem of a graph on a cluster at a source rate; None: the graph's own."""
        return Problem(graph, cluster, objective=self.objective.with_changes(rate))

    @abstractmethod
    def values(self, problem: Problem, devices: Placements) -> Floats:
        """Return the value of each placement, (K,)."""

    def longest_path(self, problem: Problem) -> float:
        """Return the longest path in seconds with operators on fastest devices; NaN: not shown."""
        return nan

    def tightest_bound(self, problem: Problem, proven: Sequence[float], values: Floats) -> float:
        """Return the tightest bound on all values that is known; NaN if none is.

        Parameters
        ----------
        proven
            The bounds that placers have proven.
        values
            (P,) values that placers have reached, NaN where there is none.

        Raises
        ------
        SimulationError
            If a value is better than the bound by more than rounding.
        """
        return nan

    def own_schedule(self, found: Found) -> float:
        """Return the value in the order of a list scheduler's own schedule; NaN without one."""
        return nan

    @abstractmethod
    def description(self, cases: CaseList) -> str:
        """Return a description of the numbers in a table, which plots have as a title."""

    def line(self, cases: CaseList) -> Line:
        """Return the first line of a table."""
        return Line(self.description(cases))

    @abstractmethod
    def entries(self) -> dict[str, Any]:
        """Return the entries of the measure in `compare --json`."""

    @abstractmethod
    def row(self, comparison: "Comparison", i: int, j: int) -> Any:
        """Return the row of a table for a source rate and a placer, a dataclass."""

    @abstractmethod
    def with_names(self, entries: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a row under the names in `compare --json`."""

    @abstractmethod
    def case_entries(self, comparison: "Comparison", i: int, j: int, n: int) -> dict[str, Any]:
        """Return what graphs.csv says of a source rate, a placer and a case."""

    @abstractmethod
    def columns(self, first: str = "", reference: str | None = None) -> Columns:
        """Return all columns of the table, whose names depend on the objective only.

        Parameters
        ----------
        first
            The name of the first placer, which is a part of headings.
        reference
            The name in the table of the placer with which all others are compared, if any.
        """

    @abstractmethod
    def empty(self, comparison: "Comparison") -> set[str]:
        """Return the names of columns that say nothing in a comparison."""


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Displayable, Tabular):
    """The results of P placers in C cases, each a graph on a cluster, at R source rates.

    Parameters
    ----------
    dataset
        Name of the dataset; may be empty.
    cases
        The cases. There is one for each graph or, if every graph is on every cluster, for each
        pair.
    measure
        What is compared: relative throughput, or what a custom objective is worth; the makespan,
        or the value of another objective without source rates.
    placers
        Names of the P placers in the table.
    source_rates
        In tuples/s; None: each graph's own, or that there are none.
    figures
        The numbers; see `Figures`.
    seed
        Seed of the bootstrap intervals.
    failures
        Why each placer found no placement of the first case that it could not place; empty texts
        for placers that placed all. Without reasons, there are no `notes`.
    labels
        Name in the table -> placer with its options, for those that are called otherwise.
    starts
        Name in the table -> what the placer improves, in words, for those that begin from a
        placement.
    chosen
        The columns of the table; see `of_columns`. Empty: those that say something.
    """

    dataset: str
    cases: CaseList
    measure: ScoreMeasure
    placers: tuple[str, ...]
    source_rates: tuple[float | None, ...]
    figures: Figures
    seed: int = field(default=0, kw_only=True)
    failures: tuple[str, ...] = field(default=(), kw_only=True)
    labels: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    starts: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    chosen: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def values(self) -> Floats:
        """The values by the measure, (R, P, C); NaN where a placer found no placement."""
        return self.figures.values

    @cached_property
    def rows(self) -> list[Any]:
        """The table, source rate by source rate, a row per placer."""
        return [self.measure.row(self, i, j) for i, j in self._points()]

    @property
    def columns(self) -> Columns:
        """The columns of the table, by name; CPU time is among them only if it was chosen."""
        columns = self.measure.columns(self.placers[0], self.reference)
        if self.chosen:
            return {name: columns[name] for name in self.chosen}
        empty = {CPU} | self.measure.empty(self) | (set() if self.starts else {START, OVER_START})
        if len(self.cases.graphs) < FEWEST:
            empty.add(INTERVAL)
        return {name: column for name, column in columns.items() if name not in empty}

    def of_columns(self, names: Iterable[str]) -> "Comparison":
        """Return the comparison with other columns in its tables, in this order.

        The names of placers stand first, and source rates next if there are several.

        Raises
        ------
        UsageError
            If there is no such column; the message lists all.
        """
        names = tuple(names)
        check_columns(names, self.measure.columns())
        first = (PLACER, *([RATE] if len(self.source_rates) > 1 else []))
        return replace(self, chosen=tuple(dict.fromkeys([*first, *names])))

    @property
    def reference(self) -> str | None:
        """The name of the measure's reference in the table; None if it is not among the placers."""
        name = self.measure.reference
        return None if name is None else labelled_as(name, self.placers, self.labels)

    @property
    def headline(self) -> str:
        """A description of the numbers in the table."""
        return self.measure.description(self.cases)

    def difference(self, placer: str, other: str) -> Effect:
        """Return the mean value of a placer less that of another, with its interval.

        The unit is a graph, whose value is its mean over clusters and source rates; the interval is
        a 95% interval from a paired bootstrap over the graphs.

        Raises
        ------
        UsageError
            If a placer was not compared.
        """
        means = self.values.mean(axis=0)
        own, others = (means[index_of(name, self.placers)] for name in (placer, other))
        return Effect.of(self.by_graph(own - others))

    def ratio(self, placer: str, other: str) -> Effect:
        """Return the mean ratio of a placer's values to those of another, with its interval.

        The unit is a graph, whose value is its mean over the cases that both placed; graphs without
        such a case are left out. The interval is a 95% interval from a paired bootstrap over the
        graphs.

        Raises
        ------
        UsageError
            If a placer was not compared, or there is no case that both placed.
        """
        own, others = (self.values[:, index_of(name, self.placers)] for name in (placer, other))
        means = self.by_graph(quotients(own, others).mean(axis=0))
        if not len(means):
            raise UsageError(f"there is no case that both {placer} and {other} placed")
        return Effect.of(means)

    def by_graph(self, values: Floats) -> Floats:
        """Return the mean of values, (C,), over the cases of each graph that has any, at most (G,).

        A case without a value is NaN.
        """
        graphs = [each[~np.isnan(each)] for each in values.reshape(len(self.cases.graphs), -1)]
        return np.array([each.mean() for each in graphs if len(each)])

    def of_placers(self, placers: Sequence[str]) -> "Comparison":
        """Return the comparison of some of the placers.

        Raises
        ------
        UsageError
            If one of them was not compared.
        """
        kept = [index_of(name, self.placers) for name in placers]
        return replace(
            self,
            placers=tuple(placers),
            figures=self.figures.of_placers(kept),
            failures=tuple(self.failures[j] for j in kept) if self.failures else (),
            starts={name: self.starts[name] for name in placers if name in self.starts},
        )

    @property
    def notes(self) -> list[str]:
        """Placers that did not place every case, each with the reason of its first failure."""
        whole, placed = counted(len(self.cases), "case"), ~np.isnan(self.values[0])
        return [
            f"{placer} placed {cases.sum():,} of {whole}: {reason}"
            for placer, cases, reason in zip(self.placers, placed, self.failures, strict=False)
            if reason
        ]

    def cells(self, i: int) -> tuple[str, ...]:
        """Return the cells of a row of the table."""
        return tuple(column.cell(self.rows[i]) for column in self.columns.values())

    def _view(self) -> View:
        columns, expendable = self.columns, self.measure.expendable
        return table_view(
            f"Comparison: {self.headline}",
            self.measure.line(self.cases),
            tuple(column.heading for column in columns.values()),
            len(self.rows),
            self.cells,
            () if self.chosen else tuple(columns[x].heading for x in expendable if x in columns),
        )

    def paper_table(self) -> PaperTable:
        """Return the table for a paper, with the best values of a column in bold.

        Its columns are the chosen ones or else few; `comparison_tables.best_cells` says which
        values are the best. Its label ends with a code of all that is compared, so that tables of
        other placers, objectives or columns have other labels, and a table that is made again keeps
        its own.
        """
        columns = self.columns
        if not self.chosen:
            few = (name for name in self.measure.in_papers if name in columns)
            columns = self.of_columns(few).columns
        caption, head = ". ".join(self._caption(columns)), [c.heading for c in columns.values()]
        text = "\n".join([caption, *head, *self.placers, repr(self.measure.objective)])
        compared = text.encode(errors="backslashreplace")  # names of files may be any bytes
        return PaperTable(
            f"compare {Path(self.dataset).name.partition('.')[0]} {crc32(compared):08x}",
            f"{caption}, streamplace {version('streamplace')}",
            head,
            [tuple(column.cell(row) for column in columns.values()) for row in self.rows],
            words=[j for j, name in enumerate(columns) if name in (PLACER, START)],
            bold=best_cells(self.rows, columns, len(self.placers)),
            block=len(self.placers),
        )

    def meanings(self, columns: Columns) -> Iterator[str]:
        """Yield what columns mean, and what an interval is of if its mean is not among them."""
        effect = self.measure.effect
        if INTERVAL in columns and effect not in columns:
            mean = self.measure.columns(self.placers[0], self.reference)[effect]
            columns = {effect: mean, **columns}
        for column in columns.values():
            if column.meaning:
                yield f"{column.heading}: {column.meaning}"

    def _caption(self, columns: Columns) -> Iterator[str]:
        """Yield what is known of how the numbers were found, and what columns mean."""
        rates = [f"{rate:,.6g}" for rate in self.source_rates if rate is not None]
        at = f"{' and '.join(rates)} tuples/s" if rates else ""
        what = f"{self.headline[0].upper()}{self.headline[1:]}"
        yield "; ".join(filter(None, (what, Path(self.dataset).name, self.cases.on, at)))
        yield from (f"{words[0].upper()}{words[1:]}" for words in self.meanings(columns))
        if len(self.placers) > 1:
            yield "Bold: the best of a column" + " at each rate" * (len(self.source_rates) > 1)
        yield f"Seed {self.seed}"

    def to_dict(self) -> dict[str, Any]:
        """Return what `compare --json` prints."""
        return {
            "dataset": self.dataset,
            **self.cases.entries(),
            **self.measure.entries(),
            **({"labels": dict(self.labels)} if self.labels else {}),
            "rows": self.to_records(),
        }

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows: a dictionary per placer and source rate, as in `to_dict`."""
        return [self.measure.with_names(asdict(row)) for row in self.rows]

    def save(self, folder: str | Path) -> None:
        """Write compare.json, table.csv (`rows`) and graphs.csv (a line per case) to a folder."""
        document = self.to_dict()
        save_tables(folder, document, document["rows"], self._case_lines())

    def _case_lines(self) -> Iterator[dict[str, Any]]:
        for n, case in enumerate(self.cases.lines()):
            for i, j in self._points():
                yield case | self.measure.case_entries(self, i, j, n)

    def _points(self) -> list[tuple[int, int]]:
        """Return the numbers of source rates and placers, in the order of `rows`."""
        return [(i, j) for i in range(len(self.source_rates)) for j in range(len(self.placers))]
