"""Sizes at several source rates."""

from dataclasses import dataclass
from typing import Any

from streamplace.display.mixins import Displayable
from streamplace.display.text import number, rounded_down
from streamplace.display.view import Grid, Line, View
from streamplace.util.text import counted
from streamplace.workflows.sizing.result import SizeResult


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
class SizeTable(Displayable):
    """Sizes at several source rates, in their order; at least one was found."""

    rows: tuple[SizeResult | Unsized, ...]

    @property
    def sized(self) -> tuple[SizeResult, ...]:
        """The rows for which a size was found."""
        return tuple(row for row in self.rows if isinstance(row, SizeResult))

    def to_dict(self) -> dict[str, Any]:
        """Return what `size --at R1,R2 --json` prints."""
        return {"rows": [row.to_dict() for row in self.rows]}

    def _view(self) -> View:
        first = self.sized[0]
        names = tuple(first.parallelism)
        table = Grid(
            ("tuples/s", "machines", "price", "instances", f"least {first.minimise}", *names),
            len(self.sized),
            lambda i: _cells(self.sized[i]),
            names=(0,),
        )
        reasons = (_line(row) for row in self.rows if isinstance(row, Unsized))
        lines = tuple(row.headline for row in self.rows)
        return View(f"Sizes at {counted(len(self.rows), 'source rate')}", lines, (table, *reasons))


def _line(row: Unsized) -> Line:
    """Return the reason as a line, in which braces stand for themselves."""
    return Line(f"no size for {row.headline}".replace("{", "{{").replace("}", "}}"))


def _cells(row: SizeResult) -> tuple[str, ...]:
    return (
        number(row.source_rate),
        str(row.machines),
        "" if row.money is None else number(row.money),
        str(row.instances),
        rounded_down(row.bound),
        *(str(count) for count in row.parallelism.values()),
    )
