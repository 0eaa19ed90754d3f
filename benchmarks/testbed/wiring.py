"""Network namespaces of the devices, joined by a bridge in its own namespace.

The host's own network is not changed, and names inside the namespaces need not be unique.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from benchmarks.testbed.programs import ip, tc
from streamplace.problem.cluster import NetworkKind

MTU = 9000
QUEUE_BYTES = 64_000_000  # more than all TCP windows together, so that no packet is dropped
UNLIMITED_MBPS = 10_000.0
LINK = "eth0"
CLASS = re.compile(r"class htb 1:(\w+) .*\n Sent (\d+) bytes")


@dataclass(frozen=True)
class Packets:
    """How links cut and pass what is sent.

    Parameters
    ----------
    mtu
        Largest packet in bytes, without the Ethernet header.
    burst_bytes
        Bytes that an idle link passes at once; more than a packet.
    joined
        Whether the kernel may handle several packets of a connection as one, which costs less CPU
        time but lets them pass together.
    """

    mtu: int
    burst_bytes: int
    joined: bool


STREAMING = Packets(MTU, burst_bytes=20_000, joined=True)
"""For rates: a burst is less than a link carries in a tick of the scheduler."""


def address(device: int) -> str:
    """Return the IP address of a device."""
    return f"10.88.{device // 250}.{device % 250 + 1}"


def build(switch: str, devices: Sequence[str], packets: Packets) -> None:
    """Create the namespaces of the switch and of the devices, and connect them."""
    ip(f"netns add {name}" for name in (switch, *devices))
    mtu = f"mtu {packets.mtu}"
    limits = mtu if packets.joined else f"{mtu} gso_max_segs 1"
    ip(["link add bridge type bridge", f"link set bridge {mtu} up"], switch)
    for d, device in enumerate(devices):
        ip([f"link add {LINK} netns {device} type veth peer name p{d} netns {switch}"])
        ip([f"link set p{d} {mtu} master bridge up"], switch)
        own = [f"address add {address(d)}/16 dev {LINK}", f"link set {LINK} {limits} up"]
        ip([*own, "link set lo up"], device)


def shape(
    kind: NetworkKind, switch: str, devices: Sequence[str], mbps: Sequence[float], burst_bytes: int
) -> None:
    """Limit the bandwidth of links.

    Parameters
    ----------
    mbps
        (L,) in Mbit/s, in the order of `Cluster.link_ends`; inf: no limit. With `egress`, all links
        of a sender have the same.
    burst_bytes
        See `Packets`.
    """
    count = len(devices)
    if kind == "nic":
        for d, device in enumerate(devices):
            tc([_bucket(LINK, mbps[d], burst_bytes)], device)
            tc([_bucket(f"p{d}", mbps[count + d], burst_bytes)], switch)
        return
    for d, device in enumerate(devices):
        own = mbps[d * count : (d + 1) * count]
        lines = _classes(d, own, burst_bytes)
        tc([_bucket(LINK, max(own), burst_bytes)] if kind == "egress" else lines, device)


def _bucket(link: str, mbps: float, burst_bytes: int) -> str:
    if mbps == inf:
        return f"qdisc replace dev {link} root pfifo limit 10000"
    bucket = f"tbf rate {_bits(mbps)} burst {burst_bytes} limit {QUEUE_BYTES}"
    return f"qdisc replace dev {link} root {bucket}"


def _classes(own: int, mbps: Sequence[float], burst_bytes: int) -> list[str]:
    """Return the lines that create a class for each other device, selected by its address."""
    lines = [f"qdisc replace dev {LINK} root handle 1: htb default fff"]
    for d, limit in enumerate(mbps):
        if d == own:
            continue
        rate = _bits(min(limit, UNLIMITED_MBPS))
        number = f"{d + 1:x}"
        shaped = f"htb rate {rate} ceil {rate} burst {burst_bytes} cburst {burst_bytes}"
        selector = f"match ip dst {address(d)}/32 flowid 1:{number}"
        lines += [
            f"class replace dev {LINK} parent 1: classid 1:{number} {shaped} quantum {MTU + 14}",
            f"qdisc replace dev {LINK} parent 1:{number} bfifo limit {QUEUE_BYTES}",
            f"filter add dev {LINK} parent 1: protocol ip prio 1 u32 {selector}",
        ]
    return lines


def _bits(mbps: float) -> str:
    return f"{max(8, round(mbps * 1e6))}bit"


def carried_bytes(kind: NetworkKind, devices: Sequence[str], pids: Sequence[int]) -> list[int]:
    """Return the bytes that each link has carried, (L,), in the order of `Cluster.link_ends`.

    Parameters
    ----------
    pids
        (D,) a process in the namespace of each device.
    """
    if kind == "pair":
        return [b for d in range(len(devices)) for b in _by_class(d, devices)]
    both = [_counters(pid) for pid in pids]
    return [sent for _, sent in both] + [received for received, _ in both]


def _counters(pid: int) -> tuple[int, int]:
    """Return the bytes received and sent by the link of a process's namespace."""
    for line in Path(f"/proc/{pid}/net/dev").read_text().splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == LINK:
            fields = numbers.split()
            return int(fields[0]), int(fields[8])
    return 0, 0


def _by_class(own: int, devices: Sequence[str]) -> list[int]:
    """Return the bytes that a device sent to each device, from the text that tc prints."""
    carried = [0] * len(devices)
    output = tc([f"class show dev {LINK}"], devices[own], ["-statistics"])
    for number, sent in CLASS.findall(output):
        carried[int(number, 16) - 1] = int(sent)
    return carried
