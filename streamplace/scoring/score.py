"""Scores of placements."""

from abc import abstractmethod
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Self

from streamplace.display.mixins import Displayable
from streamplace.display.text import number, quoted, share_of
from streamplace.display.view import Line, View
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.loads import (
    Bottleneck,
    DeviceLoad,
    DeviceTable,
    LinkLoad,
    UplinkLoad,
    device_grid,
    link_grids,
)

ROUNDING = 1e-9  # relative: throughputs, or makespans, that differ by less are equally good
PROVEN = (
    1e-6  # relative: so close to a bound, a placement is proven; CP-SAT's integers tell no less
)
THROUGHPUT = "throughput"


class Score(Displayable):
    """The score of a placement under the objective of its problem.

    Attributes
    ----------
    quantity
        What the value is, in words; see `Objective`.
    """

    quantity: ClassVar[str]

    @property
    @abstractmethod
    def figures(self) -> dict[str, float]:
        """The value, and others that belong to it, by their names in JSON."""

    @property
    @abstractmethod
    def value(self) -> float:
        """The value of the objective, in `unit`."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """The unit of `value`."""

    @property
    @abstractmethod
    def quality(self) -> float:
        """The value on the scale of `Evaluator.quality`; higher is better, at most 1."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """The value as a phrase."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what `simulate --json` prints."""

    @abstractmethod
    def view_with(self, placement: Placement | None) -> View:
        """Return the view of the score; the scored placement adds names of operators."""

    @abstractmethod
    def differing_lines(self, other: Any) -> tuple[Line, ...]:
        """Return what differs between the settings of this score and of another of its class."""

    @property
    def measured(self) -> str:
        """What `value` is, in words."""
        return self.quantity

    def in_unit(self, text: str) -> str:
        """Return a value of the score as text, followed by its unit if it has one."""
        return f"{text} {self.unit}" if self.unit else text

    def with_bound(self, bound: float | None) -> Self:
        """Return the score with a bound that a prover has proven, if it shows bounds."""
        return self

    def with_system(self, name: str | None) -> Self:
        """Return the score with the name of a published system that it follows, if it shows one."""
        return self


@dataclass(frozen=True, repr=False)
class ThroughputScore(DeviceTable, Score):
    """The throughput of a placement and the loads it causes.

    Parameters
    ----------
    source_rate
        Tuples/s offered by all sources together; if the problem has several rates, the one with the
        lowest relative throughput.
    throughput
        Tuples/s at the sources that the placement sustains. Under a custom objective, the worth of
        the placement instead, also in tuples/s.
    relative_throughput
        Throughput as a share of the source rate.
    bottleneck
        The device, link, uplink or operator with the largest utilisation.
    devices
        Loads of all devices.
    links
        Loads of the links that carry traffic.
    devices_used
        Number of devices that run operators.
    model
        The model that computed the throughput.
    objective
        ``throughput``, or the name of a custom objective with its options.
    uplinks
        Loads of the links that groups of devices share, if they carry traffic and have a limit.
    """

    quantity: ClassVar[str] = THROUGHPUT

    source_rate: float
    throughput: float
    relative_throughput: float
    bottleneck: Bottleneck
    devices: tuple[DeviceLoad, ...]
    links: tuple[LinkLoad, ...]
    devices_used: int
    model: str
    objective: str = field(default=THROUGHPUT, kw_only=True)
    uplinks: tuple[UplinkLoad, ...] = field(default=(), kw_only=True)

    @property
    def measured(self) -> str:
        """The throughput, or the worth under a custom objective."""
        return self.quantity if self.objective == THROUGHPUT else "worth"

    def gap_to(self, bound: float) -> float:
        """Return how far throughput is below a bound in tuples/s, as a share of the bound."""
        return max(0.0, 1.0 - self.throughput / bound)

    def reaches(self, bound: float) -> bool:
        """Return whether throughput reaches an upper bound in tuples/s, and so is optimal."""
        return self.throughput >= bound * (1.0 - PROVEN)

    @property
    def figures(self) -> dict[str, float]:
        """The throughput in tuples/s, and the relative throughput."""
        return {
            "throughput": self.throughput,
            "relative_throughput": self.relative_throughput,
        }

    @property
    def value(self) -> float:
        """The throughput, in tuples/s."""
        return self.throughput

    @property
    def unit(self) -> str:
        """Tuples per second."""
        return "tuples/s"

    @property
    def quality(self) -> float:
        """The relative throughput, at most 1."""
        return min(1.0, self.relative_throughput)

    @property
    def base_rate(self) -> float:
        """The tuples/s of which the relative throughput is a share."""
        return self.source_rate

    @property
    def objective_entry(self) -> dict[str, str]:
        """The entry of the objective in JSON documents; empty unless the objective is custom."""
        return {} if self.objective == THROUGHPUT else {"objective": self.objective}

    def to_dict(self) -> dict[str, Any]:
        """Return what `simulate --json` prints."""
        document = asdict(self)
        del document["source_rate"], document["objective"], document["uplinks"]
        document["devices"] = list(document["devices"])
        document["links"] = [
            {"from": link.source, "to": link.target, "utilisation": link.utilisation}
            for link in self.links
        ]
        if self.uplinks:
            document["uplinks"] = [asdict(uplink) for uplink in self.uplinks]
        return document | self.objective_entry

    def differing_lines(self, other: "ThroughputScore") -> tuple[Line, ...]:
        """Return the source rate, model and objective of both scores, unless they are equal."""
        scores = (self, other)
        if len({(one.source_rate, one.model, one.objective) for one in scores}) == 1:
            return ()
        each = [f"{number(one.source_rate)} tuples/s ({one.model})" for one in scores]
        names = tuple(one.objective for one in scores)
        if len(set(names)) == 1:
            return (Line(f"scored at {' and at '.join(each)}"),)
        return (Line(f"scored at {' by {} and at '.join(each)} by {{}}", names),)

    @property
    def headline(self) -> str:
        """The throughput as a phrase."""
        offered = self.base_rate
        rates = f"{number(self.throughput)} of {number(offered)} tuples/s"
        return f"{rates} ({share_of(self.throughput, offered)})"

    def _view(self) -> View:
        return self.view_with(None)

    def view_with(self, placement: Placement | None) -> View:
        """Return the view of the score; the scored placement adds names of operators."""
        top, used = self.bottleneck, f"{self.devices_used} of {len(self.devices)} devices used"
        used += f" ({self.model} model)"
        usable = 1.0 if placement is None else placement.problem.target_utilisation
        own = "" if self.objective == THROUGHPUT else f", objective {quoted(self.objective)}"
        return View(
            f"{type(self).__name__}: {self.headline}, {top.headline(usable)}, {used}{own}",
            body=(
                self.achieved(None if placement is None else placement.problem),
                *self._run_lines(),
                top.line(usable),
                device_grid(self.devices, placement),
                *link_grids((*self.links, *self.uplinks)),
            ),
        )

    def achieved(self, problem: Problem | None) -> Line:
        """Return the throughput as a line; the problem adds its rates and target utilisation."""
        worst = at_most = ""
        if problem is not None and len(problem.source_rates) > 1:
            worst = f", the worst of {len(problem.source_rates)} rates"
        if problem is not None and problem.target_utilisation < 1:
            at_most = f", at most {problem.target_utilisation:.4g} of any device or link used"
        base_rate = self.base_rate
        share = share_of(self.throughput, base_rate)
        achieved = f"{number(self.throughput)} tuples/s, {share}"
        offered = f"{number(base_rate)}{worst}"
        if self.objective == THROUGHPUT:
            return Line(f"throughput {achieved} of {offered} ({self.model}{at_most})")
        return Line(
            f"worth {achieved} of {offered} by {{}} ({self.model}{at_most})", (self.objective,)
        )

    def _run_lines(self) -> tuple[Line, ...]:
        """Return the lines that only an engine run has."""
        return ()
