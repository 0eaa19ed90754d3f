"""Loads of devices and links, the bottleneck among them, and the memory and resources in use."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from heapq import nlargest
from math import ceil, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamplace.display.mixins import RoundedRepr, Tabular
from streamplace.display.text import SMALLEST_SHARE, byte_count, percent, quoted
from streamplace.display.view import Cell, Grid, Line
from streamplace.problem.limits import used_counts
from streamplace.problem.placement import Placement
from streamplace.problem.resources import amount_text
from streamplace.util.arrays import Floats

DECIMALS = 9  # of amounts of resources, finer than the millionths in which they are counted
LINKS_SHOWN = 8


@dataclass(frozen=True)
class MemoryUse:
    """The memory of a device in bytes; `free_bytes` is None for a device without a limit."""

    device: str
    used_bytes: float
    free_bytes: float | None

    def text(self) -> str:
        """Return the use in words, such as ``2 GB of 4 GB``."""
        used = byte_count(self.used_bytes)
        if self.free_bytes is None:
            return used
        return f"{used} of {byte_count(self.used_bytes + self.free_bytes)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``memory`` in `place --json`."""
        return vars(self).copy()


@dataclass(frozen=True)
class ResourceUse:
    """The amounts of a resource that operators take on a device, and that are left there.

    `whole` is the smallest whole amount that suffices, where fractions count in millionths.
    """

    device: str
    resource: str
    used: float
    free: float
    whole: int

    def text(self) -> str:
        """Return the use in words, such as ``1 of 2 gpu``."""
        used, offered = (amount_text(self.resource, x) for x in (self.used, self.used + self.free))
        return f"{used} of {offered} {self.resource}"

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``resources`` in `place --json`."""
        return {name: value for name, value in vars(self).items() if name != "whole"}


def memory_use(placement: Placement) -> tuple[MemoryUse, ...]:
    """Return the memory of each device; nothing if no operator of the graph has memory."""
    graph, cluster = placement.problem.graph, placement.problem.cluster
    if not graph.memory_bytes.any():
        return ()
    used = np.bincount(placement.devices, graph.memory_bytes, len(cluster.devices))
    return tuple(
        MemoryUse(
            device.name,
            float(bytes_),
            None if device.memory_bytes is None else float(device.memory_bytes - bytes_),
        )
        for device, bytes_ in zip(cluster.devices, used, strict=True)
    )


def resource_use(placement: Placement) -> tuple[ResourceUse, ...]:
    """Return the resources that devices offer or their operators take, by device and name."""
    graph, cluster = placement.problem.graph, placement.problem.cluster
    resources = {name for device in cluster.devices for name in device.resources}
    found = []
    for name in sorted(resources.union(graph.resource_names)):
        taken, offered = graph.resource(name), cluster.resource(name)
        counts, room, steps = used_counts(taken, placement.devices, offered)
        used = np.bincount(placement.devices, taken, len(offered)).astype(np.float64)
        beyond = (counts <= room) & (used > offered)  # by parts of a millionth
        used[beyond] = offered[beyond]
        for d, free in enumerate((offered - used).tolist()):
            amounts = round(float(used[d]), DECIMALS), round(free, DECIMALS)
            if any(amounts):
                whole = ceil(counts[d] / steps)
                found.append((d, ResourceUse(cluster.names[d], name, *amounts, whole)))
    return tuple(use for _, use in sorted(found, key=lambda row: row[0]))


def use_entries(placement: Placement) -> dict[str, Any]:
    """Return the entries ``memory`` and ``resources`` of JSON documents, without empty ones."""
    entries = {
        "memory": [use.to_dict() for use in memory_use(placement)],
        "resources": [use.to_dict() for use in resource_use(placement)],
    }
    return {key: rows for key, rows in entries.items() if rows}


def use_columns(placement: Placement) -> dict[str, list[str]]:
    """Return heading -> cell of each device: memory and resources that operators need, if any."""
    columns: dict[str, list[str]] = {}
    if memory := memory_use(placement):
        columns["memory"] = [use.text() for use in memory]
    needed = placement.problem.graph.resource_names
    if resources := [use for use in resource_use(placement) if use.resource in needed]:
        texts: dict[str, list[str]] = {name: [] for name in placement.problem.cluster.names}
        for use in resources:
            texts[use.device].append(use.text())
        columns["resources"] = [", ".join(several) for several in texts.values()]
    return columns


def use_grids(placement: Placement) -> Iterator[Grid]:
    """Yield a table of the memory and resources of each device, where there are any.

    Devices that run operators are first, the fullest of them before the others.
    """
    names, columns = placement.problem.cluster.names, use_columns(placement)
    if columns:
        order = _fullest_first(placement)
        yield Grid(
            ("device", *columns),
            len(names),
            lambda i: (names[order[i]], *(column[order[i]] for column in columns.values())),
        )


def _fullest_first(placement: Placement) -> list[int]:
    """Return the devices in use by the share of what is scarcest there, then the others."""
    index = placement.problem.cluster.index
    share = dict.fromkeys(range(len(index)), 0.0)
    uses = [(use.device, use.used, use.free) for use in resource_use(placement)]
    uses += [
        (row.device, row.used_bytes, row.free_bytes)
        for row in memory_use(placement)
        if row.free_bytes is not None
    ]
    for name, used, free in uses:
        if used:
            offered = used + free
            share[index[name]] = max(share[index[name]], used / offered if offered else inf)
    runs = {*placement.devices.tolist()}
    return sorted(share, key=lambda d: (d not in runs, -share[d]))


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

    def label(self, usable: float = 1.0) -> str:
        """Return the kind with its adjective: it is the bottleneck if it is full, or else busiest.

        Parameters
        ----------
        usable
            The utilisation at which it is full.
        """
        is_full = self.utilisation > usable - SMALLEST_SHARE  # shown as full
        return f"{'bottleneck' if is_full else 'busiest'} {self.kind}"

    def headline(self, usable: float = 1.0) -> str:
        """Return kind, name and utilisation as a phrase; see `label`."""
        return self.line(usable).text.format(quoted(self.name))

    def line(self, usable: float = 1.0) -> Line:
        """Return kind, name and utilisation as a line of a view; see `label`."""
        return Line(f"{self.label(usable)} {{}} at {percent(self.utilisation)}", (self.name,))


@dataclass(frozen=True, repr=False)
class DeviceLoad(RoundedRepr):
    """The utilisation of a device at the offered rate, and its number of operators."""

    name: str
    utilisation: float
    operators: int


def device_loads(
    names: Sequence[str], utilisation: Floats, operators: NDArray[np.integer]
) -> tuple[DeviceLoad, ...]:
    """Return the load of each device from its name, its utilisation and its operators, (D,)."""
    columns = zip(names, utilisation.tolist(), operators.tolist(), strict=True)
    return tuple(DeviceLoad(*column) for column in columns)


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
        return load.name, percent(load.utilisation), *used, operators

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
        return busiest()[i].name, percent(busiest()[i].utilisation)

    return (
        Grid(
            ("link", "utilisation"),
            len(links),
            row,
            max_rows=LINKS_SHOWN,
            left_out="and {} less busy",
        ),
    )


class DeviceTable(Tabular):
    """A mixin for scores with the loads of devices."""

    devices: tuple[DeviceLoad, ...]

    def to_records(self) -> list[dict[str, Any]]:
        """Return name, utilisation (a share) and number of operators of each device."""
        return [asdict(device) for device in self.devices]
