"""The result type of `place`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamplace.display.mixins import Displayable
from streamplace.display.text import number, percent_up, quoted, rounded_down, rounded_up
from streamplace.display.view import Line, View
from streamplace.files import write_placement
from streamplace.problem.placement import Placement
from streamplace.scoring.memory import use_entries
from streamplace.scoring.score import ThroughputScore
from streamplace.workflows.confidence import Confidence
from streamplace.workflows.latency.answer import LatencyAnswer

DEVICES_SHOWN, NAMES_SHOWN = 8, 8


@dataclass(frozen=True, repr=False)
class Result(Displayable):
    """A placement with its score and bound.

    Parameters
    ----------
    bound
        Upper bound on the throughput of any placement in tuples/s, at the source rate of the score;
        None if no bound is known, as under ``engine``.
    seconds
        Wall time of the placer in seconds, excluding the time to load libraries.
    status
        ``OPTIMAL`` or ``FEASIBLE`` from a prover; None from other placers.
    max_source_rate
        Source rate in tuples/s at which the first device or link is full, by the loads of
        ``bottleneck``; None if nothing is loaded, and for custom objectives.
    confidence
        The probability with which the source rate is carried, if it was asked for and costs have
        standard errors.
    latency
        Whether a limit on latency is kept, if it was asked for.
    """

    placement: Placement
    score: ThroughputScore
    placer: str
    bound: float | None
    seconds: float
    status: str | None = None
    max_source_rate: float | None = None
    confidence: Confidence | None = None
    latency: LatencyAnswer | None = None

    @property
    def gap(self) -> float | None:
        """How far throughput is below the bound, as a share of the bound; None without a bound."""
        if self.bound is None:
            return None
        return max(0.0, 1.0 - self.score.throughput / self.bound)

    def to_dict(self) -> dict[str, Any]:
        """Return what `place --json` prints."""
        document = {
            **self.score.to_dict(),
            "assignment": self.placement.assignment,
            "placer": self.placer,
            "bound": self.bound,
            "gap": self.gap,
            "seconds": self.seconds,
            "max_source_rate": self.max_source_rate,
        }
        document |= self._reports()
        document |= use_entries(self.placement)
        return document if self.status is None else document | {"status": self.status}

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

    def save(self, file: str | Path) -> None:
        """Write a placement file: the placement, its whole problem and its score."""
        write_placement(
            file,
            self.placement,
            placer=self.placer,
            score=self.score.to_dict(),
            bound=self.bound,
            gap=self.gap,
            **self._reports(),
        )

    def _reports(self) -> dict[str, Any]:
        """Return the JSON entries of what was asked for besides throughput."""
        reports = {"confidence": self.confidence, "latency": self.latency}
        return {name: each.to_dict() for name, each in reports.items() if each is not None}

    def _view(self) -> View:
        return View(
            f"Result: {self.headline}",
            (
                *self.placement.described(DEVICES_SHOWN, NAMES_SHOWN),
                self.score.bottleneck.headline,
            ),
            (*self.score.view_with(self.placement).body, *self._headroom(), self._line()),
        )

    def _headroom(self) -> tuple[Line, ...]:
        sustained = self._sustained()
        lines = (Line(sustained),) if sustained else ()
        reports = (each for each in (self.confidence, self.latency) if each is not None)
        return (*lines, *(line for each in reports for line in each.lines()))

    def _line(self) -> Line:
        """Return the placer, its time, and the gap to the bound."""
        text = f"placed by {{}} in {self.seconds:.3g} s"
        if self.bound is not None and self.gap is not None:
            text += f"; at {number(self.score.source_rate)} tuples/s, no placement exceeds "
            text += f"{rounded_up(self.bound)}, so the gap is at most {percent_up(self.gap)}"
        if self.status is not None:
            text += ": proven optimal" if self.status == "OPTIMAL" else "; not proven in time"
        return Line(text, (self.placer,))
