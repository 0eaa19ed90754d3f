"""Networks: the links between devices, and those that groups of devices share."""

from dataclasses import dataclass
from typing import Literal, get_args

from streamplace.display.mixins import StableRepr
from streamplace.errors import ClusterError
from streamplace.problem.ranges import MIN_SPEED, check_range
from streamplace.util.added import added_field
from streamplace.util.checks import check_type, set_plain_numbers

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
            if part.bandwidth_mbps is not None:
                check_range(f"{place}: bandwidth_mbps", part.bandwidth_mbps, minimum=MIN_SPEED)
            for name in ("latency_s", "overhead_s", "gap_s"):
                if (value := getattr(part, name)) is not None:
                    check_range(f"{place}: {name}", value)
        check_range("network: overhead_s_per_byte", self.overhead_s_per_byte)
        object.__setattr__(self, "uplinks", tuple(self.uplinks))
        for i, uplink in enumerate(self.uplinks):
            check_type(f"network.uplinks[{i}]:", uplink, Uplink, ClusterError)
            if any(uplink.group == other.group for other in self.uplinks[:i]):
                raise ClusterError(f"network.uplinks: duplicate group {uplink.group!r}")
            for name in UPLINK_NUMBERS:
                if (value := getattr(uplink, name)) is not None:
                    check_range(
                        f"network.uplinks[{uplink.group!r}]: {name}", value, minimum=MIN_SPEED
                    )

    @property
    def by_pair(self) -> bool:
        """Whether its numbers belong to ordered pairs of devices, not to sides of devices."""
        return self.kind != "nic"
