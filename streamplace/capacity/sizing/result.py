"""The result of `size`: numbers of instances, their placement, and what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any

from streamplace.capacity.settings import Minimise
from streamplace.capacity.sizing.requirements import Requirement
from streamplace.display.mixins import Displayable, Tabular
from streamplace.display.text import limit_beside, number, percent, rounded_down
from streamplace.display.view import Grid, Line, Names, View, template
from streamplace.errors import Fault, UsageError
from streamplace.files import write_placement
from streamplace.latency.limit import LatencyAnswer
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.placement import Placement
from streamplace.scoring.score import ThroughputScore
from streamplace.util.text import counted, printable

SIZE = ("size",)
"""What messages of `size` begin with."""
LIMITS_SHOWN = 5
# Multiple of the planned rate above which a limit is not shown: 32,768 key groups of a light
# operator allow 10^9 tuples/s, which other resources never carry. A guess.
FAR = 100.0
OPERATORS_SHOWN = 1_000  # longer tables take seconds to lay out; --json has all


@dataclass(frozen=True, repr=False)
class SizeResult(Displayable):
    """Numbers of instances, with a placement of all of them that carries the source rate.

    Parameters
    ----------
    parallelism
        Operator -> number of instances.
    cluster
        The devices to choose from.
    graph
        The graph, which states these numbers.
    assignment
        Instance -> name of its device.
    source_rate, throughput
        The planned source rate, and what is carried of it, in tuples/s.
    placement, score
        The placement of the instances on the whole cluster, and its score at the planned source
        rate. None where there are too many streams between instances to list them.
    minimise
        What is minimised.
    bound
        A lower bound on it, for any numbers of instances and any placement.
    limits
        The operators whose instances are limited, the one that carries least first.
    devices
        The names of the devices that are needed: those that run an instance and, if one may be
        lost, spare ones.
    seconds
        Time of the search in seconds: CPU time if it had no limit, and wall time otherwise.
    survive
        Number of devices that may be lost.
    latency
        Whether a limit on latency is kept, if there is one.
    cut_off
        Whether a limit ended the search before it was complete and before the bound was reached.
    """

    parallelism: Mapping[str, int]
    assignment: Mapping[str, str]
    graph: StreamGraph
    cluster: Cluster
    source_rate: float
    throughput: float
    placement: Placement | None
    score: ThroughputScore | None
    minimise: Minimise
    bound: float
    limits: tuple[Requirement, ...]
    devices: tuple[str, ...]
    seconds: float
    survive: int = 0
    latency: LatencyAnswer | None = None
    cut_off: bool = False

    @property
    def machines(self) -> int:
        """The number of devices that are needed."""
        return len(self.devices)

    @property
    def instances(self) -> int:
        """The number of instances."""
        return sum(self.parallelism.values())

    @property
    def money(self) -> float | None:
        """The price of the devices that are needed; None if one of them has no price."""
        cluster = self.cluster
        prices = [cluster.devices[cluster.index[name]].price for name in self.devices]
        known = [price for price in prices if price is not None]
        return fsum(known) if len(known) == len(prices) else None

    @property
    def value(self) -> float:
        """What is minimised, as it was found."""
        values = {"machines": self.machines, "money": self.money, "instances": self.instances}
        return float(values[self.minimise] or 0.0)

    @property
    def gap(self) -> float:
        """How far the result is above the bound, as a share of the result."""
        return max(0.0, 1.0 - self.bound / self.value) if self.value else 0.0

    @property
    def headline(self) -> str:
        """Machines and instances, and the bound, in words."""
        price = "" if self.money is None else f" at a price of {number(self.money)}"
        rate = number(self.source_rate)
        after = " after the loss of any one device" if self.survive else ""
        proven = "proven optimal" if not self.gap else f"at least {rounded_down(self.bound)}"
        return (
            f"{counted(self.instances, 'instance')} on {counted(self.machines, 'device')}{price} "
            f"{'carry' if self.instances > 1 else 'carries'} {rate} tuples/s{after} "
            f"({self.minimise}: {proven})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what `size --json` prints."""
        return {
            "parallelism": dict(self.parallelism),
            "assignment": dict(self.assignment),
            "minimise": self.minimise,
            "devices": list(self.devices),
            "machines": self.machines,
            "money": self.money,
            "instances": self.instances,
            "bound": self.bound,
            "gap": self.gap,
            "source_rate": self.source_rate,
            "throughput": self.throughput,
            "limits": [limit.to_dict() for limit in self.limits],
            "survive": self.survive,
            "seconds": self.seconds,
            **({} if self.latency is None else {"latency": self.latency.to_dict()}),
        }

    def save(self, file: str | Path, *, inputs: Mapping[str, str] | None = None) -> None:
        """Write a placement file of the instances, with the whole problem and its score.

        Parameters
        ----------
        inputs
            See `Result.save`.

        Raises
        ------
        UsageError
            If there are too many streams between instances to list them.
        """
        if self.placement is None or self.score is None:
            fault = "too many streams between the instances for a placement file"
            remedy = "--json has the parallelism and the assignment"
            raise UsageError(Fault(fault, place=SIZE, remedy=remedy))
        latency = {} if self.latency is None else {"latency": self.latency.to_dict()}
        score = self.score.to_dict()
        named = {"inputs": {**inputs}} if inputs else {}
        write_placement(file, self.placement, placer="size", score=score, **latency, **named)

    def _view(self) -> View:
        names = tuple(self.parallelism)
        table = Grid(
            ("operator", "instances"),
            len(names),
            lambda i: (names[i], str(self.parallelism[names[i]])),
            max_rows=OPERATORS_SHOWN,
            left_out="and {} more operators",
            names=(0,),
        )
        near = [one for one in self.limits if one.at_most <= FAR * self.source_rate]
        limits = [Line(template(printable(one.text()))) for one in near[:LIMITS_SHOWN]]
        if self.placement is None or self.score is None:
            return View(f"Size: {self.headline}", (), (table, *limits, Line(self.headline)))
        latency = () if self.latency is None else self.latency.lines()
        if self.survive and latency:
            latency += (Line("the limit on latency is not examined after the loss of a device"),)
        if self.survive:
            limits = [Line("devices: {}", (Names.of(self.devices),)), *limits]
        shown = self.score.view_with(self.placement).body
        body = (table, *shown, *limits, *latency, *self._headroom(), Line(self.headline))
        top = self.score.bottleneck.headline(self.placement.problem.target_utilisation)
        return View(f"Size: {self.headline}", (top,), body)

    def _headroom(self) -> tuple[Line, ...]:
        """Return what is left of what is used most, unless a share to leave was stated."""
        if self.placement is None or self.score is None:
            return ()
        if self.placement.problem.target_utilisation < 1:
            return ()
        top = self.score.bottleneck
        left = percent(max(0.0, 1.0 - top.utilisation))
        text = f"{left} headroom at the {top.label()} {{}} (--target-utilisation sets it)"
        return (Line(text, (top.name,)),)


@dataclass(frozen=True)
class Unsized:
    """A source rate for which no size was found.

    Parameters
    ----------
    source_rate
        In tuples/s.
    reason
        Why there is none, and what would help.
    at_most
        No higher source rate can be sustained, in tuples/s; 0: no rate at all; None: not known.
    """

    source_rate: float
    reason: str
    at_most: float | None = None

    @property
    def headline(self) -> str:
        """The source rate and the reason, in words."""
        return f"{number(self.source_rate)} tuples/s: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """Return the row of `size --at R1,R2 --json`."""
        return {"source_rate": self.source_rate, "error": self.reason, "at_most": self.at_most}


@dataclass(frozen=True, repr=False)
class SizeTable(Displayable, Tabular):
    """Sizes at several source rates, in their order; at least one was found."""

    rows: tuple[SizeResult | Unsized, ...]

    @property
    def sized(self) -> tuple[SizeResult, ...]:
        """The rows for which a size was found."""
        return tuple(row for row in self.rows if isinstance(row, SizeResult))

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows: a dictionary per source rate, as in `to_dict`."""
        return [row.to_dict() for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Return what `size --at R1,R2 --json` prints."""
        return {"rows": self.to_records()}

    def _view(self) -> View:
        first = self.sized[0]
        names = tuple(first.parallelism)
        table = Grid(
            ("tuples/s", "machines", "price", "instances", f"least {first.minimise}", *names),
            len(self.sized),
            lambda i: _cells(self.sized[i]),
            names=(0,),
        )
        unsized = (row for row in self.rows if isinstance(row, Unsized))
        reasons = (Line(template(f"no size for {row.headline}")) for row in unsized)
        lines = tuple(row.headline for row in self.rows)
        return View(f"Sizes at {counted(len(self.rows), 'source rate')}", lines, (table, *reasons))


def _cells(row: SizeResult) -> tuple[str, ...]:
    return (
        number(row.source_rate),
        str(row.machines),
        "" if row.money is None else number(row.money),
        str(row.instances),
        limit_beside(row.value, row.bound, rounded_down),
        *(str(count) for count in row.parallelism.values()),
    )
