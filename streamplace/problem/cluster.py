"""Clusters: devices and the network between them."""

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import groupby
from math import inf

import numpy as np
from numpy.typing import NDArray

from streamplace.display.mixins import Displayable
from streamplace.display.text import number
from streamplace.display.view import Cell, Grid, Names, View
from streamplace.errors import ClusterError, Fault
from streamplace.problem.device import Device
from streamplace.problem.network import (
    LinkOverride,
    Network,
    NetworkKind,
    NetworkLinks,
    Uplink,
    UplinkDirection,
)
from streamplace.problem.resources import amounts_text
from streamplace.util.arrays import Floats, Ints
from streamplace.util.checks import check_int, check_type, index_by_name
from streamplace.util.text import counted, meant_thousands

__all__ = [
    "Cluster",
    "Device",
    "LinkOverride",
    "Network",
    "NetworkKind",
    "Uplink",
    "UplinkDirection",
]

KINDS_SHOWN = 4
MAX_DEVICES = 2048  # pair links are a D x D matrix
OPTIONAL: dict[str, Callable[[Device], str]] = {
    "group": lambda device: device.group or "",
    "resources": lambda device: amounts_text(device.resources),
    "slots": lambda device: "" if device.slots is None else str(device.slots),
    "price": lambda device: "" if device.price is None else number(device.price),
    "kind": lambda device: device.kind or "",
    "startup, s": lambda device: number(device.startup_s) if device.startup_s else "",
    "overhead, s/byte": lambda device: (
        "" if device.overhead_s_per_byte is None else number(device.overhead_s_per_byte)
    ),
}
"""Columns of the table of devices that appear only if some device has a value."""
NAMED = ("group", "kind")
"""Those of them that hold names."""


class Cluster(Displayable):
    """D devices and their network; without `network`, the links are those of ``Network()``.

    Raises
    ------
    ClusterError
        If there are no devices or more than 2048, on a duplicate name, if an override names a link
        that does not exist or has an override already, or on an uplink of a group without devices.
    """

    def __init__(self, devices: Iterable[Device], network: Network | None = None) -> None:
        if isinstance(devices, str):
            raise ClusterError("devices: must be a list, not text; sp.Cluster.parse reads text")
        check_type("devices:", devices, Iterable, ClusterError)
        self.devices = tuple(devices)
        for d, device in enumerate(self.devices):
            check_type(f"devices[{d}]:", device, Device, ClusterError)
        self.network = Network() if network is None else network
        check_type("network:", self.network, Network, ClusterError, 'for example sp.Network("nic")')
        if not self.devices:
            raise ClusterError("devices: a cluster needs at least one device")
        _check_count(len(self.devices))
        names = [device.name for device in self.devices]
        self.index = index_by_name("devices", names, ClusterError)
        self._links = NetworkLinks(self.devices, self.network)

    @classmethod
    def equal(
        cls, count: int = 5, mips: float = 2500.0, network: Network | None = None
    ) -> "Cluster":
        """Return `count` devices d0, d1, … of `mips` MIPS each; default: the paper's cluster.

        Raises
        ------
        ClusterError
            If `count` is not a whole number from 1 to 2048, or `mips` is out of range.
        """
        check_int("devices:", count, ClusterError)
        _check_count(count)
        return cls([Device(f"d{i}", mips) for i in range(count)], network)

    @classmethod
    def parse(cls, text: str) -> "Cluster":
        """Return the cluster described by text such as ``5x2500`` or ``2x5000x4,8x1000``.

        The text is a comma-separated list of ``COUNTxMIPS[xCORES]``. Devices are called d0, d1, ….

        Raises
        ------
        ClusterError
            On other text, or a number that is out of range.
        """
        devices: list[Device] = []
        for part in text.split(","):
            match = re.fullmatch(r"\s*(\d{1,6})x(\d{1,18}(?:\.\d{1,18})?)(?:x(\d{1,9}))?\s*", part)
            if match is None or int(match[1]) == 0:
                wanted = f"must be COUNTxMIPS[xCORES], such as 5x2500 (got {part[:30]!r})"
                raise ClusterError(Fault(wanted, option="devices", remedy=meant_thousands(text)))
            _check_count(int(match[1]), ", written as COUNTxMIPS, such as 5x2500")
            for _ in range(int(match[1])):
                devices.append(Device(f"d{len(devices)}", float(match[2]), int(match[3] or 1)))
        return cls(devices)

    @classmethod
    def of(cls, cluster: "Cluster | str | None") -> "Cluster":
        """Return a cluster: `cluster` itself, the one its text describes, or the default for None.

        Raises
        ------
        ClusterError
            If text does not describe a cluster (see `parse`), or on a value of another type.
        """
        if isinstance(cluster, str):
            return cls.parse(cluster)
        if cluster is None:
            return cls.equal()
        check_type(
            "cluster:",
            cluster,
            cls,
            ClusterError,
            'for example sp.Cluster(devices), or text such as "5x2500"',
        )
        return cluster

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the D devices, in order."""
        return tuple(self.index)

    @cached_property
    def capacity(self) -> Floats:
        """(D,) instructions/s of all cores together."""
        return _read_only([device.mips * 1e6 * device.cores for device in self.devices])

    @cached_property
    def memory_bytes(self) -> Floats:
        """(D,) memory in bytes, inf for devices without a limit."""
        limits = (device.memory_bytes for device in self.devices)
        return _read_only([inf if limit is None else limit for limit in limits])

    @cached_property
    def slots(self) -> Floats:
        """(D,) number of operators that each device may run, inf for devices without a limit."""
        return _read_only(
            [inf if device.slots is None else device.slots for device in self.devices]
        )

    def resource(self, name: str) -> Floats:
        """Return the amount of a resource that each device offers, (D,)."""
        return np.array([device.resources.get(name, 0.0) for device in self.devices])

    @cached_property
    def fastest_first(self) -> NDArray[np.int32]:
        """(D,) device indices in order of decreasing capacity, ties by index."""
        order = np.argsort(-self.capacity, kind="stable").astype(np.int32)
        order.flags.writeable = False
        return order

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups of devices, in order of appearance."""
        return self._links.groups

    @property
    def group_of(self) -> Ints:
        """(D,) int32 number of each device's group; a device without one is a group of its own."""
        return self._links.group_of

    @property
    def own_links(self) -> int:
        """The number of links of pairs of devices or of single devices; uplinks follow them."""
        return self._links.own_links

    @property
    def limited_uplinks(self) -> tuple[tuple[str, UplinkDirection, float], ...]:
        """The group, direction and Mbit/s of every uplink that has a limit.

        All of what leaves groups comes first; groups are in the order of their devices.
        """
        return self._links.limited_uplinks

    def uplinks_of_devices(self, direction: UplinkDirection) -> Ints:
        """Return the link that each device's group shares in a direction, (D,) int32.

        It is -1 for devices without one; the result is empty if no group has a limit.
        """
        return self._links.uplinks_of_devices(direction)

    def link_column(self, name: str) -> Floats:
        """Return ``bandwidth_mbps``, ``latency_s``, ``overhead_s`` or ``gap_s`` of each link, (L,).

        Links are numbered as in `link_ends`, followed by `limited_uplinks`. An unlimited bandwidth
        is inf.
        """
        return self._links.column(name)

    def link_ends(self, link: int) -> tuple[str | None, str | None]:
        """Return the names of the devices at the ends of a link.

        With ``pair``, ``free`` and ``egress``, link a * D + b leads from device a to device b. With
        ``nic`` links, link a is the sending side of device a and link D + b the receiving side of
        device b; the other end is None. The link is below `own_links`.
        """
        return self._links.ends(link)

    def resource_ends(self, link: int) -> tuple[str | None, str | None]:
        """Return the names of the devices at the ends of what messages on a link occupy.

        It is the link, see `link_ends`, but with ``egress`` resource a is the sending side of
        device a, whose other end is None. The number is below `own_links`.
        """
        return self._links.resource_ends(link)

    @cached_property
    def overhead_s_per_byte(self) -> Floats:
        """(D,) seconds that a core spends per byte of a message; a device's own, or the network's.

        See `Network`.
        """
        default = self.network.overhead_s_per_byte
        own = (device.overhead_s_per_byte for device in self.devices)
        return _read_only([default if each is None else each for each in own])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cluster):
            return NotImplemented
        return (self.devices, self.network) == (other.devices, other.network)

    def __hash__(self) -> int:
        return hash((self.devices, self.network))

    def _view(self) -> View:
        kinds = ",".join(self._kinds[:KINDS_SHOWN]) + ("…" if self._kinds[KINDS_SHOWN:] else "")
        mbps = self.network.bandwidth_mbps
        limit = "" if mbps is None else f" of {number(mbps)} Mbps"
        overrides = len(self.network.overrides)
        overridden = f", {overrides} overridden" if overrides else ""
        links = f"{self.network.kind} links{limit}{overridden}"
        groups = f" in {counted(len(self.groups), 'group')}" if self.groups else ""
        shared = self.network.uplinks
        links += f", {counted(len(shared), 'group')} with uplinks" if shared else ""
        head = ("device", "MIPS", "cores", "memory, bytes", "labels", *self._optional)
        names = (0, 4, *(i for i, title in enumerate(head) if title in NAMED))
        return View(
            f"Cluster {kinds}: {counted(len(self.devices), 'device')}{groups}, {links}",
            body=(Grid(head, len(self.devices), self._cells, names=names),),
        )

    def _cells(self, d: int) -> tuple[Cell, ...]:
        device = self.devices[d]
        memory = "no limit" if device.memory_bytes is None else number(device.memory_bytes)
        labels = Names.of(device.labels)
        speed = number(device.mips), str(device.cores)
        optional = (OPTIONAL[title](device) for title in self._optional)
        return (device.name, *speed, memory, labels, *optional)

    @property
    def _optional(self) -> tuple[str, ...]:
        """The titles of those optional columns of the table that are not empty."""
        columns = OPTIONAL.items()
        return tuple(title for title, text in columns if any(map(text, self.devices)))

    @property
    def _kinds(self) -> list[str]:
        """Runs of devices with equal speed and cores, in the notation of `parse`."""
        runs = groupby(self.devices, key=lambda device: (device.mips, device.cores))
        return [
            f"{len(list(run))}x{mips:g}" + (f"x{cores}" if cores > 1 else "")
            for (mips, cores), run in runs
        ]


def _read_only(values: list[float]) -> Floats:
    """Return a read-only column."""
    column = np.array(values, dtype=np.float64)
    column.flags.writeable = False
    return column


def _check_count(devices: int, form: str = "") -> None:
    if devices > MAX_DEVICES:
        fault = f"must be at most {MAX_DEVICES}{form} (got {devices})"
        raise ClusterError(Fault(fault, option="devices"))
