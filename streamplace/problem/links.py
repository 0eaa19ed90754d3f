"""The links of a cluster as numbered columns, with their overrides and uplinks."""

from collections.abc import Sequence
from functools import cached_property
from math import inf
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import ClusterError
from streamplace.problem.device import Device
from streamplace.problem.network import LinkOverride, Network, UplinkDirection
from streamplace.util.arrays import Floats, Ints
from streamplace.util.suggest import candidates, did_you_mean


class Links:
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
