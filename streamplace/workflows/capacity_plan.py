"""Capacity plans: how many devices keep up, and what rate so many sustain."""

from dataclasses import dataclass
from typing import Any

from streamplace.display.mixins import Displayable, RoundedRepr
from streamplace.display.text import number
from streamplace.display.view import TABLE_ROWS, Grid, Line, View

CLOSE = 1.0 - 1e-9
ROWS_SHOWN = 12  # in a repr


@dataclass(frozen=True, repr=False)
class PlanRow(RoundedRepr):
    """What so many devices can do.

    Parameters
    ----------
    max_source_rate
        Tuples/s that the placement found sustains: nothing is used beyond what may be.
    bound
        Tuples/s that no placement on so many devices sustains more of.
    relative_throughput
        At the source rate planned for, under the model.
    """

    devices: int
    max_source_rate: float
    bound: float
    relative_throughput: float

    @property
    def keeps_up(self) -> bool:
        """Whether the source rate planned for is sustained."""
        return self.relative_throughput >= CLOSE

    @property
    def headline(self) -> str:
        """What rate so many devices sustain, in words."""
        many = "devices sustain" if self.devices > 1 else "device sustains"
        return f"{self.devices} {many} {number(self.max_source_rate)} tuples/s"

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the row."""
        rates = map(number, (self.max_source_rate, self.bound))
        return (str(self.devices), *rates, f"{self.relative_throughput:.1%}")


@dataclass(frozen=True, repr=False)
class Plan(Displayable):
    """Rows from one device up, without numbers on which the constraints cannot hold."""

    source_rate: float
    rows: tuple[PlanRow, ...]

    @property
    def fewest_devices(self) -> int | None:
        """The fewest that keep up; None if none of the rows does."""
        return next((row.devices for row in self.rows if row.keeps_up), None)

    @property
    def headline(self) -> str:
        """How many devices keep up, in words."""
        fewest, rate = self.fewest_devices, f"{number(self.source_rate)} tuples/s"
        if fewest is None:
            return f"none of {len(self.rows)} numbers of devices keeps up with {rate}"
        return f"{fewest} {'devices keep' if fewest > 1 else 'device keeps'} up with {rate}"

    def to_dict(self) -> dict[str, Any]:
        """Return what `plan --json` prints."""
        return {
            "source_rate": self.source_rate,
            "rows": [vars(row) for row in self.rows],
            "fewest_devices": self.fewest_devices,
        }

    def _view(self) -> View:
        lines = [row.headline for row in self.rows[:ROWS_SHOWN]]
        if len(self.rows) > ROWS_SHOWN:
            lines.append(f"and {len(self.rows) - ROWS_SHOWN} rows more")
        head = ("devices", "sustain, tuples/s", "no more than", "relative")
        table = Grid(head, len(self.rows), lambda i: self.rows[i].cells(), names=())
        none = f"none of these keeps up with {number(self.source_rate)} tuples/s"
        verdict = Line(none if self.fewest_devices is None else self.headline)
        return View(f"Plan: {self.headline}", tuple(lines), (table, verdict), TABLE_ROWS)
