"""The result type of `compare`: a table of placers x source rates, over graphs."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from streamplace.display.mixins import Displayable, RoundedRepr
from streamplace.display.text import quoted
from streamplace.display.view import Line, View
from streamplace.scoring.score import THROUGHPUT
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect
from streamplace.workflows.cases import CaseList
from streamplace.workflows.comparison_tables import index_of, save_tables, table_view

TIE = 0.001  # a smaller difference in relative throughput is a tie
KEEPS_UP = 0.97  # relative throughput above which a placement practically keeps up
REFERENCE = "metis"
HEAD = ("placer", "rate", "mean", "Q1", "median", "min", ">0.97", "vs metis", "devices", "ms")
EXPENDABLE = ("ms", "devices", "min", ">0.97", "Q1", "median", "vs metis")
"""Columns dropped, in this order, if the table is too wide to show names."""


@dataclass(frozen=True, repr=False)
class ComparisonRow(RoundedRepr):
    """Statistics of one placer at one source rate over all graphs.

    ``mean`` to ``min`` are of relative throughput. ``better_than_metis``, ``tied_with_metis`` and
    ``worse_than_metis`` are shares of graphs, None if `metis` is not among the placers.
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
    mean_devices: float
    seconds_per_graph: float

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the row, under `HEAD`."""
        numbers = (self.mean, self.q1, self.median, self.min)
        against = "-"
        if self.better_than_metis is not None and self.worse_than_metis is not None:
            against = f"+{self.better_than_metis:.0%} -{self.worse_than_metis:.0%}"
        return (
            self.placer,
            "own" if self.source_rate is None else f"{self.source_rate:g}",
            *(f"{x:.3f}" for x in numbers),
            f"{self.share_above_0_97:.0%}",
            against,
            f"{self.mean_devices:.1f}",
            f"{self.seconds_per_graph * 1e3:.2f}",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the row as `compare --json` prints it."""
        return {key.replace("0_97", "0.97"): value for key, value in asdict(self).items()}


@dataclass(frozen=True, repr=False)
class Comparison(Displayable):
    """The results of every placer on every graph at every source rate.

    Parameters
    ----------
    source_rates
        In tuples/s; None: each graph's own.
    relative_throughput, devices_used, seconds
        Arrays of shape (source rates, placers, cases); seconds are wall time of the placer. There
        is a case for each graph or, if every graph is on every cluster, for each pair, in the order
        of `cases`.
    objective
        The objective's name. Under a custom objective, relative throughput is the relative value of
        that objective.
    clusters, cross
        The number of clusters, None if one serves all graphs; and whether every graph is on every
        cluster, instead of graph i on cluster i.
    """

    dataset: str
    graphs: tuple[str, ...]
    model: str
    placers: tuple[str, ...]
    source_rates: tuple[float | None, ...]
    relative_throughput: Floats
    devices_used: Floats
    seconds: Floats
    objective: str = field(default=THROUGHPUT, kw_only=True)
    clusters: int | None = field(default=None, kw_only=True)
    cross: bool = field(default=False, kw_only=True)

    @property
    def cases(self) -> CaseList:
        """The pairs of graph and cluster, in the order of the arrays."""
        return CaseList(self.graphs, self.clusters, self.cross)

    @property
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
        chosen = [index_of(name, self.placers) for name in (placer, other)]
        own, others = (self.relative_throughput[:, j].mean(axis=0) for j in chosen)
        return Effect.of((own - others).reshape(len(self.graphs), -1).mean(axis=1))

    def _row(self, i: int, j: int) -> ComparisonRow:
        reached = self.relative_throughput[i, j]
        better = tied = worse = None
        if REFERENCE in self.placers:
            ahead = reached - self.relative_throughput[i, self.placers.index(REFERENCE)]
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
            mean_devices=float(self.devices_used[i, j].mean()),
            seconds_per_graph=float(self.seconds[i, j].mean()),
        )

    def _view(self) -> View:
        rows = self.rows
        line = Line(f"relative throughput over {self.cases} ({self.model})")
        if self.objective != THROUGHPUT:
            line = Line(f"worth by {{}}, as {line.text}", (self.objective,))
        headline = f"Comparison: {self.headline}"
        return table_view(headline, line, HEAD, len(rows), lambda i: rows[i].cells(), EXPENDABLE)

    @property
    def notes(self) -> tuple[str, ...]:
        """None: every placer places every case."""
        return ()

    @property
    def reference(self) -> str:
        """The placer that the others are compared with, if it is among them."""
        return REFERENCE

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
            "rows": [row.to_dict() for row in self.rows],
        }

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
        save_tables(folder, self.to_dict(), [row.to_dict() for row in self.rows], cases)
