"""Comparisons of makespans, or of other values without source rates, by ratios to each other."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import nan
from typing import Any, ClassVar

import numpy as np

from streamplace.display.mixins import RoundedRepr
from streamplace.display.text import number, percent_up
from streamplace.placers.base import Found
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import MAKESPAN, with_published_semantics
from streamplace.problem.objectives import name_of_objective
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Placements
from streamplace.scoring.registry import evaluator, evaluator_of_pass
from streamplace.scoring.values import without_rounding
from streamplace.util.arrays import Floats
from streamplace.util.checks import finite
from streamplace.util.effect import mean_intervals
from streamplace.workflows.cases import CaseList
from streamplace.workflows.comparison import Comparison, ScoreMeasure
from streamplace.workflows.comparison_tables import (
    BOOTSTRAP,
    INTERVAL,
    INTERVAL_HEADING,
    PLACER,
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
from streamplace.workflows.value_result import own_schedule_s

TIE = 0.001  # of the reference's value; a smaller difference is a tie
PLACED, RATIO, OWN, VS_HEFT = "placed", "ratio", "own-order", "vs-heft"  # names of columns
OF_LONGEST_PATH = "schedule length ratio (makespan / longest path)"


@dataclass(frozen=True, repr=False)
class RatioRow(RoundedRepr):
    """Statistics of one placer over the cases that it placed, ``placed`` in number.

    Under another objective than the makespan, its value stands in place of the makespan; it has no
    SLR.

    ``mean_makespan_s`` is None unless it placed all cases, since the mean depends on which ones.
    ``mean_own_schedule_s`` is that in the order of the placer's own schedules, for which devices
    wait; None unless it has one in every case, as only list schedulers do. The other numbers are
    ratios to the same case's bound, path or makespan of HEFT's mapping.

    ``mean_over_heft`` is the mean of makespan ÷ makespan of HEFT's mapping, ``over_heft_low`` and
    ``over_heft_high`` its 95% interval over graphs of this kind, from a paired bootstrap over the
    graphs; ``better_than_heft`` and ``worse_than_heft`` are shares of cases. ``own_over_heft`` is
    the mean ratio of own schedules to the same makespans. All are None if `heft` is not among the
    placers, and so is the interval of fewer than three graphs. ``over_first``, ``over_first_low``
    and ``over_first_high`` are the same ratio to the first placer.

    ``start`` is what a placer that improves a placement began from, in words. ``over_start`` is the
    mean ratio of its makespans to those of the start, which says what it has added. Both are None
    for placers that build placements.

    ``mean_gap`` is None without a bound, as with noise, and ``evaluations``, the mean number of
    simulated passes, is None if the placer does not count them. ``seconds_per_graph`` is wall time
    per case, ``cpu_seconds_per_graph`` CPU time of its process.
    """

    placer: str
    mean_makespan_s: float | None
    mean_own_schedule_s: float | None
    mean_slr: float | None
    median_slr: float | None
    mean_over_heft: float | None
    over_heft_low: float | None
    over_heft_high: float | None
    better_than_heft: float | None
    worse_than_heft: float | None
    own_over_heft: float | None
    over_first: float | None
    over_first_low: float | None
    over_first_high: float | None
    start: str | None
    over_start: float | None
    mean_gap: float | None
    evaluations: float | None
    seconds_per_graph: float | None
    cpu_seconds_per_graph: float | None
    placed: int


@dataclass(frozen=True)
class RatioMeasure(ScoreMeasure):
    """The value of an objective without source rates, such as a makespan.

    Parameters
    ----------
    semantics
        The published system whose messages were simulated; None: those of graphs and clusters.
    """

    is_ratio: ClassVar[bool] = True
    skips_failures: ClassVar[bool] = True
    expendable: ClassVar[tuple[str, ...]] = (
        *("ms", "evaluations", "median-slr", "gap", "slr", OWN, INTERVAL, RATIO, VS_HEFT),
    )

    semantics: str | None = None

    @property
    def is_makespan(self) -> bool:
        """Whether values are makespans, which the longest path bounds."""
        return self.name == MAKESPAN

    @property
    def reference(self) -> str | None:
        """HEFT under makespans, after which columns are named; None under other objectives."""
        return super().reference if self.is_makespan else None

    @property
    def pictures(self) -> tuple[str, ...]:
        """The mean ratios, and the distribution of ratios."""
        return "ratios", "makespan" if self.is_makespan else "costs"

    @property
    def in_papers(self) -> tuple[str, ...]:
        """Ratios, and placed cases where placers differ; means of makespans would be too wide."""
        return "slr" if self.is_makespan else "mean", self.effect, INTERVAL, PLACED

    @property
    def effect(self) -> str:
        """The column of mean ratios to the first placer."""
        return RATIO

    def problem(self, graph: StreamGraph, cluster: Cluster, rate: float | None) -> Problem:
        """Return the problem of a graph on a cluster, with the messages of the system."""
        if self.semantics is not None:
            graph, cluster = with_published_semantics(graph, cluster, self.semantics)
        return super().problem(graph, cluster, rate)

    def values(self, problem: Problem, devices: Placements) -> Floats:
        """Return the value of each placement, (K,)."""
        losses = evaluator(problem).loss(devices)
        return -losses if self.higher_is_better else losses

    def longest_path(self, problem: Problem) -> float:
        """Return the longest path in seconds, which bounds makespans; NaN for other values."""
        return evaluator_of_pass(problem).compiled.fastest.longest if self.is_makespan else nan

    def tightest_bound(self, problem: Problem, proven: Sequence[float], values: Floats) -> float:
        """Return the tightest bound on all values that is known; see `ScoreMeasure`."""
        scored: Any = evaluator(problem)
        if scored.bound is None:
            return nan
        known = [scored.bound, *proven]
        higher, reached = self.higher_is_better, values[np.isfinite(values)]
        bound = min(known) if higher else max(known)
        if not len(reached):
            return float(bound)
        best = float(reached.max() if higher else reached.min())
        return without_rounding(bound, best, higher_is_better=higher)

    def own_schedule(self, found: Found) -> float:
        """Return the makespan in the order of a list scheduler's own schedule; NaN without one."""
        own = own_schedule_s(found)
        return nan if own is None else own

    def description(self, cases: CaseList) -> str:
        """Return a description of the numbers in a table."""
        how = ", ".join(filter(None, (self.objective.settings_in_words(), self.semantics)))
        return f"{self.name} over {cases}" + (f" ({how})" if how else "")

    def entries(self) -> dict[str, Any]:
        """Return the entries of the measure in `compare --json`."""
        system = {} if self.semantics is None else {"semantics": self.semantics}
        settings = asdict(self.objective)
        return {"objective": name_of_objective(self.objective), **settings, **system}

    def slr(self, comparison: Comparison) -> Floats:
        """Return the schedule length ratios, (P, C); 1 without work."""
        return quotients(comparison.values[0], comparison.figures.longest_paths)

    def over_reference(self, comparison: Comparison, values: Floats) -> Floats:
        """Return values, (…, C), over those of the reference; NaN if it was not compared."""
        if comparison.reference is None:
            return np.full_like(values, np.nan)
        return quotients(
            values, comparison.values[0, comparison.placers.index(comparison.reference)]
        )

    def gap(self, comparison: Comparison) -> Floats:
        """Return how far the bound is from each value, as a share of the larger, (P, C)."""
        values, bounds = comparison.values[0], comparison.figures.bounds
        worse, better = (bounds, values) if self.higher_is_better else (values, bounds)
        return np.maximum(0.0, 1.0 - 1.0 / np.maximum(quotients(worse, better), 1.0))

    def row(self, comparison: Comparison, i: int, j: int) -> RatioRow:
        """Return the row of a table for a placer."""
        figures, values = comparison.figures, comparison.values[i]
        placed, own = ~np.isnan(values[j]), figures.own_schedules[i, j]
        over, own_over = (self.over_reference(comparison, each) for each in (values[j], own))
        (low, high), among = _interval_of(comparison, over), over[~np.isnan(over)]
        over_first = quotients(values[j], values[0])
        over_start = quotients(values[j], figures.starts[i, j])
        first_low, first_high = _interval_of(comparison, over_first)
        below, above = mean(among < 1 - TIE), mean(among > 1 + TIE)
        slr = self.slr(comparison)[j][placed]
        return RatioRow(
            placer=comparison.placers[j],
            mean_makespan_s=mean(values[j]) if placed.all() else None,
            mean_own_schedule_s=None if np.isnan(own).any() else mean(own),
            mean_slr=mean(slr),
            median_slr=finite(np.median(slr)) if placed.any() else None,
            mean_over_heft=mean(among),
            over_heft_low=finite(low),
            over_heft_high=finite(high),
            better_than_heft=above if self.higher_is_better else below,
            worse_than_heft=below if self.higher_is_better else above,
            own_over_heft=mean(own_over[~np.isnan(own_over)]),
            over_first=mean(over_first[~np.isnan(over_first)]),
            over_first_low=finite(first_low),
            over_first_high=finite(first_high),
            start=comparison.starts.get(comparison.placers[j]),
            over_start=mean(over_start[~np.isnan(over_start)]),
            mean_gap=mean(self.gap(comparison)[j][placed]),
            evaluations=mean(figures.evaluations[i, j][placed]),
            seconds_per_graph=mean(figures.seconds[i, j][placed]),
            cpu_seconds_per_graph=mean(figures.cpu_seconds[i, j][placed]),
            placed=int(placed.sum()),
        )

    def case_entries(self, comparison: Comparison, i: int, j: int, n: int) -> dict[str, Any]:
        """Return what graphs.csv says of a placer and a case."""
        figures = comparison.figures
        return self.with_names(
            {
                "placer": comparison.placers[j],
                "makespan_s": finite(comparison.values[i, j, n]),
                "own_schedule_s": finite(figures.own_schedules[i, j, n]),
                "slr": finite(self.slr(comparison)[j, n]),
                "bound_s": finite(figures.bounds[i, n]),
                "gap": finite(self.gap(comparison)[j, n]),
                "evaluations": finite(figures.evaluations[i, j, n]),
            }
        )

    def with_names(self, entries: dict[str, Any]) -> dict[str, Any]:
        """Return entries named after the measure, without what only makespans have."""
        if self.is_makespan:
            return entries
        name = self.objective.value_key
        keys = {"mean_makespan_s": f"mean_{name}", "makespan_s": name}
        keys["bound_s"] = "bound_s" if self.unit == "s" else "bound"
        return {
            keys.get(key, key): value
            for key, value in entries.items()
            if not any(part in key for part in ("own", "slr", "heft"))
        }

    def relative(self, comparison: Comparison) -> tuple[Floats, str]:
        """Return ratios to draw, (P, C), and what they are, in words.

        They are makespans over those of HEFT's mappings, without `heft` over the longest path.
        Values of another kind are over those of the first placer.
        """
        values = comparison.values[0]
        if comparison.reference is not None:
            what = f"{self.name} / {self.name} of HEFT's mapping"
            return self.over_reference(comparison, values), what
        if self.is_makespan:
            return self.slr(comparison), OF_LONGEST_PATH
        return quotients(values, values[0]), f"{self.name} / that of {comparison.placers[0]}"

    def columns(self, first: str = "", reference: str | None = None) -> Columns:
        """Return all columns of the table; without `reference`, ratios are to `first`."""
        over, of_interval = "over_first", ("over_first_low", "over_first_high")
        if reference is not None:
            over, of_interval = "mean_over_heft", ("over_heft_low", "over_heft_high")
        ratio, of_ratio = beside_placer("over", reference or first, "mean ratio")
        unit = f", {self.unit}" if self.unit else ""
        best = max if self.higher_is_better else min
        of_makespans = {
            OWN: Column("own order, s", ("mean_own_schedule_s",), number, min),
            "slr": Column("SLR", ("mean_slr",), three_digits, min),
            "median-slr": Column("median SLR", ("median_slr",), three_digits, min),
        }
        of_heft = {
            VS_HEFT: Column(
                f"vs {reference or self.objective.reference}",
                ("better_than_heft", "worse_than_heft"),
                "+{:.0%} -{:.0%}".format,
                meaning=SHARES,
            )
        }
        return {
            PLACER: Column("placer", ("placer",)),
            "mean": Column(f"{self.name}{unit}", ("mean_makespan_s",), number, best),
            **(of_makespans if self.is_makespan else {}),
            RATIO: Column(ratio, (over,), three_digits, best, of_ratio),
            INTERVAL: Column(
                INTERVAL_HEADING,
                of_interval,
                "{:.3f} to {:.3f}".format,
                meaning=f"of the mean ratio, {BOOTSTRAP}",
            ),
            **(of_heft if self.is_makespan else {}),
            **columns_of_starts(best),
            "gap": Column("gap", ("mean_gap",), percent_up, min),
            "evaluations": Column("evaluations", ("evaluations",), "{:,.0f}".format),
            **columns_of_times(),
            PLACED: Column("placed", ("placed",), "{:,}".format, max),
        }

    def empty(self, comparison: Comparison) -> set[str]:
        """Return the columns that say nothing.

        They are the number of placed cases if it is that of all cases, own orders if no placer has
        one in all cases, shares without HEFT, and ratios of a single placer without HEFT.
        """
        found, rows = set(), comparison.rows
        if all(row.placed == len(comparison.cases) for row in rows):
            found.add(PLACED)
        if all(row.mean_own_schedule_s is None for row in rows):
            found.add(OWN)
        if comparison.reference is None:
            found |= {VS_HEFT, *((RATIO, INTERVAL) if len(rows) == 1 else ())}
        return found


def _interval_of(comparison: Comparison, over: Floats) -> Floats:
    """Return the interval of a mean ratio over graphs, each the mean of its cases."""
    interval: Floats = mean_intervals(comparison.by_graph(over)[None], comparison.seed)[0]
    return interval
