"""Capacity plans: how many devices keep up, and what rate so many sustain."""

from dataclasses import dataclass
from typing import Any

from streamplace.display.mixins import Displayable, RoundedRepr, number

CLOSE = 1.0 - 1e-9
ROWS_SHOWN = 12


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


@dataclass(frozen=True, repr=False)
class Plan(Displayable):
    """Rows from one device up, without numbers on which the constraints cannot hold."""

    source_rate: float
    rows: tuple[PlanRow, ...]

    @property
    def fewest_devices(self) -> int | None:
        """The fewest that keep up; None if none of the rows does."""
        return next((row.devices for row in self.rows if row.keeps_up), None)

    def __repr__(self) -> str:
        lines = [f"<Plan: {self.headline}"]
        for row in self.rows[:ROWS_SHOWN]:
            many = "devices sustain" if row.devices > 1 else "device sustains"
            lines.append(f"{row.devices} {many} {number(row.max_source_rate)} tuples/s")
        if len(self.rows) > ROWS_SHOWN:
            lines.append(f"and {len(self.rows) - ROWS_SHOWN} rows more")
        return "\n  ".join(lines) + ">"

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
