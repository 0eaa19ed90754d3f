"""Clusters: devices and the network between them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import inf
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamplace.display.mixins import Displayable, StableRepr, TruncatedRepr
from streamplace.display.text import number
from streamplace.display.view import Cell, Grid, Names, View
from streamplace.errors import ClusterError
from streamplace.problem.columns import MAX_CORES
from streamplace.problem.resources import NO_RESOURCES, Resources, amounts_text
from streamplace.util.added import added_field
from streamplace.util.arrays import Floats, Ints
from streamplace.util.checks import check_number, check_str, check_type
from streamplace.util.suggest import did_you_mean
from streamplace.util.text import counted

MIN_SPEED, MAX_VALUE = 1e-9, 1e15  # for MIPS and Mbit/s; beyond them arithmetic overflows
MAX_MEMORY_BYTES = 1e30
KINDS_SHOWN = 4
MAX_DEVICES = 2048  # pair links are a D x D matrix
NetworkKind = Literal["pair", "nic"]
UplinkDirection = Literal["up", "down"]


@dataclass(frozen=True, repr=False)
class Device(TruncatedRepr):
    """A machine that runs operators.

    Parameters
    ----------
    mips
        Speed of one core, in million instructions per second.
    cores
        Number of cores. An operator uses as many of them as its own `cores`, 1 by default.
    memory_bytes
        Memory in bytes; None means no limit.
    labels
        Labels that operators may require (`Operator.requires`).
    group
        The group of devices that it belongs to, such as its rack; None: it is in no group.
    resources
        Resource -> the amount that it offers, such as ``{"gpu": 1}``; without a name, it offers 0.
    price
        Cost per unit of time, such as per hour, in the same unit for all devices; only `plan` uses
        it. None: it has no price, which differs from a price of 0.

    Raises
    ------
    ClusterError
        On an empty name or group, or a number that is out of range.
    """

    name: str
    mips: float
    cores: int = 1
    memory_bytes: float | None = None
    labels: tuple[str, ...] = ()
    group: str | None = added_field(None)
    resources: Mapping[str, float] = added_field(NO_RESOURCES)
    price: float | None = added_field(None)

    def __post_init__(self) -> None:
        check_str("device: name", self.name, ClusterError)
        if not self.name:
            raise ClusterError("a device's name is empty")
        _check(f"device {self.name!r}: mips", self.mips, minimum=MIN_SPEED)
        if isinstance(self.labels, str):
            raise ClusterError(f"device {self.name!r}: labels must be a list, not text")
        object.__setattr__(self, "labels", tuple(self.labels))
        resources = Resources(self.resources, f"device {self.name!r}: resources", ClusterError)
        object.__setattr__(self, "resources", resources)
        if self.group is not None:
            check_str(f"device {self.name!r}: group", self.group, ClusterError)
            if not self.group:
                raise ClusterError(f"device {self.name!r}: the group's name is empty")
        if not (isinstance(self.cores, int) and 1 <= self.cores <= MAX_CORES):
            wanted = f"cores must be a whole number from 1 to {MAX_CORES} (got {self.cores!r:.40})"
            raise ClusterError(f"device {self.name!r}: {wanted}")
        if self.memory_bytes is not None:
            _check(
                f"device {self.name!r}: memory_bytes", self.memory_bytes, maximum=MAX_MEMORY_BYTES
            )
        if self.price is not None:
            _check(f"device {self.name!r}: price", self.price)


@dataclass(frozen=True, repr=False)
class LinkOverride(StableRepr):
    """Links with values that differ from the network's.

    None keeps the value of a less specific override, or else the network's. An override that names
    devices is more specific than one that names groups; of two that each name one device, the later
    one counts.

    Parameters
    ----------
    source, target
        Names of the devices at both ends. With ``nic`` links, one of them is None: without a
        `target`, the link is the interface on which `source` sends; without a `source`, it is the
        interface on which `target` receives.
    bandwidth_mbps, latency_s, overhead_s, gap_s
        See `Network`.
    source_group, target_group
        Names of groups instead of devices: the override is for the links of all their devices.
    """

    source: str | None = None
    target: str | None = None
    bandwidth_mbps: float | None = None
    latency_s: float | None = None
    overhead_s: float | None = None
    gap_s: float | None = None
    source_group: str | None = added_field(None)
    target_group: str | None = added_field(None)

    @property
    def ends(self) -> tuple[str | None, str | None, str | None, str | None]:
        """The devices and groups that it names."""
        return self.source, self.target, self.source_group, self.target_group

    @property
    def devices_named(self) -> int:
        """The number of devices that it names; more are more specific."""
        return (self.source is not None) + (self.target is not None)


@dataclass(frozen=True, repr=False)
class Uplink(StableRepr):
    """The links between a group of devices and all other devices, shared by the whole group.

    Parameters
    ----------
    group
        Name of the group.
    up_mbps, down_mbps
        Bandwidth in Mbit/s of what leaves the group, and of what enters it; None means no limit.
    """

    group: str
    up_mbps: float | None = None
    down_mbps: float | None = None


@dataclass(frozen=True, repr=False)
class Network(StableRepr):
    """LogP links between devices (Culler et al. 1993); tuples within a device cost nothing.

    Parameters
    ----------
    kind
        ``pair``: one link per ordered device pair. ``nic``: two resources per device, one for
        sending and one for receiving.
    bandwidth_mbps
        Bandwidth of a link in Mbit/s; None means no limit.
    latency_s, overhead_s, gap_s
        LogP's parameters in seconds: L is the latency of a message, o the time that one core
        spends on a message at either end, and g the time that a message occupies a link.
    overrides
        Links whose values differ from these.
    uplinks
        Links that groups of devices share. A stream between devices of different groups passes the
        sender's link, the uplink of the sender's group, the downlink of the receiver's group and,
        with ``nic``, the receiver's link. They have no gap, overhead or latency.

    Raises
    ------
    ClusterError
        On an unknown kind, a number that is out of range, or two uplinks of one group.
    """

    kind: NetworkKind = "pair"
    bandwidth_mbps: float | None = 1000.0
    latency_s: float = 0.001
    overhead_s: float = 0.0
    gap_s: float = 0.0
    overrides: tuple[LinkOverride, ...] = ()
    uplinks: tuple[Uplink, ...] = added_field(())

    def __post_init__(self) -> None:
        if self.kind not in get_args(NetworkKind):
            raise ClusterError(f"network: kind must be pair or nic (got {self.kind!r})")
        object.__setattr__(self, "overrides", tuple(self.overrides))
        places = ["network", *(f"network.overrides[{i}]" for i in range(len(self.overrides)))]
        parts: tuple[Network | LinkOverride, ...] = (self, *self.overrides)
        for place, part in zip(places, parts, strict=True):
            if part.bandwidth_mbps is not None:
                _check(f"{place}: bandwidth_mbps", part.bandwidth_mbps, minimum=MIN_SPEED)
            for name in ("latency_s", "overhead_s", "gap_s"):
                if (value := getattr(part, name)) is not None:
                    _check(f"{place}: {name}", value)
        object.__setattr__(self, "uplinks", tuple(self.uplinks))
        for i, uplink in enumerate(self.uplinks):
            check_type(f"network.uplinks[{i}]:", uplink, Uplink, ClusterError)
            if any(uplink.group == other.group for other in self.uplinks[:i]):
                raise ClusterError(f"network.uplinks: duplicate group {uplink.group!r}")
            for name in ("up_mbps", "down_mbps"):
                if (value := getattr(uplink, name)) is not None:
                    _check(f"network.uplinks[{uplink.group!r}]: {name}", value, minimum=MIN_SPEED)


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
        self.index = {device.name: d for d, device in enumerate(self.devices)}
        if len(self.index) < len(self.devices):
            names = [device.name for device in self.devices]
            duplicate = next(name for name in names if names.count(name) > 1)
            raise ClusterError(f"devices: duplicate name {duplicate!r}")
        for i, override in enumerate(self.network.overrides):
            self._check_ends(i, override)
        for uplink in self.network.uplinks:
            self._check_group(f"network.uplinks[{uplink.group!r}]", uplink.group)

    @classmethod
    def equal(
        cls, count: int = 5, mips: float = 2500.0, network: Network | None = None
    ) -> "Cluster":
        """Return `count` devices d0, d1, … of `mips` MIPS each; default: the paper's cluster."""
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
                raise ClusterError(f"devices: {wanted}")
            _check_count(int(match[1]))
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

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the D devices, in order."""
        return tuple(self.index)

    @cached_property
    def capacity(self) -> Floats:
        """(D,) instructions/s of all cores together."""
        return _fixed([device.mips * 1e6 * device.cores for device in self.devices])

    @cached_property
    def memory_bytes(self) -> Floats:
        """(D,) memory in bytes, inf for devices without a limit."""
        limits = (device.memory_bytes for device in self.devices)
        return _fixed([inf if limit is None else limit for limit in limits])

    def resource(self, name: str) -> Floats:
        """Return the amount of a resource that each device offers, (D,)."""
        return np.array([device.resources.get(name, 0.0) for device in self.devices])

    @cached_property
    def fastest_first(self) -> NDArray[np.int32]:
        """(D,) device indices in order of decreasing capacity, ties by index."""
        order = np.argsort(-self.capacity, kind="stable").astype(np.int32)
        order.flags.writeable = False
        return order

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups of devices, in order of appearance."""
        return tuple(dict.fromkeys(d.group for d in self.devices if d.group is not None))

    @cached_property
    def group_of(self) -> Ints:
        """(D,) int32 number of each device's group; a device without one is a group of its own."""
        numbers: dict[object, int] = {}
        keys = ((d if one.group is None else one.group) for d, one in enumerate(self.devices))
        return _fixed_ints([numbers.setdefault(key, len(numbers)) for key in keys])

    @property
    def own_links(self) -> int:
        """The number of links of pairs of devices or of single devices; uplinks follow them."""
        return len(self.devices) ** 2 if self.network.kind == "pair" else 2 * len(self.devices)

    @cached_property
    def limited_uplinks(self) -> tuple[tuple[str, UplinkDirection, float], ...]:
        """The group, direction and Mbit/s of every uplink that has a limit.

        All of what leaves groups comes first; groups are in the order of their devices.
        """
        directions: tuple[UplinkDirection, ...] = get_args(UplinkDirection)
        uplinks = sorted(self.network.uplinks, key=lambda uplink: self.groups.index(uplink.group))
        return tuple(
            (uplink.group, direction, mbps)
            for direction in directions
            for uplink in uplinks
            if (mbps := getattr(uplink, f"{direction}_mbps")) is not None
        )

    def uplinks_of_devices(self, direction: UplinkDirection) -> Ints:
        """Return the link that each device's group shares in a direction, (D,) int32.

        It is -1 for devices without one; the result is empty if no group has a limit.
        """
        link = {
            group: self.own_links + i
            for i, (group, way, _) in enumerate(self.limited_uplinks)
            if way == direction
        }
        if not self.limited_uplinks:
            return _fixed_ints([])
        return _fixed_ints([link.get(device.group or "", -1) for device in self.devices])

    def link_column(self, name: str) -> Floats:
        """Return ``bandwidth_mbps``, ``latency_s``, ``overhead_s`` or ``gap_s`` of each link, (L,).

        Links are numbered as in `link_ends`, followed by `limited_uplinks`. An unlimited bandwidth
        is inf.
        """
        column = np.full(self.own_links, _or_inf(getattr(self.network, name)), dtype=np.float64)
        for override in sorted(self.network.overrides, key=lambda o: o.devices_named):
            if getattr(override, name) is not None:
                column[self._links(override)] = getattr(override, name)
        is_bandwidth = name == "bandwidth_mbps"
        shared = [mbps if is_bandwidth else 0.0 for _, _, mbps in self.limited_uplinks]
        return np.concatenate([column, shared]) if shared else column

    def link_ends(self, link: int) -> tuple[str | None, str | None]:
        """Return the names of the devices at the ends of a link.

        With ``pair`` links, link a * D + b leads from device a to device b. With ``nic`` links,
        link a is the sending side of device a and link D + b the receiving side of device b; the
        other end is None. The link is below `own_links`.
        """
        count = len(self.devices)
        if self.network.kind == "pair":
            return self.names[link // count], self.names[link % count]
        return (self.names[link], None) if link < count else (None, self.names[link - count])

    def _links(self, override: LinkOverride) -> NDArray[np.int64]:
        """Return the links that an override is for, perhaps with those of devices to themselves."""
        count = len(self.devices)
        sources = self._named(override.source, override.source_group)
        targets = self._named(override.target, override.target_group)
        if self.network.kind == "nic":
            return np.concatenate([sources, count + targets])
        return (sources[:, None] * count + targets).ravel()

    def _named(self, device: str | None, group: str | None) -> NDArray[np.int64]:
        """Return the indices of a device, or of the devices of a group; none for None."""
        if device is not None:
            return np.array([self.index[device]])
        among = [d for d, one in enumerate(self.devices) if group and one.group == group]
        return np.array(among, dtype=np.int64)

    def _check_ends(self, i: int, override: LinkOverride) -> None:
        place = f"network.overrides[{i}]"
        for way, end, group in (
            ("from", override.source, override.source_group),
            ("to", override.target, override.target_group),
        ):
            if end is not None and group is not None:
                raise ClusterError(f"{place}: {way} and {way}_group exclude each other")
            if end is not None and end not in self.index:
                raise ClusterError(
                    f"{place}: unknown device {end!r}{did_you_mean(end, self.index)}"
                )
            if group is not None:
                self._check_group(f"{place}: {way}_group", group)
        if sum(end is not None for end in override.ends) != (
            1 if self.network.kind == "nic" else 2
        ):
            wanted = "both from and to" if self.network.kind == "pair" else "either from or to"
            wanted += ", or groups instead" if self.groups else ""
            raise ClusterError(f"{place}: {self.network.kind} links need {wanted}")
        if override.ends in (other.ends for other in self.network.overrides[:i]):
            raise ClusterError(f"{place}: the link has an override already")
        if override.source is not None and override.source == override.target:
            raise ClusterError(f"{place}: a device has no link to itself")

    def _check_group(self, place: str, group: str) -> None:
        if group not in self.groups:
            known = did_you_mean(group, self.groups) if self.groups else "; no device has a group"
            raise ClusterError(f"{place}: unknown group {group!r}{known}")

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
        head: tuple[str, ...] = ("device", "MIPS", "cores", "memory, bytes", "labels")
        groups = f" in {counted(len(self.groups), 'group')}" if self.groups else ""
        shared = self.network.uplinks
        links += f", {counted(len(shared), 'group')} with uplinks" if shared else ""
        names = (0, 4, 5) if self.groups else (0, 4)
        head += ("group",) if self.groups else ()
        head += ("resources",) if self._offers else ()
        head += ("price",) if self._priced else ()
        return View(
            f"Cluster {kinds}: {counted(len(self.devices), 'device')}{groups}, {links}",
            body=(Grid(head, len(self.devices), self._cells, names=names),),
        )

    def _cells(self, d: int) -> tuple[Cell, ...]:
        device = self.devices[d]
        memory = "no limit" if device.memory_bytes is None else number(device.memory_bytes)
        labels = Names.of(device.labels)
        group = (device.group or "",) if self.groups else ()
        offers = (amounts_text(device.resources),) if self._offers else ()
        price = ("" if device.price is None else number(device.price),) if self._priced else ()
        speed = number(device.mips), str(device.cores)
        return (device.name, *speed, memory, labels, *group, *offers, *price)

    @property
    def _offers(self) -> bool:
        """Whether some device offers resources."""
        return any(device.resources for device in self.devices)

    @property
    def _priced(self) -> bool:
        return any(device.price is not None for device in self.devices)

    @property
    def _kinds(self) -> list[str]:
        """Runs of devices with equal speed and cores, in the notation of `parse`."""
        runs = groupby(self.devices, key=lambda device: (device.mips, device.cores))
        return [
            f"{len(list(run))}x{mips:g}" + (f"x{cores}" if cores > 1 else "")
            for (mips, cores), run in runs
        ]


def _fixed(values: list[float]) -> Floats:
    """Return a read-only column."""
    column = np.array(values, dtype=np.float64)
    column.flags.writeable = False
    return column


def _fixed_ints(values: list[int]) -> Ints:
    """Return a read-only column."""
    column = np.array(values, dtype=np.int32)
    column.flags.writeable = False
    return column


def _or_inf(value: float | None) -> float:
    return inf if value is None else value


def _check_count(devices: int) -> None:
    if devices > MAX_DEVICES:
        raise ClusterError(f"devices: must be at most {MAX_DEVICES} (got {devices})")


def _check(what: str, value: float, minimum: float = 0.0, maximum: float = MAX_VALUE) -> None:
    check_number(what, value, ClusterError)
    if not minimum <= value <= maximum:
        raise ClusterError(f"{what} must be {minimum:g} to {maximum:g} (got {value:g})")
