"""Loads of devices and links, and the bottleneck among them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from heapq import nlargest

from streamplace.display.mixins import RoundedRepr
from streamplace.display.text import quoted
from streamplace.display.view import Cell, Grid, Line
from streamplace.problem.placement import Placement
from streamplace.scoring.memory import use_columns

LINKS_SHOWN = 8


@dataclass(frozen=True, repr=False)
class Bottleneck(RoundedRepr):
    """The device, link, uplink or operator with the largest utilisation, even if that is below 1.

    Parameters
    ----------
    kind
        ``device``, ``link``, ``uplink`` or ``operator``. An operator is the bottleneck if it fills
        the cores that it can use before its device is full.
    name
        Name of the device or operator, of the link as in `LinkLoad`, or as in `UplinkLoad`.
    utilisation
        At the offered rate, as a share of the full capacity; may exceed 1.
    """

    kind: str
    name: str
    utilisation: float

    @property
    def headline(self) -> str:
        """Kind, name and utilisation as a phrase."""
        return self.line().text.format(quoted(self.name))

    def line(self) -> Line:
        """Return kind, name and utilisation as a line of a view."""
        return Line(f"bottleneck {self.kind} {{}} at {self.utilisation:.1%}", (self.name,))


@dataclass(frozen=True, repr=False)
class DeviceLoad(RoundedRepr):
    """The utilisation of a device at the offered rate, and its number of operators."""

    name: str
    utilisation: float
    operators: int


@dataclass(frozen=True, repr=False)
class LinkLoad(RoundedRepr):
    """The utilisation of a link at the offered rate. With ``nic`` links, one end is None."""

    source: str | None
    target: str | None
    utilisation: float

    @property
    def name(self) -> str:
        """The name: ``a->b``, or with ``nic`` links ``a->`` (a sends) and ``->b`` (b receives)."""
        return f"{self.source or ''}->{self.target or ''}"


@dataclass(frozen=True, repr=False)
class UplinkLoad(RoundedRepr):
    """The utilisation, at the offered rate, of a link that a group of devices shares.

    Parameters
    ----------
    group
        Name of the group.
    direction
        ``up``: for what leaves the group; ``down``: for what enters it.
    utilisation
        As a share of the full bandwidth; may exceed 1.
    """

    group: str
    direction: str
    utilisation: float

    @property
    def name(self) -> str:
        """The name: ``group:a->`` (leaves group a) or ``->group:b`` (enters group b)."""
        return uplink_name(self.group, self.direction)


def uplink_name(group: str, direction: str) -> str:
    """Return the name of the uplink or downlink of a group; see `UplinkLoad`."""
    return f"group:{group}->" if direction == "up" else f"->group:{group}"


def device_grid(devices: Sequence[DeviceLoad], placement: Placement | None) -> Grid:
    """Return a table of devices, with names of operators if a placement is passed, else counts.

    With a placement, it also has the memory and resources used on each device, if there are any.
    """
    columns = {} if placement is None else use_columns(placement)

    def row(d: int) -> tuple[Cell, ...]:
        load = devices[d]
        operators = f"{load.operators:,}" if placement is None else placement.operators_on(d)
        used = (column[d] for column in columns.values())
        return load.name, f"{load.utilisation:.1%}", *used, operators

    head = ("device", "utilisation", *columns, "operators")
    names = (0,) if placement is None else (0, len(head) - 1)
    return Grid(head, len(devices), row, names)


def link_grids(links: Sequence[LinkLoad | UplinkLoad]) -> tuple[Grid, ...]:
    """Return a table of the busiest links, or nothing if no link carries traffic."""
    if not links:
        return ()

    @cache
    def busiest() -> list[LinkLoad | UplinkLoad]:
        return nlargest(LINKS_SHOWN, links, key=lambda load: load.utilisation)

    def row(i: int) -> tuple[Cell, ...]:
        return busiest()[i].name, f"{busiest()[i].utilisation:.1%}"

    return (
        Grid(
            ("link", "utilisation"),
            len(links),
            row,
            max_rows=LINKS_SHOWN,
            left_out="and {} less busy",
        ),
    )
