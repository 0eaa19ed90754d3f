"""Messages between devices and what they cost, in plain Python and exact fractions.

It shares no code with `sim`. A message lists the streams that it serves, so nothing is updated:
every question is answered from the list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from streamplace.problem.cluster import Device, LinkOverride
from streamplace.problem.problem import Problem


@dataclass(frozen=True)
class Flowing:
    """A stream that carries tuples from one device to another, at the offered rate."""

    index: int  # among the graph's streams
    source: str
    sender: Device
    receiver: Device
    tuples: Fraction  # per second
    payload_bytes: Fraction  # per second


@dataclass(frozen=True)
class Resource:
    """A resource of the network, and for how long a message occupies it, per second."""

    name: str
    busy: Fraction


@dataclass(frozen=True)
class Delivery:
    """What a message does for one receiving device."""

    streams: tuple[Flowing, ...]
    path: tuple[Resource, ...]  # in order; a resource that another delivery occupies has busy 0


@dataclass(frozen=True)
class Message:
    """A message of one producer: its deliveries, and the CPU time that devices spend on it."""

    deliveries: tuple[Delivery, ...]
    cpu: tuple[tuple[str, Fraction], ...]  # device -> seconds of one core per second


def messages(problem: Problem, streams: Sequence[Flowing]) -> list[Message]:
    """Return the messages of streams between devices, by the graph's kind of multicast."""
    grouped: dict[object, list[Flowing]] = {}
    for one in streams:
        if one.sender.name != one.receiver.name and one.tuples > 0:
            key: object = (one.source, one.receiver.name)
            if problem.graph.multicast == "none":
                key = one.index
            elif problem.graph.multicast == "all":
                key = one.source
            grouped.setdefault(key, []).append(one)
    return [_message(problem, served) for served in grouped.values()]


def _message(problem: Problem, served: list[Flowing]) -> Message:
    sender, kind = served[0].sender, problem.cluster.network.kind
    tuples = max(one.tuples for one in served)
    size = max(one.payload_bytes for one in served)
    receivers = {one.receiver.name: one.receiver for one in served}
    ends = {name: _ends(problem, sender, each) for name, each in receivers.items()}
    sending = max(tuples * Fraction(first["overhead_s"] or 0) for first, _ in ends.values())
    cpu = [(sender.name, sending + size * _per_byte(problem, sender))]
    deliveries, occupied = [], set[str]()
    for name, receiver in receivers.items():
        first, last = ends[name]
        receiving = tuples * Fraction(last["overhead_s"] or 0)
        cpu.append((name, receiving + size * _per_byte(problem, receiver)))
        names = [] if kind == "free" else [_sending_name(kind, sender, receiver)]
        busy = dict.fromkeys(names, _busy(first, tuples, size))
        if kind == "egress":  # one message takes the time on its slowest link
            busy = dict.fromkeys(names, max(_busy(f, tuples, size) for f, _ in ends.values()))
        for uplink, mbps in _uplinks(problem, sender, receiver):
            busy[uplink] = _busy({"bandwidth_mbps": mbps, "gap_s": 0}, tuples, size)
        if kind == "nic":
            busy[f"->{name}"] = _busy(last, tuples, size)
        path = [Resource(x, Fraction(0) if x in occupied else s) for x, s in busy.items()]
        occupied |= busy.keys()
        streams = tuple(one for one in served if one.receiver.name == name)
        deliveries.append(Delivery(streams, tuple(path)))
    return Message(tuple(deliveries), tuple(cpu))


def _sending_name(kind: str, sender: Device, receiver: Device) -> str:
    return f"{sender.name}->{receiver.name}" if kind == "pair" else f"{sender.name}->"


def _busy(values: Mapping[str, float | None], tuples: Fraction, size: Fraction) -> Fraction:
    """Return the seconds per second for which messages occupy a resource."""
    seconds = tuples * Fraction(values["gap_s"] or 0)
    if (mbps := values["bandwidth_mbps"]) is not None:
        seconds += 8 * size / (Fraction(mbps) * 1_000_000)
    return seconds


def _per_byte(problem: Problem, device: Device) -> Fraction:
    own = device.overhead_s_per_byte
    return Fraction(problem.cluster.network.overhead_s_per_byte if own is None else own)


def _ends(
    problem: Problem, a: Device, b: Device
) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """Return the values of the sender's link and of the receiver's, which may be one link."""
    if problem.cluster.network.kind == "nic":
        return _values(problem, a, None), _values(problem, None, b)
    return _values(problem, a, b), _values(problem, a, b)


def _values(problem: Problem, a: Device | None, b: Device | None) -> dict[str, float | None]:
    """Return a link's values: the most specific override that has one, or the network's."""
    network = problem.cluster.network
    values: dict[str, float | None] = {}
    for name in ("bandwidth_mbps", "overhead_s", "gap_s"):
        value, known = getattr(network, name), -1
        for override in network.overrides:
            named = sum(end is not None for end in (override.source, override.target))
            own = getattr(override, name)
            if own is not None and named >= known and _is_for(override, a, b):
                value, known = own, named
        values[name] = value
    return values


def _is_for(override: LinkOverride, a: Device | None, b: Device | None) -> bool:
    ends = (
        (override.source, override.source_group, a),
        (override.target, override.target_group, b),
    )
    for name, group, device in ends:
        if device is None:
            if name is not None or group is not None:
                return False
        elif device.name != name and (group is None or device.group != group):
            return False
    return True


def _uplinks(problem: Problem, a: Device, b: Device) -> list[tuple[str, float]]:
    """Return the limited links that the groups of a and b share, if they differ: names, Mbit/s."""
    if a.group == b.group:
        return []
    rates = {uplink.group: uplink for uplink in problem.cluster.network.uplinks}
    made = []
    if a.group in rates and (mbps := rates[a.group].up_mbps) is not None:
        made.append((f"group:{a.group}->", mbps))
    if b.group in rates and (mbps := rates[b.group].down_mbps) is not None:
        made.append((f"->group:{b.group}", mbps))
    return made
