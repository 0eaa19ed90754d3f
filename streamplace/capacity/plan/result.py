"""The result type of `plan`: what sets of devices sustain, the cheapest of them, and losses."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

from streamplace.display.mixins import Displayable, RoundedRepr, Tabular
from streamplace.display.text import (
    limit_beside,
    number,
    percent_reached,
    percent_up,
    rounded_down,
    rounded_up,
)
from streamplace.display.view import TABLE_ROWS, Cell, Grid, Line, Names, View, template
from streamplace.errors import PlacementError
from streamplace.files import write_placement
from streamplace.latency.limit import LatencyAnswer, LatencyLimit
from streamplace.placers.search.balance import CARRIED
from streamplace.problem.objective import MAX_RATE
from streamplace.problem.placement import Placement
from streamplace.scoring.loads import Bottleneck
from streamplace.scoring.throughput import simulate
from streamplace.util.text import counted
from streamplace.workflows.conflict import Conflict
from streamplace.workflows.too_heavy import TooHeavy

ROWS_SHOWN = 12  # in a repr


@dataclass(frozen=True, repr=False)
class DeviceLoss(RoundedRepr):
    """What a set of devices still carries after the loss of one of them.

    Parameters
    ----------
    device
        Name of the device that is lost.
    max_source_rate
        Source rate in tuples/s that the best placement found on the others sustains; 0 if none was
        found that satisfies the constraints.
    relative_throughput
        Throughput / planned source rate, at that rate and under the model.
    """

    device: str
    max_source_rate: float
    relative_throughput: float

    @property
    def rank(self) -> tuple[float, float]:
        """A key by which a loss is less severe."""
        return self.relative_throughput, self.max_source_rate

    def cells(self) -> tuple[str, ...]:
        """Return the cells of a table's row."""
        return (
            self.device,
            _sustained(self.max_source_rate),
            percent_reached(self.relative_throughput),
        )


@dataclass(frozen=True, repr=False)
class CheapestSet(RoundedRepr):
    """The cheapest set of devices found that keeps up, with a lower bound on the price.

    Parameters
    ----------
    devices, unused
        Names of its devices, and of the other devices of the cluster.
    price
        Total price of the set, per unit of time.
    bound
        A proven lower bound on the price of any set that keeps up.
    placement
        A placement on these devices that carries the source rate.
    """

    devices: tuple[str, ...]
    unused: tuple[str, ...]
    price: float
    bound: float
    placement: Placement

    @property
    def gap(self) -> float:
        """1 - bound / price; 0 where the set is proven to be the cheapest."""
        return max(0.0, 1.0 - self.bound / self.price) if self.price > 0 else 0.0

    def headline(self, rate: str) -> str:
        """Return the set's price and the proof in words, for a source rate in words."""
        count = counted(len(self.devices), "device")
        keep = "keep" if len(self.devices) > 1 else "keeps"
        text = f"{count} {keep} up with {rate} at a price of {number(self.price)}, "
        if self.gap == 0.0:
            return text + "the lowest possible (proven)"
        least = f"proven: at least {rounded_down(self.bound)}"
        return text + f"which could be at most {percent_up(self.gap)} lower ({least})"

    def to_dict(self) -> dict[str, Any]:
        """Return the entry ``cheapest`` of `plan --json`."""
        return {
            "devices": list(self.devices),
            "price": self.price,
            "bound": self.bound,
            "gap": self.gap,
        }


@dataclass(frozen=True, repr=False)
class PlanRow(RoundedRepr):
    """The capacity of a number of devices.

    Parameters
    ----------
    devices
        Number of devices.
    max_source_rate
        Source rate in tuples/s that the best placement found sustains: at this rate, no device or
        link exceeds the target utilisation.
    bound
        Upper bound in tuples/s on the source rate that any placement on so many devices sustains;
        on unequal ones, on any so many of the cluster's devices.
    relative_throughput
        Throughput / planned source rate, at that rate and under the model.
    relative_after_loss
        The same after the loss of the device that matters most; None: the plan has no losses.
    price
        Total price of the devices per unit of time; None: they have no price.
    names
        Names of the devices; None: the devices are equal, so any of them will do.
    placement
        The placement with the highest relative throughput, on a cluster of these devices; with an
        answer about latency, the one that the answer is about.
    latency
        Whether a placement on these devices that keeps up keeps a limit on latency; None: it was
        not searched.
    """

    devices: int
    max_source_rate: float
    bound: float
    relative_throughput: float
    relative_after_loss: float | None = None
    price: float | None = None
    names: tuple[str, ...] | None = None
    placement: Placement | None = field(default=None, repr=False, compare=False)
    latency: LatencyAnswer | None = None

    @property
    def simulated_s(self) -> float:
        """The simulated latency in seconds; inf if there is none."""
        seconds = None if self.latency is None else self.latency.simulated_s
        return inf if seconds is None else seconds

    @property
    def keeps_up(self) -> bool:
        """Whether the planned source rate is sustained, also after a loss if the plan has any."""
        after = self.relative_after_loss
        return (self.relative_throughput if after is None else after) >= CARRIED

    @property
    def headline(self) -> str:
        """The source rate that these devices sustain, in words."""
        many = "devices sustain" if self.devices > 1 else "device sustains"
        at = "" if self.price is None else f" at a price of {number(self.price)}"
        return f"{self.devices} {many} {_sustained(self.max_source_rate)} tuples/s{at}"

    @property
    def bound_in_words(self) -> str:
        """The upper bound in tuples/s, or ``none``."""
        if self.bound >= MAX_RATE:
            return "none"
        return limit_beside(self.max_source_rate, self.bound, rounded_up, rounded_down)

    def to_dict(self) -> dict[str, Any]:
        """Return an entry of ``rows`` of `plan --json`."""
        found = {key: value for key, value in vars(self).items() if key != "placement"}
        return found | {"latency": None if self.latency is None else self.latency.to_dict()}

    def cells(self, head: tuple[str, ...]) -> tuple[Cell, ...]:
        """Return the cells of the row under some of the headings of `HEAD`."""
        after = self.relative_after_loss
        unknown = "not searched" if self.keeps_up else "does not keep up"
        cells: dict[str, Cell] = {
            "devices": str(self.devices),
            "price": "" if self.price is None else number(self.price),
            "sustained, tuples/s": _sustained(self.max_source_rate),
            "upper bound": self.bound_in_words,
            "relative": percent_reached(self.relative_throughput),
            "after a loss": "" if after is None else percent_reached(after),
            "latency": unknown if self.latency is None else self.latency.brief,
            "names": Names.of(self.names or ()),
        }
        return tuple(cells[title] for title in head)


@dataclass(frozen=True, repr=False)
class Plan(Displayable, Tabular):
    """Capacities of numbers of devices, except those too few for the constraints.

    Parameters
    ----------
    source_rate
        The planned source rate in tuples/s.
    rows
        One row per number of equal devices or, on unequal ones, per number of devices the best set
        found: the cheapest that keeps up or, if none does, the one that sustains the most.
    cause
        The operators that no device can run at the source rate, so that more devices do not help.
    survive
        Number of devices that may be lost without falling behind.
    cheapest
        The cheapest set of devices found that keeps up; None: there is none, or the devices of the
        plan are equal.
    losses
        What is left after the loss of each device of the cheapest set, or of the whole cluster if
        no set keeps up, besides those of `pinned`; empty unless `survive` is 1.
    unpriced
        Whether each device counted 1, because no device of the cluster has a price.
    proven
        Whether a proof shows that no set of the cluster's devices, or no number of equal ones that
        was asked for, keeps up; or that fewer equal ones than `fewest_devices` do not.
    left_out
        Numbers of devices without a row, up to that of the last row or, on equal devices, to the
        largest that was asked for.
    missing, ruled_out
        Those of them on which no placement was found, and for which the bound shows that they do
        not keep up. Others were not needed, or there was no time, or their losses are too many.
    limit
        The link or uplink that is full first in the best placement found, if no set keeps up and
        that is the reason; None otherwise.
    wider_helps
        Whether that placement would carry more if the link had more bandwidth.
    unmet
        A device whose loss leaves no placement, and the rules that no placement obeys then; None if
        a set keeps up, or other reasons decide.
    pinned
        Device -> the operators that constraints keep on it, so that its loss is not survived; empty
        unless `survive` is 1.
    max_latency
        The limit on latency that the answer keeps, too; None: there is none.
    """

    source_rate: float
    rows: tuple[PlanRow, ...]
    cause: TooHeavy | None = None
    survive: int = 0
    cheapest: CheapestSet | None = None
    losses: tuple[DeviceLoss, ...] = ()
    unpriced: bool = False
    proven: bool = False
    missing: tuple[int, ...] = ()
    ruled_out: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()
    limit: Bottleneck | None = None
    wider_helps: bool = False
    unmet: tuple[str, Conflict] | None = None
    pinned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    max_latency: LatencyLimit | None = None

    @property
    def fewest_devices(self) -> int | None:
        """The fewest devices of a row that keeps up, and the limit on latency; None if none is."""
        return next((row.devices for row in self.rows if self._is_enough(row)), None)

    @property
    def latency(self) -> LatencyAnswer | None:
        """The answer about latency: for the row of the lowest one; None if no limit was asked for.

        It is None, too, if provably nothing keeps up.
        """
        if self.max_latency is None:
            return None
        if (row := self._lowest_latency()) is not None:
            known = row.latency
            assert known is not None, "rows of a lowest latency have one"
            is_open = known.answer == "infeasible" and not self.proven
            return replace(known, answer="unproven") if is_open else known
        unknown = LatencyAnswer(self.max_latency, "unproven", None, None, None)
        return None if self.proven else unknown

    @property
    def placement(self) -> Placement | None:
        """A placement on the cheapest or the fewest devices that keep up; None if none do.

        If a limit on latency is not kept, it is the one of the lowest latency.
        """
        if self.cheapest is not None:
            return self.cheapest.placement
        if self.max_latency is not None:
            row = self._lowest_latency()
            return None if row is None else row.placement
        return next((row.placement for row in self.rows if row.keeps_up), None)

    def _is_enough(self, row: PlanRow) -> bool:
        """Return whether a row keeps up, and keeps the limit on latency if there is one."""
        if self.max_latency is None:
            return row.keeps_up
        return row.latency is not None and row.latency.answer == "feasible"

    def _lowest_latency(self) -> PlanRow | None:
        """Return the row that keeps the limit on latency, else the one of the lowest latency."""
        return min(
            (row for row in self.rows if row.latency is not None),
            key=lambda row: (not self._is_enough(row), row.simulated_s),
            default=None,
        )

    def save(self, file: str | Path, *, inputs: Mapping[str, str] | None = None) -> None:
        """Write `placement` to a placement file, with its problem and its score.

        Parameters
        ----------
        inputs
            See `Result.save`.

        Raises
        ------
        PlacementError
            If no devices keep up.
        """
        if self.placement is None:
            raise PlacementError(f"plan: no placement to write: {self.headline}")
        score = simulate(self.placement).to_dict()
        named = {"inputs": {**inputs}} if inputs else {}
        write_placement(file, self.placement, placer="plan", score=score, **named)

    @property
    def headline(self) -> str:
        """The fewest or the cheapest devices that sustain the source rate, in words."""
        rate = f"{number(self.source_rate)} tuples/s"
        rate += " after the loss of any one device" if self.survive else ""
        rate += " without pinned operators" if self.pinned else ""
        rate += f" within {self.max_latency}" if self.max_latency is not None else ""
        if self.cheapest is not None:
            return self.cheapest.headline(rate)
        if (count := self.fewest_devices) is not None:
            keep = "devices keep" if count > 1 else "device keeps"
            others = "" if self.proven else "; fewer are not ruled out"
            return f"{count} {keep} up with {rate}{others}"
        last = max(row.devices for row in self.rows)
        if self.proven:
            are = "devices are" if last > 1 else "device is"
            return f"{last} {are} not enough for {rate} (proven)"
        text = f"none found up to {counted(last, 'device')} that keeps up with {rate}"
        if self._lowest_latency() is not None:  # something keeps up
            return text
        bound = self.rows[-1].bound_in_words
        limit = "no bound" if bound == "none" else f"bound {bound} tuples/s"
        return f"{text} ({limit})"

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows: a dictionary per number of devices, as in `to_dict`."""
        return [row.to_dict() for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Return what `plan --json` prints."""
        return {
            "source_rate": self.source_rate,
            "rows": self.to_records(),
            "fewest_devices": self.fewest_devices,
            "cheapest": None if self.cheapest is None else self.cheapest.to_dict(),
            "survive": self.survive,
            "losses": [vars(loss) for loss in self.losses],
            "cause": None if self.cause is None else self.cause.to_dict(),
            "limit": None if self.limit is None else asdict(self.limit),
            "proven": self.proven or (self.cheapest is not None and self.cheapest.gap == 0.0),
            "conflict": None if self.unmet is None else self.unmet[1].to_dict(),
            "unpriced": self.unpriced,
            "missing": list(self.missing),
            "ruled_out": list(self.ruled_out),
            "left_out": list(self.left_out),
            "not_survived": {device: list(names) for device, names in self.pinned.items()},
        }

    def _view(self) -> View:
        lines = [row.headline for row in self.rows[:ROWS_SHOWN]]
        if len(self.rows) > ROWS_SHOWN:
            more = len(self.rows) - ROWS_SHOWN
            lines.append(f"and {counted(more, 'more line')}")
        body: list[Line | Grid] = [self._table()]
        others = {*self.left_out} - {*self.missing} - {*self.ruled_out}
        for text, counts in (
            ("no placement found on", self.missing),
            ("ruled out by the bound:", self.ruled_out),
            ("not searched:", sorted(others)),
        ):
            if counts:
                body.append(Line(f"{text} {_numbers(counts)}"))
        if self.cheapest is not None:
            names = self.cheapest.devices
            body.append(Line("cheapest: {}", (Names.of(names),)))
        body += self._loss_tables()
        if self.pinned:
            kept = [name for names in self.pinned.values() for name in names]
            lost = Names.of(list(self.pinned)), Names.of(kept)
            body.append(Line("not survived: the loss of {}, where constraints keep {}", lost))
        body.append(Line(self.headline))
        if (row := self._lowest_latency()) is not None and row.latency is not None:
            body += row.latency.lines()
        if self.unmet is not None:
            name, error = self.unmet
            body.append(Line(f"after the loss of {{}}, {template(str(error))}", (name,)))
        body += [] if self.cause is None else [Line(*self.cause.text())]
        if self.limit is not None:
            text = f"in the best placement found, {self.limit.kind} {{}} is full before any device"
            text += ": raise its bandwidth" * self.wider_helps
            body.append(Line(text, (self.limit.name,)))
        return View(f"Plan: {self.headline}", tuple(lines), tuple(body), TABLE_ROWS)

    def _table(self) -> Grid:
        head: tuple[str, ...] = ("devices", "sustained, tuples/s", "upper bound", "relative")
        if any(row.price is not None for row in self.rows):
            head = ("devices", "price", *head[1:])
        head += ("after a loss",) if self.survive else ()
        head += ("latency",) if self.max_latency is not None else ()
        named = any(row.names is not None for row in self.rows)
        head += ("names",) if named else ()
        names = (len(head) - 1,) if named else ()
        return Grid(head, len(self.rows), lambda i: self.rows[i].cells(head), names=names)

    def _loss_tables(self) -> list[Grid | Line]:
        """Return what is left after each loss as a table, and the worst loss as a line."""
        if not self.losses:
            return []
        head = ("without", "carries, tuples/s", "relative")
        worst = min(self.losses, key=lambda loss: loss.rank)
        carried = _sustained(worst.max_source_rate)
        text = f"worst loss: {{}}, after which they carry {carried} tuples/s"
        table = Grid(head, len(self.losses), lambda i: self.losses[i].cells())
        return [table, Line(text, (worst.device,))]


def _sustained(rate: float) -> str:
    """Return a source rate in words; no source rate is above `MAX_RATE`."""
    return rounded_down(rate) if rate < MAX_RATE else f"at least {number(MAX_RATE)}"


def _numbers(counts: Sequence[int]) -> str:
    """Return increasing numbers of devices in words, such as ``1, 4 to 6 or 8 devices``."""
    parts: list[list[int]] = []
    for count in counts:
        if parts and count == parts[-1][-1] + 1:
            parts[-1][1:] = [count]  # the first and the last one of a range
        else:
            parts.append([count])
    words: list[object] = []
    for first, *last in parts:
        words += [f"{first} to {last[0]}"] if [first + 1] < last else [first, *last]
    return f"{_or(words)} {'device' if [*counts] == [1] else 'devices'}"


def _or(words: Sequence[object]) -> str:
    *first, last = map(str, words)
    return f"{', '.join(first)} or {last}" if first else last
