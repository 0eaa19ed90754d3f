"""The result types of `place`: what all have in common, and that of streams of tuples."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from streamplace.display.mixins import Displayable, Tabular
from streamplace.display.text import (
    limit_beside,
    number,
    percent_up,
    quoted,
    rounded_down,
    rounded_up,
)
from streamplace.display.view import Line, View
from streamplace.errors import UsageError
from streamplace.placers.base import Found
from streamplace.problem.placement import Placement
from streamplace.scoring.loads import use_entries
from streamplace.scoring.registry import throughput_evaluator
from streamplace.scoring.score import THROUGHPUT, Score, ThroughputScore
from streamplace.scoring.throughput import bound, max_source_rate
from streamplace.util.checks import check_type
from streamplace.util.plugins import load_ours
from streamplace.util.text import counted

if TYPE_CHECKING:
    from streamplace.latency.confidence import Confidence
    from streamplace.latency.limit import LatencyAnswer

DEVICES_SHOWN, NAMES_SHOWN = 8, 8
WRITER = "streamplace.files:write_placement"
"""Writes placement files; loaded once a result is saved, since most are only shown."""


@dataclass(frozen=True, repr=False)
class PlacementResult(Displayable, Tabular):
    """A placement with its score: what results have in common under all objectives.

    Parameters
    ----------
    placement
        The placement.
    score
        Its score.
    placer
        Name of the placer.
    seconds
        Wall time of the placer in seconds, excluding the time to load libraries.
    status
        ``OPTIMAL`` or ``FEASIBLE`` from a prover; None from other placers.
    """

    placement: Placement
    score: Score
    placer: str
    seconds: float
    status: str | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def gap(self) -> float | None:
        """How far the score is from the bound, as a share of the larger; None without a bound."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what `place --json` prints."""

    def to_records(self) -> list[dict[str, Any]]:
        """Return ``operator`` and ``device`` of every operator; `score` has the devices' loads."""
        return self.placement.to_records()

    def with_system(self, name: str | None) -> Self:
        """Return the result with the name of a published system that the score follows."""
        return replace(self, score=self.score.with_system(name))

    def save(self, file: str | Path, *, inputs: Mapping[str, str] | None = None) -> None:
        """Write a placement file: the placement, its whole problem and its score.

        Parameters
        ----------
        inputs
            ``graph``, ``cluster`` or ``constraints`` -> the name of the file that it was read from.
        """
        named = {"inputs": {**inputs}} if inputs else {}
        load_ours(WRITER)(file, self.placement, **self.stored(), **named)

    def stored(self) -> dict[str, Any]:
        """Return the entries of a placement file besides the placement and its inputs."""
        return {"placer": self.placer, "score": self.score.to_dict(), **self._stored()}

    @abstractmethod
    def _stored(self) -> dict[str, Any]:
        """Return the entries of a placement file besides those of `save`."""

    def _entries(self) -> dict[str, Any]:
        """Return the last entries of `to_dict`: memory, and whether the placement is proven."""
        status = {} if self.status is None else {"status": self.status}
        return {**use_entries(self.placement), **status}

    def _line(self, detail: str) -> Line:
        """Return the placer, its time, a detail, and whether the placement is proven optimal."""
        text = f"placed by {{}} in {self.seconds:.3g} s{detail}"
        if self.status is not None:
            text += ": proven optimal" if self.status == "OPTIMAL" else "; not proven in time"
        return Line(text, (self.placer,))


@dataclass(frozen=True, repr=False)
class Result(PlacementResult):
    """A placement with its throughput and bound.

    Parameters
    ----------
    bound
        Upper bound on the throughput of any placement in tuples/s, at the source rate of the score;
        None if no bound is known, as under ``engine``.
    bound_is_loose
        Whether the bound may be far from the optimum; see `ThroughputEvaluator.bound_is_loose`.
    max_source_rate
        Source rate in tuples/s at which the first device or link is full, by the loads of
        ``bottleneck``; None if nothing is loaded, and for custom objectives.
    confidence
        The probability with which the source rate is carried, if it was asked for and costs have
        standard errors.
    latency
        Whether a limit on latency is kept, if it was asked for.
    fewer_devices
        See `Found`.
    """

    score: ThroughputScore
    bound: float | None = field(kw_only=True)
    bound_is_loose: bool = field(default=False, kw_only=True)
    max_source_rate: float | None = field(default=None, kw_only=True)
    confidence: "Confidence | None" = field(default=None, kw_only=True)
    latency: "LatencyAnswer | None" = field(default=None, kw_only=True)
    fewer_devices: int | None = field(default=None, kw_only=True)

    @property
    def gap(self) -> float | None:
        """How far throughput is below the bound, as a share of the bound; None without a bound."""
        return None if self.bound is None else self.score.gap_to(self.bound)

    @property
    def proven(self) -> bool | None:
        """Whether the placement is proven optimal; None without a bound."""
        return None if self.bound is None else self.score.reaches(self.bound)

    def to_dict(self) -> dict[str, Any]:
        """Return what `place --json` prints."""
        return {
            **self.score.to_dict(),
            "assignment": dict(self.placement.assignment),
            "placer": self.placer,
            "bound": self.bound,
            "gap": self.gap,
            "proven": self.proven,
            "seconds": self.seconds,
            "max_source_rate": self.max_source_rate,
            **self._reports(),
            **self._entries(),
        }

    @property
    def headline(self) -> str:
        """Throughput, gap and placer, in words."""
        gap = "" if self.gap is None else f", gap {percent_up(self.gap)}"
        proven = ", proven optimal" if self.status == "OPTIMAL" else ""
        by = f"by {quoted(self.placer)} in {self.seconds:.3g} s"
        sustained = self._sustained()
        carries = f", {sustained}" if sustained else ""
        return f"{self.score.headline}{carries}{gap}{proven}, {by}"

    def _sustained(self) -> str:
        """Return the highest source rate in words, if it is above the rate offered."""
        highest = self.max_source_rate
        if highest is None or highest <= self.score.source_rate:
            return ""
        return f"carries up to {rounded_down(highest)} tuples/s"

    def _stored(self) -> dict[str, Any]:
        fewer = {} if self.fewer_devices is None else {"fewer_devices": self.fewer_devices}
        return {"bound": self.bound, "gap": self.gap, **fewer, **self._reports()}

    def _reports(self) -> dict[str, Any]:
        """Return the JSON entries of what was asked for besides throughput."""
        reports = {"confidence": self.confidence, "latency": self.latency}
        return {name: each.to_dict() for name, each in reports.items() if each is not None}

    def _view(self) -> View:
        return View(
            f"Result: {self.headline}",
            (
                *self.placement.described(DEVICES_SHOWN, NAMES_SHOWN),
                self.score.bottleneck.headline(self.placement.problem.target_utilisation),
            ),
            (
                *self.score.view_with(self.placement).body,
                *self._headroom(),
                self._line(self._bound_in_words() + self._fewer_in_words()),
            ),
        )

    def _headroom(self) -> tuple[Line, ...]:
        sustained = self._sustained()
        lines = (Line(sustained),) if sustained else ()
        reports = (each for each in (self.confidence, self.latency) if each is not None)
        return (*lines, *(line for each in reports for line in each.lines()))

    def _bound_in_words(self) -> str:
        """Return the gap to the bound, as the end of a line; empty without a bound."""
        if self.bound is None:
            return ""
        return f"; {bound_in_words(self.score, self.bound, is_loose=self.bound_is_loose)}"

    def _fewer_in_words(self) -> str:
        """Return how many devices carry everything as well, as the end of a line."""
        fewer = self.fewer_devices
        if fewer is None:
            return ""
        suffice = "suffices" if fewer == 1 else "suffice"
        return f"; {counted(fewer, 'machine')} {suffice} (--prefer fewest)"


CARRIED = "everything offered is carried"


def bound_in_words(
    score: ThroughputScore, bound: float, *, is_loose: bool, shown: Iterable[float] = ()
) -> str:
    """Return a bound on throughput in tuples/s, and the gap to it, as a part of a sentence.

    A bound that is the source rate says nothing of placements, so only the gap is stated.

    Parameters
    ----------
    shown
        Rates that are shown beside it, rounded.
    """
    if score.objective == THROUGHPUT and score.reaches(score.source_rate):
        return CARRIED
    gap = f"the gap is at most {percent_up(score.gap_to(bound))}"
    gap += " (the bound is loose)" if is_loose and not score.reaches(bound) else ""
    offered = f"{number(score.source_rate)} tuples/s"
    if bound >= score.source_rate:
        return f"{gap}, since a placement may carry all {offered}"
    limit = limit_beside((score.throughput, *shown), bound, rounded_up)
    return f"at {offered}, no placement exceeds {limit}, so {gap}"


def throughput_result(
    found: Found, placer: str, seconds: float, limit: float | None = None
) -> Result:
    """Return the result of a placement: its throughput, and the bound on it.

    Parameters
    ----------
    limit
        The time limit of the placer in seconds, if one was stated.
    """
    placement, problem = found.placement, found.placement.problem
    scored = throughput_evaluator(problem)
    score, upper = scored.score(placement.devices), None
    if scored.best_possible is not None:
        upper = scored.bound if limit is None else bound(problem, limit)
        upper = upper if found.bound is None else min(upper, found.bound)
        upper *= score.source_rate / problem.source_rate  # at the source rate of the score
    return Result(
        placement,
        score,
        placer,
        seconds,
        status=found.status,
        bound=upper,
        bound_is_loose=upper is not None and scored.bound_is_loose,
        max_source_rate=max_source_rate(problem, placement.devices),
        fewer_devices=found.fewer_devices,
    )


def placement_in(what: str, value: Placement | PlacementResult) -> Placement:
    """Return a placement, or that of a result of `place`.

    Parameters
    ----------
    what
        The name of the argument in the error.

    Raises
    ------
    UsageError
        If the value is neither.
    """
    placement = value.placement if isinstance(value, PlacementResult) else value
    advice = "a Result or MakespanResult is also accepted; sp.read_placement reads files"
    check_type(what, placement, Placement, UsageError, advice)
    return placement
