"""Networks: the links between devices, and those that groups of devices share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamplace.display.mixins import StableRepr
from streamplace.errors import ClusterError
from streamplace.problem.device import MIN_SPEED, Device
from streamplace.util.added import added_field
from streamplace.util.arrays import Floats, Ints
from streamplace.util.checks import check_range, check_type, set_plain_numbers
from streamplace.util.suggest import candidates, did_you_mean

NetworkKind = Literal["pair", "nic", "free", "egress"]
UplinkDirection = Literal["up", "down"]
LINK_NUMBERS = ("bandwidth_mbps", "latency_s", "overhead_s", "gap_s")
UPLINK_NUMBERS = ("up_mbps", "down_mbps")


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
        See `Network`; a bandwidth of inf means no limit.
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

    def __post_init__(self) -> None:
        set_plain_numbers(self, LINK_NUMBERS)  # `Network` checks them

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

    def __post_init__(self) -> None:
        set_plain_numbers(self, UPLINK_NUMBERS)  # `Network` checks them


@dataclass(frozen=True, repr=False)
class Network(StableRepr):
    """LogP links between devices (Culler et al. 1993); tuples within a device cost nothing.

    Parameters
    ----------
    kind
        ``pair``: one link per ordered device pair. ``nic``: two resources per device, one for
        sending and one for receiving. ``egress``: one resource per device, for sending. ``free``:
        messages never wait for each other. ``free`` and ``egress`` have the numbers of ``pair``,
        one set per ordered device pair.
    bandwidth_mbps
        Bandwidth of a link in Mbit/s; None means no limit.
    latency_s, overhead_s, gap_s
        LogP's parameters in seconds: L is the latency of a message, o the time that one core
        spends on a message at either end, and g the time that a message occupies a link.
    overrides
        Links whose values differ from these.
    overhead_s_per_byte
        Seconds that one core spends per byte of a message at either end, in addition to o: O of
        LogGOPS (Hoefler et al. 2010). `Device.overhead_s_per_byte` replaces it.
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
    overhead_s_per_byte: float = added_field(0.0)

    def __post_init__(self) -> None:
        if self.kind not in get_args(NetworkKind):
            known = "pair, nic, free or egress"
            raise ClusterError(f"network: kind must be {known} (got {self.kind!r:.40})")
        set_plain_numbers(self, (*LINK_NUMBERS, "overhead_s_per_byte"))
        object.__setattr__(self, "overrides", tuple(self.overrides))
        places = ["network", *(f"network.overrides[{i}]" for i in range(len(self.overrides)))]
        parts: tuple[Network | LinkOverride, ...] = (self, *self.overrides)
        for place, part in zip(places, parts, strict=True):
            unlimited = part is not self and part.bandwidth_mbps == inf
            if part.bandwidth_mbps is not None and not unlimited:
                check_range(
                    f"{place}: bandwidth_mbps", part.bandwidth_mbps, ClusterError, minimum=MIN_SPEED
                )
            for name in ("latency_s", "overhead_s", "gap_s"):
                if (value := getattr(part, name)) is not None:
                    check_range(f"{place}: {name}", value, ClusterError)
        check_range("network: overhead_s_per_byte", self.overhead_s_per_byte, ClusterError)
        object.__setattr__(self, "uplinks", tuple(self.uplinks))
        for i, uplink in enumerate(self.uplinks):
            check_type(f"network.uplinks[{i}]:", uplink, Uplink, ClusterError)
            if any(uplink.group == other.group for other in self.uplinks[:i]):
                raise ClusterError(f"network.uplinks: duplicate group {uplink.group!r}")
            for name in UPLINK_NUMBERS:
                if (value := getattr(uplink, name)) is not None:
                    check_range(
                        f"network.uplinks[{uplink.group!r}]: {name}",
                        value,
                        ClusterError,
                        minimum=MIN_SPEED,
                    )

    @property
    def by_pair(self) -> bool:
        """Whether its numbers belong to ordered pairs of devices, not to sides of devices."""
        return self.kind != "nic"

    @property
    def depends_on_groups(self) -> bool:
        """Whether links between groups differ from those within a group."""
        by_group = any(each.source_group or each.target_group for each in self.overrides)
        return by_group or bool(self.uplinks)


class NetworkLinks:
    """The links between devices, as the class `Cluster` numbers them.

    Parameters
    ----------
    devices
        The D devices, whose names differ.
    network
        Their network.

    Raises
    ------
    ClusterError
        If an override names a link that does not exist or has an override already, or on an uplink
        of a group without devices.
    """

    def __init__(self, devices: Sequence[Device], network: Network) -> None:
        self.devices, self.network = devices, network
        self.index = {device.name: d for d, device in enumerate(devices)}
        known = set[tuple[str | None, ...]]()
        for i, override in enumerate(network.overrides):
            self._check_ends(i, override)
            if override.ends in known:
                raise ClusterError(f"network.overrides[{i}]: the link has an override already")
            known.add(override.ends)
        for uplink in network.uplinks:
            self._check_group(f"network.uplinks[{uplink.group!r}]", uplink.group)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups of devices, in order of appearance."""
        return tuple(dict.fromkeys(d.group for d in self.devices if d.group is not None))

    @cached_property
    def group_of(self) -> Ints:
        """(D,) int32 number of each device's group; a device without one is a group of its own."""
        numbers: dict[object, int] = {}
        keys = ((d if one.group is None else one.group) for d, one in enumerate(self.devices))
        return read_only_ints([numbers.setdefault(key, len(numbers)) for key in keys])

    @property
    def own_links(self) -> int:
        """The number of links of pairs of devices or of single devices; uplinks follow them."""
        return len(self.devices) ** 2 if self.network.by_pair else 2 * len(self.devices)

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
            return read_only_ints([])
        return read_only_ints([link.get(device.group or "", -1) for device in self.devices])

    def column(self, name: str) -> Floats:
        """Return ``bandwidth_mbps``, ``latency_s``, ``overhead_s`` or ``gap_s`` of each link, (L,).

        Links are numbered as in `ends`, followed by `limited_uplinks`. An unlimited bandwidth
        is inf.
        """
        if name not in self._columns:
            self._columns[name] = self._column(name)
        return self._columns[name].copy()

    @cached_property
    def _columns(self) -> dict[str, Floats]:
        return {}

    def _column(self, name: str) -> Floats:
        column = np.full(self.own_links, _or_inf(getattr(self.network, name)), dtype=np.float64)
        for override in sorted(self.network.overrides, key=lambda o: o.devices_named):
            if getattr(override, name) is not None:
                column[self._links(override)] = getattr(override, name)
        is_bandwidth = name == "bandwidth_mbps"
        shared = [mbps if is_bandwidth else 0.0 for _, _, mbps in self.limited_uplinks]
        return np.concatenate([column, shared]) if shared else column

    def ends(self, link: int) -> tuple[str | None, str | None]:
        """Return the names of the devices at the ends of a link.

        With ``pair``, ``free`` and ``egress``, link a * D + b leads from device a to device b. With
        ``nic`` links, link a is the sending side of device a and link D + b the receiving side of
        device b; the other end is None. The link is below `own_links`.
        """
        count = len(self.devices)
        names = tuple(self.index)
        if self.network.by_pair:
            return names[link // count], names[link % count]
        return (names[link], None) if link < count else (None, names[link - count])

    def resource_ends(self, link: int) -> tuple[str | None, str | None]:
        """Return the names of the devices at the ends of what messages on a link occupy.

        It is the link, but with ``egress`` resource a is the sending side of device a, whose other
        end is None.
        """
        return (tuple(self.index)[link], None) if self.network.kind == "egress" else self.ends(link)

    def _links(self, override: LinkOverride) -> NDArray[np.int64]:
        """Return the links that an override is for, perhaps with those of devices to themselves."""
        count = len(self.devices)
        sources = self._named(override.source, override.source_group)
        targets = self._named(override.target, override.target_group)
        if self.network.by_pair:
            return (sources[:, None] * count + targets).ravel()
        return np.concatenate([sources, count + targets])

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
                    f"{place}: unknown device {end!r}{candidates(end, tuple(self.index))}"
                )
            if group is not None:
                self._check_group(f"{place}: {way}_group", group)
        by_pair = self.network.by_pair
        if sum(end is not None for end in override.ends) != (2 if by_pair else 1):
            wanted = "both from and to" if by_pair else "either from or to"
            wanted += ", or groups instead" if self.groups else ""
            raise ClusterError(f"{place}: {self.network.kind} links need {wanted}")
        if override.source is not None and override.source == override.target:
            raise ClusterError(f"{place}: a device has no link to itself")

    def _check_group(self, place: str, group: str) -> None:
        if group not in self.groups:
            known = did_you_mean(group, self.groups) if self.groups else "; no device has a group"
            raise ClusterError(f"{place}: unknown group {group!r}{known}")


def read_only_ints(values: list[int]) -> Ints:
    """Return a read-only column."""
    column = np.array(values, dtype=np.int32)
    column.flags.writeable = False
    return column


def _or_inf(value: float | None) -> float:
    return inf if value is None else value
