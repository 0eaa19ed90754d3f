"""Loads of devices and links, and the bottleneck among them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from heapq import nlargest

from streamplace.display.mixins import RoundedRepr
from streamplace.display.text import quoted
from streamplace.display.view import Cell, Grid, Line
from streamplace.problem.placement import Placement

LINKS_SHOWN = 8


@dataclass(frozen=True, repr=False)
class Bottleneck(RoundedRepr):
    """The device or link of the largest utilisation, even below 1."""

    kind: str
    name: str
    utilisation: float

    @property
    def headline(self) -> str:
        """Which it is and how busy, in words."""
        return self.line().text.format(quoted(self.name))

    def line(self) -> Line:
        """Return which it is and how busy, as a line of a view."""
        return Line(f"bottleneck {self.kind} {{}} at {self.utilisation:.1%}", (self.name,))


@dataclass(frozen=True, repr=False)
class DeviceLoad(RoundedRepr):
    """Utilisation of a device at the offered rate, and how many operators it runs."""

    name: str
    utilisation: float
    operators: int


@dataclass(frozen=True, repr=False)
class LinkLoad(RoundedRepr):
    """Utilisation of a link at the offered rate. Under ``nic`` one end is None."""

    source: str | None
    target: str | None
    utilisation: float

    @property
    def name(self) -> str:
        """``a->b``; under ``nic`` ``a->`` for what a sends, ``->b`` for what b receives."""
        return f"{self.source or ''}->{self.target or ''}"


def device_grid(devices: Sequence[DeviceLoad], placement: Placement | None) -> Grid:
    """Return a table of devices with the number of their operators; their names if placed."""

    def row(d: int) -> tuple[Cell, ...]:
        load = devices[d]
        operators = f"{load.operators:,}" if placement is None else placement.operators_on(d)
        return load.name, f"{load.utilisation:.1%}", operators

    names = (0,) if placement is None else (0, 2)
    return Grid(("device", "utilisation", "operators"), len(devices), row, names)


def link_grids(links: Sequence[LinkLoad]) -> tuple[Grid, ...]:
    """Return a table of the busiest links; none where no link carries traffic."""
    if not links:
        return ()

    @cache
    def busiest() -> list[LinkLoad]:
        return nlargest(LINKS_SHOWN, links, key=lambda load: load.utilisation)

    def row(i: int) -> tuple[Cell, ...]:
        return busiest()[i].name, f"{busiest()[i].utilisation:.1%}"

    return (
        Grid(
            ("link", "utilisation"),
            len(links),
            row,
            most=LINKS_SHOWN,
            left_out="and {} links less busy",
        ),
    )
