"""Lookahead features of partial placements in plain Python, from their definitions.

`Draft` stores only the devices of operators, so values that the kernels of
`streamplace.sim.lookahead` update from step to step are computed from scratch here.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from streamplace.sim.closed_form.bottleneck import lowest_utilisation
from streamplace.sim.flow import Flow, crossing_seconds
from streamplace.sim.lookahead import (
    LINEAR,
    LookaheadProblem,
)


class Sent(NamedTuple):
    """A message: its producer, and the utilisation of devices and of links by it."""

    producer: int
    on_devices: list[tuple[int, float]]
    on_links: list[tuple[int, float]]


@dataclass
class Draft:
    """A partial placement and the last chosen device."""

    job: LookaheadProblem
    on: dict[int, int] = field(default_factory=dict)
    last: int = -1

    @property
    def flow(self) -> Flow:
        return self.job.flow

    @property
    def operators_on(self) -> list[int]:
        """The number of operators on each device."""
        return [list(self.on.values()).count(d) for d in range(self.flow.devices)]

    @property
    def traffic(self) -> list[float]:
        """The utilisation of an average link by each stream."""
        gap_s, seconds_per_bit = crossing_seconds(self.flow)
        return [
            float(tuples * (gap_s + bits * seconds_per_bit))
            for tuples, bits in zip(self.flow.stream_tuples, self.flow.bits, strict=True)
        ]

    def with_one_more(self, v: int, d: int) -> "Draft":
        return Draft(self.job, {**self.on, v: d}, d)

    def links(self, a: int, b: int) -> list[int]:
        """Return the links on the way from device a to device b."""
        if a == b:
            return []
        if self.flow.egress:
            return [a]
        return [a, self.flow.devices + b] if self.flow.nic else [a * self.flow.devices + b]

    def links_of(self, d: int) -> list[int]:
        """Return the links that begin or end at a device."""
        devices = self.flow.devices
        if self.flow.nic:
            return [d, devices + d]
        if self.flow.egress:
            return [d]
        others = [x for x in range(devices) if x != d]
        return [i for x in others for i in (d * devices + x, x * devices + d)]

    def streams(self) -> Iterator[tuple[int, int, int]]:
        for e, (u, w) in enumerate(zip(self.flow.source, self.flow.target, strict=True)):
            yield e, int(u), int(w)

    def utilisations(self) -> tuple[list[float], list[float]]:
        """Return the utilisations of devices and links from the operators placed so far."""
        flow = self.flow
        device, link = [0.0] * flow.devices, [0.0] * len(flow.gap_s)
        for v, d in self.on.items():
            device[d] += self.work(v, d) / float(flow.capacity[d])
        for message in self.messages():
            for d, share in message.on_devices:
                device[d] += share
            for i, share in message.on_links:
                link[i] += share
        return device, link

    def work(self, v: int, d: int) -> float:
        """Return the instructions/s of operator v on device d; typical ones where it cannot run."""
        flow = self.flow
        if len(flow.timed) and flow.timed[v] >= 0:
            stated = float(flow.timed_instructions[flow.timed[v], flow.class_of[d]])
            if math.isfinite(stated):
                return stated * float(flow.operator_tuples[v])
        return float(flow.work[v])

    def messages(self) -> list["Sent"]:
        """Return the messages between operators placed so far."""
        found: dict[tuple[int, ...], list[int]] = {}
        for e, u, w in self.streams():
            if u in self.on and w in self.on and self.on[u] != self.on[w]:
                key = ((u, e), (u, self.on[w]), (u,))[self.flow.multicast]
                if self.flow.stream_tuples[e] > 0 or not self.flow.multicast:
                    found.setdefault(key, []).append(e)
        return [self.sent(streams) for streams in found.values()]

    def sent(self, streams: list[int]) -> "Sent":
        """Return the message that serves some streams of one producer."""
        flow, u = self.flow, int(self.flow.source[streams[0]])
        a, tuples = self.on[u], max(float(flow.stream_tuples[e]) for e in streams)
        bits = max(float(flow.stream_bits[e]) for e in streams)
        receivers = list(dict.fromkeys(self.on[int(flow.target[e])] for e in streams))
        sends = {b: a if flow.nic else a * flow.devices + b for b in receivers}
        ends = {b: flow.devices + b if flow.nic else sends[b] for b in receivers}

        def busy(link: int) -> float:
            return tuples * float(flow.gap_s[link]) + bits * float(flow.seconds_per_bit[link])

        def cpu(d: int, links: list[int]) -> tuple[int, float]:
            overhead = tuples * max(float(flow.overhead_s[i]) for i in links)
            return d, (overhead + bits * float(flow.overhead_s_per_bit[d])) / float(flow.cores[d])

        on_links = [(sends[b], busy(sends[b])) for b in receivers]
        if flow.nic or flow.egress:
            on_links = [(a, max(share for _, share in on_links))]
        if flow.nic:
            on_links += [(ends[b], busy(ends[b])) for b in receivers]
        on_devices = [cpu(a, [*sends.values()]), *(cpu(b, [ends[b]]) for b in receivers)]
        return Sent(u, on_devices, on_links)

    def own(self, v: int, d: int) -> float:
        """Return the utilisation of the cores that operator v can use on device d, if not all."""
        usable, cores = float(self.flow.operator_cores[v]), float(self.flow.cores[d])
        if usable >= cores:
            return 0.0
        return self.work(v, d) / (float(self.flow.capacity[d]) / cores * usable)

    def own_worst(self) -> float:
        return max((self.own(v, d) for v, d in self.on.items()), default=0.0)

    def worst(self) -> float:
        device, link = self.utilisations()
        return max(*device, *link, self.own_worst())

    def open(self, d: int) -> float:
        """Return the traffic between a device's operators and those not placed yet."""
        return sum(
            self.traffic[e]
            for e, u, w in self.streams()
            if (self.on.get(u) == d and w not in self.on)
            or (self.on.get(w) == d and u not in self.on)
        )

    def candidate_features(self, v: int, d: int) -> dict[str, float]:
        """Return the features of device d for operator v, before squashing."""
        flow, after = self.flow, self.with_one_more(v, d)
        reference, unit = lowest_utilisation(flow), self.job.unit
        device, link = self.utilisations()
        device_after, link_after = after.utilisations()
        near = [(e, w if u == v else u, u == v) for e, u, w in self.streams() if v in (u, w)]
        placed = [(e, self.on[other], out) for e, other, out in near if other in self.on]
        away = [(e, a, out) for e, a, out in placed if a != d]
        touched = {i for _, a, out in away for i in (self.links(d, a) if out else self.links(a, d))}
        touched_devices = {a for _, a, _ in away}
        if flow.multicast:  # everything that the changed messages load
            senders = {u for _, u, w in self.streams() if w == v} | {v}
            changed = [message for message in after.messages() if message.producer in senders]
            touched = {i for message in changed for i, _ in message.on_links}
            touched_devices = {x for message in changed for x, _ in message.on_devices}
        on_links = max((link_after[i] for i in touched), default=0.0)
        highest = max(device_after[d], on_links, *(device_after[a] for a in touched_devices), 0.0)
        highest = max(highest, self.own(v, d))
        local = [self.traffic[e] for e, a, _ in placed if a == d]
        capacity = float(flow.capacity.sum())
        evenly = sum(device) / flow.devices + float(flow.work[v]) / capacity
        left = [float(flow.work[w]) for w in range(flow.operators) if w not in after.on]
        loads = {
            "own": self.work(v, d) / float(flow.capacity[d]),
            "now": device[d],
            "then": device_after[d],
            "above mean": device_after[d] - evenly,
            "above least": device[d] - min(device),
            "highest": highest,
            "link": on_links,
            "worst": self.worst(),
            "rise": max(0.0, after.worst() - self.worst()),
            "local": sum(local),
            "heaviest local": max(local, default=0.0),
            "crossing": sum(self.traffic[e] for e, _, _ in away),
            "ahead": sum(self.traffic[e] for e, other, _ in near if other not in self.on),
            "open": self.open(d),
            "open then": after.open(d),
            "busiest": max((link[i] for i in self.links_of(d)), default=0.0),
            "left": sum(left) / capacity,
        }
        return {name: float(load) / reference for name, load in loads.items()} | {
            "capacity": float(flow.capacity[d]) / float(flow.capacity.mean()),
            "bandwidth": self.bandwidth(d),
            "empty": float(self.operators_on[d] == 0),
            "crowd": self.operators_on[d] / max(1, len(self.on)),
            "last": float(self.last == d),
            "placed": len(self.on) / flow.operators,
            "devices": 1 / flow.devices,
            "then, offered": device_after[d] / unit,
            "link, offered": on_links / unit,
            "worst device, offered": max(*device_after, after.own_worst()) / unit,
            "worst, offered": self.worst() / unit,
        }

    def bandwidth(self, d: int) -> float:
        """Return the mean seconds per bit of a device's links over the mean of all links."""
        of_pairs = Draft(self.job._replace(flow=replace(self.flow, egress=False)))
        per_bit = [
            [float(self.flow.seconds_per_bit[i]) for i in of_pairs.links_of(x)]
            for x in range(self.flow.devices)
        ]
        every = [seconds for links in per_bit for seconds in links]
        if not any(every):
            return 1.0
        return (sum(per_bit[d]) / len(per_bit[d])) / (sum(every) / len(every))

    def offered(self, v: int) -> list[bool]:
        """Return whether each device is a candidate for operator v."""
        job, devices = self.job, range(self.flow.devices)
        for u, on in self.on.items():
            if job.leader[u] == job.leader[v]:
                return [d == on for d in devices]
        allowed = [bool(job.allowed[job.row_of[v], d]) for d in devices]
        limits = range(job.room.shape[1])
        used = [
            [sum(float(job.needs[u, k]) for u in self.on if self.on[u] == d) for k in limits]
            for d in devices
        ]
        fits = [
            allowed[d]
            and all(used[d][k] + job.needs[v, k] <= job.room[d, k] for k in limits)
            and (
                self.operators_on[d] > 0
                or not any(
                    self.operators_on[x] == 0 and job.kind[x] == job.kind[d] for x in range(d)
                )
            )
            for d in devices
        ]
        return fits if any(fits) else allowed


def bent(x: float) -> float:
    """Return the value that `squashed` should return."""
    if abs(x) <= LINEAR:
        return x
    return math.copysign(LINEAR + LINEAR * math.log(abs(x) / LINEAR), x)
