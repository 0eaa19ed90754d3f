"""The result type of `compare`: a table of placers x source rates, over graphs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from streamplace.display.mixins import Displayable, RoundedRepr, Tabular
from streamplace.display.text import quoted
from streamplace.display.view import Line, View
from streamplace.scoring.score import THROUGHPUT
from streamplace.util.arrays import Floats
from streamplace.util.checks import finite
from streamplace.util.effect import FEWEST, Effect
from streamplace.workflows.cases import CaseList
from streamplace.workflows.comparison_tables import (
    INTERVAL,
    OF_STARTS,
    index_of,
    labelled_as,
    mean,
    quotients,
    save_tables,
    table_view,
)

TIE = 0.001  # a smaller difference in relative throughput is a tie
KEEPS_UP = 0.97  # relative throughput above which a placement practically keeps up
REFERENCE = "metis"
MINUS_FIRST = "minus first"
EXPENDABLE = ("ms", "devices", "min", ">0.97", "Q1", "median", INTERVAL, MINUS_FIRST, "vs metis")
"""Columns dropped, in this order, if the table is too wide to show names."""


@dataclass(frozen=True, repr=False)
class ComparisonRow(RoundedRepr):
    """Statistics of one placer at one source rate over all graphs.

    ``mean`` to ``min`` are of relative throughput. ``better_than_metis``, ``tied_with_metis`` and
    ``worse_than_metis`` are shares of graphs, None if `metis` is not among the placers.

    ``minus_first`` is the mean difference from the first placer, ``minus_first_low`` and
    ``minus_first_high`` its 95% interval; see `Comparison.difference`. All are None for the first
    placer itself, and the interval of fewer than three graphs is None.

    ``start`` is what a placer that improves a placement began from, in words, and ``over_start``
    the mean ratio of its relative throughput to that of the start. Both are None for placers that
    build placements. ``seconds_per_graph`` is wall time of the placer, ``cpu_seconds_per_graph``
    CPU time of its process.
    """

    placer: str
    source_rate: float | None
    mean: float
    q1: float
    median: float
    min: float
    share_above_0_97: float
    better_than_metis: float | None
    tied_with_metis: float | None
    worse_than_metis: float | None
    minus_first: float | None
    minus_first_low: float | None
    minus_first_high: float | None
    start: str | None
    over_start: float | None
    mean_devices: float
    seconds_per_graph: float
    cpu_seconds_per_graph: float

    @property
    def shares(self) -> str:
        """The shares of graphs that are better and worse than with `metis`, as a table cell."""
        if self.better_than_metis is None or self.worse_than_metis is None:
            return "-"
        return f"+{self.better_than_metis:.0%} -{self.worse_than_metis:.0%}"

    @property
    def difference(self) -> str:
        """The mean difference from the first placer as a table cell."""
        return "-" if self.minus_first is None else f"{self.minus_first:+.3f}"

    @property
    def interval(self) -> str:
        """The interval of that difference as a table cell."""
        if self.minus_first_low is None or self.minus_first_high is None:
            return "-"
        return f"{self.minus_first_low:+.3f} to {self.minus_first_high:+.3f}"

    def to_dict(self) -> dict[str, Any]:
        """Return the row as `compare --json` prints it."""
        return {key.replace("0_97", "0.97"): value for key, value in asdict(self).items()}


COLUMNS: dict[str, Callable[[ComparisonRow], str]] = {
    "placer": lambda row: row.placer,
    "rate": lambda row: "own" if row.source_rate is None else f"{row.source_rate:g}",
    "mean": lambda row: f"{row.mean:.3f}",
    "Q1": lambda row: f"{row.q1:.3f}",
    "median": lambda row: f"{row.median:.3f}",
    "min": lambda row: f"{row.min:.3f}",
    ">0.97": lambda row: f"{row.share_above_0_97:.0%}",
    "vs metis": lambda row: row.shares,
    MINUS_FIRST: lambda row: row.difference,
    INTERVAL: lambda row: row.interval,
    **OF_STARTS,
    "devices": lambda row: f"{row.mean_devices:.1f}",
    "ms": lambda row: f"{row.seconds_per_graph * 1e3:.2f}",
}
"""The cell of each column."""


@dataclass(frozen=True, repr=False)
class Comparison(Displayable, Tabular):
    """The results of every placer on every graph at every source rate.

    Parameters
    ----------
    source_rates
        In tuples/s; None: each graph's own.
    relative_throughput, devices_used, seconds, cpu_seconds, of_start
        Arrays of shape (source rates, placers, cases); seconds are wall time of the placer,
        `cpu_seconds` CPU time of its process, and `of_start` is the relative throughput of the
        placement that a placer improves, NaN for placers that build placements. There is a case for
        each graph or, if every graph is on every cluster, for each pair, in the order of `cases`.
    objective
        The objective's name. Under a custom objective, relative throughput is the relative value of
        that objective.
    clusters, cross
        The number of clusters, None if one serves all graphs; and whether every graph is on every
        cluster, instead of graph i on cluster i.
    labels
        Name in the table -> placer with its options, for those that are called otherwise.
    starts
        Name in the table -> what the placer improves, in words, for those that begin from a
        placement.
    """

    dataset: str
    graphs: tuple[str, ...]
    model: str
    placers: tuple[str, ...]
    source_rates: tuple[float | None, ...]
    relative_throughput: Floats
    devices_used: Floats
    seconds: Floats
    cpu_seconds: Floats
    of_start: Floats
    objective: str = field(default=THROUGHPUT, kw_only=True)
    clusters: int | None = field(default=None, kw_only=True)
    cross: bool = field(default=False, kw_only=True)
    labels: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    starts: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    @property
    def cases(self) -> CaseList:
        """The pairs of graph and cluster, in the order of the arrays."""
        return CaseList(self.graphs, self.clusters, self.cross)

    @cached_property
    def rows(self) -> list[ComparisonRow]:
        """The table, source rate by source rate."""
        return [
            self._row(i, j) for i in range(len(self.source_rates)) for j in range(len(self.placers))
        ]

    def difference(self, placer: str, other: str) -> Effect:
        """Return the mean relative throughput of a placer less that of another, with its interval.

        The unit is a graph, whose value is its mean over clusters and source rates; the interval is
        a 95% interval from a paired bootstrap over the graphs.

        Raises
        ------
        UsageError
            If a placer was not compared.
        """
        own, others = (index_of(name, self.placers) for name in (placer, other))
        return self._difference(self.relative_throughput.mean(axis=0), own, others)

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
            relative_throughput=self.relative_throughput[:, kept],
            devices_used=self.devices_used[:, kept],
            seconds=self.seconds[:, kept],
            cpu_seconds=self.cpu_seconds[:, kept],
            of_start=self.of_start[:, kept],
            starts={name: self.starts[name] for name in placers if name in self.starts},
        )

    def _difference(self, reached: Floats, own: int, other: int) -> Effect:
        """Return the mean difference of two rows of relative throughput, (placers, cases)."""
        ahead = reached[own] - reached[other]
        return Effect.of(ahead.reshape(len(self.graphs), -1).mean(axis=1))

    def _row(self, i: int, j: int) -> ComparisonRow:
        reached = self.relative_throughput[i, j]
        better = tied = worse = None
        over = self._difference(self.relative_throughput[i], j, 0) if j else None
        over_start = quotients(reached, self.of_start[i, j])
        if self.reference is not None:
            ahead = reached - self.relative_throughput[i, self.placers.index(self.reference)]
            better, worse = float((ahead > TIE).mean()), float((ahead < -TIE).mean())
            tied = float((np.abs(ahead) <= TIE).mean())
        return ComparisonRow(
            placer=self.placers[j],
            source_rate=self.source_rates[i],
            mean=float(reached.mean()),
            q1=float(np.percentile(reached, 25)),
            median=float(np.median(reached)),
            min=float(reached.min()),
            share_above_0_97=float((reached > KEEPS_UP).mean()),
            better_than_metis=better,
            tied_with_metis=tied,
            worse_than_metis=worse,
            minus_first=None if over is None else over.mean,
            minus_first_low=None if over is None else finite(over.low),
            minus_first_high=None if over is None else finite(over.high),
            start=self.starts.get(self.placers[j]),
            over_start=mean(over_start[~np.isnan(over_start)]),
            mean_devices=float(self.devices_used[i, j].mean()),
            seconds_per_graph=float(self.seconds[i, j].mean()),
            cpu_seconds_per_graph=float(self.cpu_seconds[i, j].mean()),
        )

    @property
    def columns(self) -> dict[str, Callable[[ComparisonRow], str]]:
        """The columns of the table, without those that would be empty."""
        left_out = set()
        if len(self.placers) == 1:
            left_out |= {MINUS_FIRST, INTERVAL}
        if len(self.graphs) < FEWEST:
            left_out.add(INTERVAL)
        if not self.starts:
            left_out |= {*OF_STARTS}
        return {head: cell for head, cell in COLUMNS.items() if head not in left_out}

    def cells(self, i: int) -> tuple[str, ...]:
        """Return the cells of a row of the table."""
        return tuple(cell(self.rows[i]) for cell in self.columns.values())

    def _view(self) -> View:
        line = Line(f"relative throughput over {self.cases} ({self.model})")
        if self.objective != THROUGHPUT:
            line = Line(f"worth by {{}}, as {line.text}", (self.objective,))
        headline = f"Comparison: {self.headline}"
        head, count = tuple(self.columns), len(self.rows)
        return table_view(headline, line, head, count, self.cells, EXPENDABLE)

    @property
    def notes(self) -> tuple[str, ...]:
        """None: every placer places every case."""
        return ()

    @property
    def reference(self) -> str | None:
        """The name of METIS in the table; None if it is not among the placers."""
        return labelled_as(REFERENCE, self.placers, self.labels)

    @property
    def headline(self) -> str:
        """A description of the numbers in the table."""
        own = "" if self.objective == THROUGHPUT else f", objective {quoted(self.objective)}"
        return f"relative throughput over {self.cases} ({self.model} model{own})"

    @property
    def scored_by(self) -> str:
        """The model, followed by the objective if it is a custom one."""
        return self.model if self.objective == THROUGHPUT else f"{self.model}, {self.objective}"

    def to_dict(self) -> dict[str, Any]:
        """Return what `compare --json` prints."""
        own = {} if self.objective == THROUGHPUT else {"objective": self.objective}
        return {
            "dataset": self.dataset,
            **self.cases.entries(),
            "model": self.model,
            **own,
            **({"labels": dict(self.labels)} if self.labels else {}),
            "rows": self.to_records(),
        }

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows: a dictionary per placer and source rate, as in `to_dict`."""
        return [row.to_dict() for row in self.rows]

    def save(self, folder: str | Path) -> None:
        """Write compare.json, table.csv (`rows`) and graphs.csv (a line per case) to a folder."""
        points = [(i, j) for i in range(len(self.source_rates)) for j in range(len(self.placers))]
        cases = (
            {
                **case,
                "source_rate": self.source_rates[i],
                "placer": self.placers[j],
                "relative_throughput": self.relative_throughput[i, j, n],
                "devices_used": int(self.devices_used[i, j, n]),
            }
            for n, case in enumerate(self.cases.lines())
            for i, j in points
        )
        save_tables(folder, self.to_dict(), self.to_records(), cases)
