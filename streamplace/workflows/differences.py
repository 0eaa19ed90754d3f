"""Comparisons of relative throughput, by differences between placers, at several source rates."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from streamplace.display.mixins import RoundedRepr
from streamplace.display.text import quoted
from streamplace.display.view import Line
from streamplace.problem.objective import Throughput
from streamplace.problem.objectives import text_of
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Placements
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats
from streamplace.util.checks import finite
from streamplace.util.effect import Effect
from streamplace.workflows.cases import CaseList
from streamplace.workflows.comparison import Comparison, ScoreMeasure
from streamplace.workflows.comparison_tables import (
    BOOTSTRAP,
    INTERVAL,
    INTERVAL_HEADING,
    PLACER,
    RATE,
    SHARES,
    Column,
    Columns,
    beside_placer,
    columns_of_starts,
    columns_of_times,
    mean,
    quotients,
    three_digits,
)

TIE = 0.001  # a smaller difference in relative throughput is a tie
KEEPS_UP = 0.97  # relative throughput above which a placement practically keeps up
DIFFERENCE, VS_METIS = "difference", "vs-metis"  # names of columns


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


@dataclass(frozen=True)
class RelativeThroughput(ScoreMeasure):
    """Relative throughput, or what a custom objective is worth relative to the source rate."""

    is_ratio: ClassVar[bool] = False
    skips_failures: ClassVar[bool] = False
    expendable: ClassVar[tuple[str, ...]] = (
        *("ms", "devices", "min", "above-0.97", "q1", "median", INTERVAL, DIFFERENCE, VS_METIS),
    )

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
        """The differences, and Figures 5 and 6 of the paper."""
        return "differences", "throughput", "devices"

    @property
    def in_papers(self) -> tuple[str, ...]:
        """The mean, and how much higher it is than that of the first placer."""
        return "mean", self.effect, INTERVAL

    @property
    def effect(self) -> str:
        """The column of differences to the first placer."""
        return DIFFERENCE

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

    def with_names(self, entries: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a row under the names in `compare --json`."""
        return {key.replace("0_97", "0.97"): value for key, value in entries.items()}

    def case_entries(self, comparison: Comparison, i: int, j: int, n: int) -> dict[str, Any]:
        """Return what graphs.csv says of a source rate, a placer and a case."""
        return {
            "source_rate": comparison.source_rates[i],
            "placer": comparison.placers[j],
            "relative_throughput": comparison.values[i, j, n],
            "devices_used": int(comparison.figures.devices_used[i, j, n]),
        }

    def columns(self, first: str = "", reference: str | None = None) -> Columns:
        """Return all columns of the table; see `ScoreMeasure`."""
        difference, of_difference = beside_placer("difference to", first, "mean")
        return {
            PLACER: Column("placer", ("placer",)),
            RATE: Column("rate", ("source_rate",), "{:g}".format, unknown="own"),
            "mean": Column("mean", ("mean",), three_digits, max),
            "q1": Column("Q1", ("q1",), three_digits, max),
            "median": Column("median", ("median",), three_digits, max),
            "min": Column("min", ("min",), three_digits, max),
            "above-0.97": Column(">0.97", ("share_above_0_97",), "{:.0%}".format, max),
            VS_METIS: Column(
                f"vs {reference or self.objective.reference}",
                ("better_than_metis", "worse_than_metis", "tied_with_metis"),
                "+{:.0%} -{:.0%}".format,
                meaning=SHARES,
            ),
            DIFFERENCE: Column(
                difference, ("minus_first",), "{:+.3f}".format, meaning=of_difference
            ),
            INTERVAL: Column(
                INTERVAL_HEADING,
                ("minus_first_low", "minus_first_high"),
                "{:+.3f} to {:+.3f}".format,
                meaning=f"of the mean difference, {BOOTSTRAP}",
            ),
            **columns_of_starts(max),
            "devices": Column("devices", ("mean_devices",), "{:.1f}".format),
            **columns_of_times(),
        }

    def empty(self, comparison: Comparison) -> set[str]:
        """Return the columns that say nothing: differences of one placer, shares without METIS."""
        differences = {DIFFERENCE, INTERVAL} if len(comparison.placers) == 1 else set()
        return differences | ({VS_METIS} if comparison.reference is None else set())
