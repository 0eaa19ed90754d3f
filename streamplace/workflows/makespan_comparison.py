"""The result type of `compare` under objectives of a pass: a table of placers over graphs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from streamplace.display.mixins import Displayable, RoundedRepr, Tabular
from streamplace.display.text import number, percent_up
from streamplace.display.view import Line, View
from streamplace.errors import UsageError
from streamplace.problem.makespan import MAKESPAN, Makespan, PublishedName, rules_in_words
from streamplace.problem.objectives import name_of_objective
from streamplace.util.arrays import Floats
from streamplace.util.checks import finite
from streamplace.util.effect import FEWEST, Effect, mean_intervals
from streamplace.util.text import counted
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

TIE = 0.001  # of the makespan of HEFT's mapping; a smaller difference is a tie
REFERENCE = "heft"
PLACED, OVER_FIRST, OWN = "placed", "over first", "own order, s"
EXPENDABLE = ("ms", "evaluations", "median SLR", "gap", "SLR", OWN, INTERVAL, OVER_FIRST, "vs heft")
"""Columns dropped, in this order, if the table is too wide to show names."""


@dataclass(frozen=True, repr=False)
class MakespanRow(RoundedRepr):
    """Statistics of one placer over the cases that it placed, ``placed`` in number.

    Under another objective of a pass, its cost in seconds stands in place of the makespan; it has
    no SLR.

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

    ``mean_gap`` is None with noise, and ``evaluations``, the mean number of simulated passes, is
    None if the placer does not count them. ``seconds_per_graph`` is wall time per case,
    ``cpu_seconds_per_graph`` CPU time of its process.
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

    @property
    def milliseconds(self) -> float | None:
        """Wall time per case in milliseconds."""
        return None if self.seconds_per_graph is None else self.seconds_per_graph * 1e3

    @property
    def shares(self) -> str:
        """The shares of cases that are better and worse than with HEFT, as a table cell."""
        if self.better_than_heft is None or self.worse_than_heft is None:
            return "-"
        return f"+{self.better_than_heft:.0%} -{self.worse_than_heft:.0%}"


Columns = dict[str, Callable[[MakespanRow], str]]
"""The cell of each column."""

OF_MAKESPANS: Columns = {
    OWN: lambda row: _seconds(row.mean_own_schedule_s),
    "SLR": lambda row: _text(row.mean_slr, ".3f"),
    "median SLR": lambda row: _text(row.median_slr, ".3f"),
}

OF_HEFT: Columns = {
    "over heft": lambda row: _text(row.mean_over_heft, ".3f"),
    INTERVAL: lambda row: _interval(row.over_heft_low, row.over_heft_high),
    "vs heft": lambda row: row.shares,
}

OF_FIRST: Columns = {
    OVER_FIRST: lambda row: _text(row.over_first, ".3f"),
    INTERVAL: lambda row: _interval(row.over_first_low, row.over_first_high),
}

OF_EFFORT: Columns = {
    "gap": lambda row: "-" if row.mean_gap is None else percent_up(row.mean_gap),
    "evaluations": lambda row: _text(row.evaluations, ",.0f"),
    "ms": lambda row: _text(row.milliseconds, ".2f"),
    PLACED: lambda row: f"{row.placed:,}",
}


@dataclass(frozen=True, repr=False, eq=False)
class MakespanComparison(Displayable, Tabular):
    """The makespans that P placers reach in C cases, each a graph on a cluster.

    Under another objective of a pass, such as `TotalCost`, the costs stand in place of makespans.

    Parameters
    ----------
    cases
        The cases.
    objective
        The objective of all placers.
    makespan_s, own_schedule_s, start_s, evaluations, seconds, cpu_seconds
        (P, C): the makespan in seconds; that in the order of a list scheduler's own schedule, NaN
        for other placers; that of the placement which a placer improves, NaN for placers that build
        placements; the number of passes that the placer simulated, NaN if it does not count
        them; and the placer's wall and CPU time in seconds. All are NaN where the placer found no
        placement.
    bound_s
        (C,), the largest lower bound on the makespan that is known, in seconds: that of the problem
        or what a prover among the placers has proven; NaN with noise.
    longest_path_s
        (C,), the longest path with every operator on its fastest device and without messages, in
        seconds; the schedule length ratio (SLR) is the makespan divided by it. NaN under other
        objectives.
    semantics
        The published system whose messages were simulated; None: those of graphs and clusters.
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
    """

    dataset: str
    cases: CaseList
    objective: Makespan
    placers: tuple[str, ...]
    makespan_s: Floats
    own_schedule_s: Floats
    start_s: Floats
    evaluations: Floats
    seconds: Floats
    cpu_seconds: Floats
    bound_s: Floats
    longest_path_s: Floats
    semantics: PublishedName | None = field(default=None, kw_only=True)
    seed: int = field(default=0, kw_only=True)
    failures: tuple[str, ...] = field(default=(), kw_only=True)
    labels: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    starts: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    @cached_property
    def slr(self) -> Floats:
        """The schedule length ratios, (P, C); 1 without work."""
        return quotients(self.makespan_s, self.longest_path_s)

    @cached_property
    def over_heft(self) -> Floats | None:
        """The makespans over those of HEFT's mappings, (P, C); None if `heft` is not a placer."""
        return None if self.reference is None else self._paired(self.makespan_s)

    @cached_property
    def gap(self) -> Floats:
        """How far the bound is below each makespan, as a share of it, (P, C); NaN with noise."""
        return np.maximum(
            0.0, 1.0 - 1.0 / np.maximum(quotients(self.makespan_s, self.bound_s), 1.0)
        )

    @cached_property
    def rows(self) -> list[MakespanRow]:
        """The table, a row per placer."""
        return [self._row(j) for j in range(len(self.placers))]

    def ratio(self, placer: str, other: str) -> Effect:
        """Return the mean ratio of a placer's makespans to those of another, with its interval.

        The unit is a graph, whose value is its mean over the cases that both placed; graphs without
        such a case are left out. The interval is a 95% interval from a paired bootstrap over the
        graphs.

        Raises
        ------
        UsageError
            If a placer was not compared, or there is no case that both placed.
        """
        own, others = (self.makespan_s[index_of(name, self.placers)] for name in (placer, other))
        means = self._by_graph(quotients(own, others))
        if not len(means):
            raise UsageError(f"there is no case that both {placer} and {other} placed")
        return Effect.of(means)

    def _row(self, j: int) -> MakespanRow:
        placed = ~np.isnan(self.makespan_s[j])
        complete, own = bool(placed.all()), self.own_schedule_s[j]
        over, own_over = self._paired(self.makespan_s[j]), self._paired(own)
        (low, high), among = self._interval(over), over[~np.isnan(over)]
        over_first = quotients(self.makespan_s[j], self.makespan_s[0])
        over_start = quotients(self.makespan_s[j], self.start_s[j])
        first_low, first_high = self._interval(over_first)
        return MakespanRow(
            placer=self.placers[j],
            mean_makespan_s=mean(self.makespan_s[j]) if complete else None,
            mean_own_schedule_s=None if np.isnan(own).any() else mean(own),
            mean_slr=mean(self.slr[j][placed]),
            median_slr=finite(np.median(self.slr[j][placed])) if placed.any() else None,
            mean_over_heft=mean(among),
            over_heft_low=finite(low),
            over_heft_high=finite(high),
            better_than_heft=mean(among < 1 - TIE),
            worse_than_heft=mean(among > 1 + TIE),
            own_over_heft=mean(own_over[~np.isnan(own_over)]),
            over_first=mean(over_first[~np.isnan(over_first)]),
            over_first_low=finite(first_low),
            over_first_high=finite(first_high),
            start=self.starts.get(self.placers[j]),
            over_start=mean(over_start[~np.isnan(over_start)]),
            mean_gap=mean(self.gap[j][placed]),
            evaluations=mean(self.evaluations[j][placed]),
            seconds_per_graph=mean(self.seconds[j][placed]),
            cpu_seconds_per_graph=mean(self.cpu_seconds[j][placed]),
            placed=int(placed.sum()),
        )

    def _paired(self, seconds: Floats) -> Floats:
        """Return times, (..., C), over the makespans of HEFT's mappings; NaN without either."""
        if self.reference is None:
            return np.full_like(seconds, np.nan)
        return quotients(seconds, self.makespan_s[self.placers.index(self.reference)])

    def _interval(self, over: Floats) -> Floats:
        """Return the interval of a mean ratio over graphs, each the mean of its cases."""
        interval: Floats = mean_intervals(self._by_graph(over)[None], self.seed)[0]
        return interval

    def _by_graph(self, values: Floats) -> Floats:
        """Return the mean of a value over the cases of each graph that has any, at most (G,)."""
        graphs = [each[~np.isnan(each)] for each in values.reshape(len(self.cases.graphs), -1)]
        return np.array([each.mean() for each in graphs if len(each)])

    @property
    def notes(self) -> list[str]:
        """Placers that did not place every case, each with the reason of its first failure."""
        whole = counted(len(self.cases), "case")
        return [
            f"{row.placer} placed {row.placed:,} of {whole}: {reason}"
            for row, reason in zip(self.rows, self.failures, strict=False)
            if reason
        ]

    @property
    def reference(self) -> str | None:
        """The name of HEFT in the table; None if it is not among the placers."""
        return labelled_as(REFERENCE, self.placers, self.labels)

    @property
    def headline(self) -> str:
        """A description of the numbers in the table."""
        aim, system = self.objective, "" if self.semantics is None else f", {self.semantics}"
        batch = "" if aim.batch == 1 else f", batch {aim.batch:,}"
        noise = f", noise {aim.noise:g}" if aim.noise else ""
        how = f"order {aim.order}{rules_in_words(aim)}{batch}{noise}{system}"
        return f"{self.objective.quantity} over {self.cases} ({how})"

    @property
    def relative(self) -> tuple[Floats, str]:
        """Ratios to draw, (P, C), and what they are, in words.

        They are makespans over those of HEFT's mappings, without `heft` over the longest path.
        Costs of another kind are over those of the first placer.
        """
        quantity = self.objective.quantity
        if self.over_heft is not None:
            return self.over_heft, f"{quantity} / {quantity} of HEFT's mapping"
        if quantity == MAKESPAN:
            return self.slr, "schedule length ratio (makespan / longest path)"
        over_first = quotients(self.makespan_s, self.makespan_s[0])
        return over_first, f"{quantity} / that of {self.placers[0]}"

    @property
    def columns(self) -> Columns:
        """The columns of the table.

        Without HEFT among several placers, ratios are to the first one. The number of placed cases
        is left out if it is the same for all, and own orders if no placer has one in all cases.
        """
        ratios: Columns = {}
        if self.reference is not None:
            ratios = OF_HEFT
        elif len(self.placers) > 1:
            ratios = OF_FIRST
        starts: Columns = {**OF_STARTS} if self.starts else {}
        columns = _columns_of(self.objective.quantity) | ratios | starts | OF_EFFORT
        if all(row.placed == len(self.cases) for row in self.rows):
            del columns[PLACED]
        if all(row.mean_own_schedule_s is None for row in self.rows):
            columns.pop(OWN, None)
        if len(self.cases.graphs) < FEWEST:
            columns.pop(INTERVAL, None)
        return columns

    def cells(self, i: int) -> tuple[str, ...]:
        """Return the cells of a row of the table."""
        return tuple(cell(self.rows[i]) for cell in self.columns.values())

    def _view(self) -> View:
        head, count = tuple(self.columns), len(self.placers)
        title = f"{type(self).__name__}: {self.headline}"
        return table_view(title, Line(self.headline), head, count, self.cells, EXPENDABLE)

    def to_dict(self) -> dict[str, Any]:
        """Return what `compare --json` prints."""
        system = {} if self.semantics is None else {"semantics": self.semantics}
        return {
            "dataset": self.dataset,
            **self.cases.entries(),
            "objective": name_of_objective(self.objective),
            **asdict(self.objective),
            **system,
            **({"labels": dict(self.labels)} if self.labels else {}),
            "rows": self.to_records(),
        }

    def save(self, folder: str | Path) -> None:
        """Write compare.json, table.csv (`rows`) and graphs.csv (a line per case) to a folder."""
        save_tables(folder, self.to_dict(), self.to_records(), self._lines())

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows: a dictionary per placer, as in `to_dict`."""
        return [self._named(asdict(row)) for row in self.rows]

    def _named(self, entries: dict[str, Any]) -> dict[str, Any]:
        """Return entries named after the objective's quantity, without what only makespans have."""
        quantity = self.objective.quantity
        if quantity == MAKESPAN:
            return entries
        return {
            key.replace("makespan", quantity.replace(" ", "_")): value
            for key, value in entries.items()
            if not any(part in key for part in ("own", "slr", "heft"))
        }

    def _lines(self) -> Iterator[dict[str, Any]]:
        for n, case in enumerate(self.cases.lines()):
            for j, placer in enumerate(self.placers):
                entries = {
                    "placer": placer,
                    "makespan_s": finite(self.makespan_s[j, n]),
                    "own_schedule_s": finite(self.own_schedule_s[j, n]),
                    "slr": finite(self.slr[j, n]),
                    "bound_s": finite(self.bound_s[n]),
                    "gap": finite(self.gap[j, n]),
                    "evaluations": finite(self.evaluations[j, n]),
                }
                yield case | self._named(entries)


def _columns_of(quantity: str) -> Columns:
    """Return the first columns of a table of costs of a kind."""
    own: Columns = {
        "placer": lambda row: row.placer,
        f"{quantity}, s": lambda row: _seconds(row.mean_makespan_s),
    }
    return own | (OF_MAKESPANS if quantity == MAKESPAN else {})


def _interval(low: float | None, high: float | None) -> str:
    """Return the cell of an interval."""
    return "-" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else number(value)


def _text(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
