"""Capacity plans: the source rate that each number of devices sustains."""

from dataclasses import dataclass
from typing import Any

from streamplace.display.mixins import Displayable, RoundedRepr
from streamplace.display.text import number
from streamplace.display.view import TABLE_ROWS, Grid, Line, View
from streamplace.util.text import counted
from streamplace.workflows.too_heavy import TooHeavy

CLOSE = 1.0 - 1e-9  # share of a rate that counts as reaching it, up to rounding
ROWS_SHOWN = 12  # in a repr


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
        Upper bound in tuples/s on the source rate that any placement on these devices sustains.
    relative_throughput
        Throughput / planned source rate, at that rate and under the model.
    """

    devices: int
    max_source_rate: float
    bound: float
    relative_throughput: float

    @property
    def keeps_up(self) -> bool:
        """Whether the planned source rate is sustained."""
        return self.relative_throughput >= CLOSE

    @property
    def headline(self) -> str:
        """The source rate that these devices sustain, in words."""
        many = "devices sustain" if self.devices > 1 else "device sustains"
        return f"{self.devices} {many} {number(self.max_source_rate)} tuples/s"

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the row."""
        rates = map(number, (self.max_source_rate, self.bound))
        return (str(self.devices), *rates, f"{self.relative_throughput:.1%}")


@dataclass(frozen=True, repr=False)
class Plan(Displayable):
    """Capacities of increasing numbers of devices, except those too few for the constraints.

    Parameters
    ----------
    source_rate
        The planned source rate in tuples/s.
    cause
        The operators that no device can run at the source rate, so that more devices do not help.
    """

    source_rate: float
    rows: tuple[PlanRow, ...]
    cause: TooHeavy | None = None

    @property
    def fewest_devices(self) -> int | None:
        """The fewest devices that sustain the source rate; None if no row does."""
        return next((row.devices for row in self.rows if row.keeps_up), None)

    @property
    def headline(self) -> str:
        """The fewest devices that sustain the source rate, in words."""
        count, rate = self.fewest_devices, f"{number(self.source_rate)} tuples/s"
        if count is None:
            last = max(row.devices for row in self.rows)
            return f"{last} {'devices are' if last > 1 else 'device is'} not enough for {rate}"
        return f"{count} {'devices keep' if count > 1 else 'device keeps'} up with {rate}"

    def to_dict(self) -> dict[str, Any]:
        """Return what `plan --json` prints."""
        return {
            "source_rate": self.source_rate,
            "rows": [vars(row) for row in self.rows],
            "fewest_devices": self.fewest_devices,
            "cause": None if self.cause is None else self.cause.to_dict(),
        }

    def _view(self) -> View:
        lines = [row.headline for row in self.rows[:ROWS_SHOWN]]
        if len(self.rows) > ROWS_SHOWN:
            more = len(self.rows) - ROWS_SHOWN
            lines.append(f"and {counted(more, 'more row')}")
        head = ("devices", "sustained, tuples/s", "upper bound", "relative")
        table = Grid(head, len(self.rows), lambda i: self.rows[i].cells(), names=())
        cause = () if self.cause is None else (Line(*self.cause.text()),)
        body = (table, Line(self.headline), *cause)
        return View(f"Plan: {self.headline}", tuple(lines), body, TABLE_ROWS)
