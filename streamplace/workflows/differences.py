"""Comparisons of relative throughput, by differences between placers, at several source rates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from streamplace.display.formats import Rows, latex, markdown
from streamplace.display.mixins import RoundedRepr
from streamplace.display.text import quoted
from streamplace.display.view import Line
from streamplace.files.reading import to_csv
from streamplace.problem.objective import Throughput
from streamplace.problem.objectives import text_of
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Placements
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats
from streamplace.util.checks import finite
from streamplace.util.effect import Effect
from streamplace.workflows.cases import CaseList
from streamplace.workflows.comparison import Columns, Comparison, ScoreMeasure
from streamplace.workflows.comparison_tables import INTERVAL, OF_STARTS, mean, quotients

TIE = 0.001  # a smaller difference in relative throughput is a tie
KEEPS_UP = 0.97  # relative throughput above which a placement practically keeps up
MINUS_FIRST = "minus first"
BETTER, WORSE = "better than METIS", "worse than METIS"


@dataclass(frozen=True, repr=False)
class DifferenceRow(RoundedRepr):
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


COLUMNS: Columns = {
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
BY_RATE: dict[str, Callable[[DifferenceRow], float | None]] = {
    "mean": lambda row: row.mean,
    "Q1": lambda row: row.q1,
    "median": lambda row: row.median,
    BETTER: lambda row: row.better_than_metis,
    WORSE: lambda row: row.worse_than_metis,
    MINUS_FIRST: lambda row: row.minus_first,
    "95% from": lambda row: row.minus_first_low,
    "95% to": lambda row: row.minus_first_high,
    "min": lambda row: row.min,
    "above 0.97": lambda row: row.share_above_0_97,
    "devices": lambda row: row.mean_devices,
}
"""The figure of each column of a table with a line per placer; a cell has those of all rates."""


@dataclass(frozen=True)
class RelativeThroughput(ScoreMeasure):
    """Relative throughput, or what a custom objective is worth relative to the source rate."""

    is_ratio: ClassVar[bool] = False
    skips_failures: ClassVar[bool] = False
    of_first: ClassVar[Mapping[str, str]] = {MINUS_FIRST: "mean difference from"}
    expendable: ClassVar[tuple[str, ...]] = (
        *("ms", "devices", "min", ">0.97", "Q1", "median", INTERVAL, MINUS_FIRST, "vs metis"),
    )
    tables: ClassVar[tuple[str, ...]] = ("by_rate.csv", "by_rate.md", "by_rate.tex")

    objective: Throughput

    @property
    def name(self) -> str:
        """What is measured, in words."""
        return "relative throughput"

    @property
    def unit(self) -> str:
        """Empty: a share of the source rate has no unit."""
        return ""

    @property
    def pictures(self) -> tuple[str, ...]:
        """Figures 5 and 6 of the paper."""
        return "throughput", "devices"

    @property
    def custom(self) -> str | None:
        """The name of a custom objective; None for throughput itself."""
        return None if self.objective.follows_loads else text_of(self.objective)

    def values(self, problem: Problem, devices: Placements) -> Floats:
        """Return the relative throughput of each placement, (K,)."""
        return evaluator(problem).quality(devices)

    def description(self, cases: CaseList) -> str:
        """Return a description of the numbers in a table."""
        own = "" if self.custom is None else f", objective {quoted(self.custom)}"
        return f"{self.name} over {cases} ({self.objective.model} model{own})"

    def line(self, cases: CaseList) -> Line:
        """Return the first line of a table."""
        text = f"{self.name} over {cases} ({self.objective.model})"
        return (
            Line(text) if self.custom is None else Line(f"worth by {{}}, as {text}", (self.custom,))
        )

    @property
    def scored_by(self) -> str:
        """The model, followed by the objective if it is a custom one."""
        model = self.objective.model
        return model if self.custom is None else f"{model}, {self.custom}"

    def entries(self) -> dict[str, Any]:
        """Return the entries of the measure in `compare --json`."""
        own = {} if self.custom is None else {"objective": self.custom}
        return {"model": self.objective.model, **own}

    def row(self, comparison: Comparison, i: int, j: int) -> DifferenceRow:
        """Return the row of a table for a source rate and a placer."""
        figures, reference = comparison.figures, comparison.reference
        reached = comparison.values[i, j]
        better = tied = worse = over = None
        if j:
            over = Effect.of(comparison.by_graph(reached - comparison.values[i, 0]))
        over_start = quotients(reached, figures.starts[i, j])
        if reference is not None:
            ahead = reached - comparison.values[i, comparison.placers.index(reference)]
            better, worse = float((ahead > TIE).mean()), float((ahead < -TIE).mean())
            tied = float((np.abs(ahead) <= TIE).mean())
        return DifferenceRow(
            placer=comparison.placers[j],
            source_rate=comparison.source_rates[i],
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
            start=comparison.starts.get(comparison.placers[j]),
            over_start=mean(over_start[~np.isnan(over_start)]),
            mean_devices=float(figures.devices_used[i, j].mean()),
            seconds_per_graph=float(figures.seconds[i, j].mean()),
            cpu_seconds_per_graph=float(figures.cpu_seconds[i, j].mean()),
        )

    def row_entries(self, row: DifferenceRow) -> dict[str, Any]:
        """Return a row as `compare --json` prints it."""
        return {key.replace("0_97", "0.97"): value for key, value in asdict(row).items()}

    def case_entries(self, comparison: Comparison, i: int, j: int, n: int) -> dict[str, Any]:
        """Return what graphs.csv says of a source rate, a placer and a case."""
        return {
            "source_rate": comparison.source_rates[i],
            "placer": comparison.placers[j],
            "relative_throughput": comparison.values[i, j, n],
            "devices_used": int(comparison.figures.devices_used[i, j, n]),
        }

    def columns(self, comparison: Comparison) -> dict[str, Callable[[Any], str]]:
        """Return the columns of the table; with one placer, there is no difference."""
        left_out = {MINUS_FIRST, INTERVAL} if len(comparison.placers) == 1 else set()
        return {head: cell for head, cell in COLUMNS.items() if head not in left_out}

    def table(self, comparison: Comparison, kind: str) -> str:
        """Return the table with a line per placer; ``csv`` has a column per figure and rate."""
        if kind == "csv":
            rates = [_rate(rate) for rate in comparison.source_rates]
            header = [f"{name} at {rate}" for name in BY_RATE for rate in rates]
            lines = zip(comparison.placers, _figures(comparison), strict=True)
            cells = (
                [placer, *("" if x is None else x for figures in line for x in figures)]
                for placer, line in lines
            )
            return to_csv(["placer", *header], cells)
        text = {"md": markdown, "tex": latex}[kind]
        return text(self._caption(comparison), ["placer", *BY_RATE], _rows(comparison))

    def _caption(self, comparison: Comparison) -> str:
        first, *others = (_rate(rate) for rate in comparison.source_rates)
        unit = "" if comparison.source_rates == (None,) else " tuples/s"
        at = f"at {first}{unit}" + (f" (in brackets at {', '.join(others)})" if others else "")
        what = f"{self.name} over {comparison.cases} under {self.scored_by}, {at}"
        if len(comparison.placers) == 1:
            return what
        return f"{what}; {MINUS_FIRST}: mean difference from {comparison.placers[0]}"


def _rows(comparison: Comparison) -> Rows:
    """Yield the name of each placer and its cells."""
    for placer, line in zip(comparison.placers, _figures(comparison), strict=True):
        yield placer, [_cell(figures) for figures in line]


def _figures(comparison: Comparison) -> list[list[list[float | None]]]:
    """Return the figures, indexed by placer, column and source rate."""
    rows, step = comparison.rows, len(comparison.placers)
    return [
        [
            [
                None if name in (BETTER, WORSE) and placer == comparison.reference else figure(row)
                for row in rows[j::step]
            ]
            for name, figure in BY_RATE.items()
        ]
        for j, placer in enumerate(comparison.placers)
    ]


def _cell(figures: Sequence[float | None]) -> str:
    first, *others = ("-" if x is None else f"{x:.3f}" for x in figures)
    return f"{first} ({', '.join(others)})" if others else first


def _rate(rate: float | None) -> str:
    return "their own rates" if rate is None else f"{rate:.6g}"
