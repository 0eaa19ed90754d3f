"""Exact numbers of one pass of a graph on a cluster, from raw JSON forms: times, messages, orders.

It shares no code with `sim` or `streamplace`. Numbers are fractions: the decimal number that a file
states, not the nearest double.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

Form = Mapping[str, Any]
DEFAULTS = {"bandwidth_mbps": 1000, "latency_s": 0.001, "overhead_s": 0, "gap_s": 0}


@cache
def exact(number: float) -> Fraction:
    """Return the decimal number that JSON shows for a number."""
    return Fraction(str(number))


@dataclass(frozen=True)
class Stream:
    """A stream between two operators, by index."""

    source: int
    target: int
    selectivity: Fraction
    payload_bytes: Fraction


@dataclass(frozen=True)
class Crossing:
    """Seconds that a message of one size needs between two devices."""

    transfer_s: Fraction
    latency_s: Fraction
    gap_s: Fraction
    send_s: Fraction  # CPU time at the sender
    receive_s: Fraction  # CPU time at the receiver
    receive_transfer_s: Fraction  # of the receiver's interface, under `nic`
    receive_gap_s: Fraction


@dataclass(frozen=True)
class Message:
    """What a producer sends at once; a key of `to` is a device index."""

    source: int
    stream: int  # the lowest index of those it serves
    to: dict[int, Crossing]
    streams: dict[int, list[int]]  # device index -> streams served there
    channels: frozenset[tuple[int, ...]]

    def largest(self, name: str) -> Fraction:
        """Return the largest value of a field of `Crossing` over the destinations."""
        values: list[Fraction] = [getattr(crossing, name) for crossing in self.to.values()]
        return max(values)


class ScheduleInputs:
    """A graph, a cluster, settings and a placement in their JSON forms.

    Attributes
    ----------
    place
        The device index of each operator.
    order
        The operators in Kahn's topological order, always the smallest index first.
    streams
        The streams by (position of the source in `order`, target, selectivity, payload).
    tuples, stream_tuples
        Tuples of each operator and of each stream in the whole batch.
    """

    def __init__(self, graph: Form, cluster: Form, settings: Form, placement: Form) -> None:
        self.operators: list[Form] = list(graph["operators"])
        self.devices: list[Form] = list(cluster["devices"])
        self.network: Form = {**DEFAULTS, **cluster.get("network", {})}
        overrides = self.network.get("overrides", ())
        if self.network.get("uplinks") or any(
            {"from_group", "to_group"} & set(o) for o in overrides
        ):
            raise ValueError("network: this engine has no groups of devices")
        self.link_kind = _one_of(self.network, "kind", ("pair", "free", "egress", "nic"))
        self.multicast = _one_of(graph, "multicast", ("none", "device", "all"))
        self.firing = _one_of(graph, "firing", ("each", "all"))
        self.order_name = _one_of(settings, "order", ("fifo", "b-level", "topological", "sequence"))
        self.inputs_everywhere = bool(settings.get("inputs_everywhere", False))
        self.barrier = bool(settings.get("barrier", False))
        self.names = [str(operator["name"]) for operator in self.operators]
        on = {device["name"]: d for d, device in enumerate(self.devices)}
        self.place = [on[placement[name]] for name in self.names]
        self._links: dict[tuple[str, int | None, int | None], Fraction | None] = {}
        self.streams, self.order = self._sorted(list(graph.get("streams", ())))
        self.inputs = self._by_operator(stream.target for stream in self.streams)
        self.outputs = self._by_operator(stream.source for stream in self.streams)
        self.tuples, self.stream_tuples = self._flow(graph, exact(settings.get("batch", 1)))

    def cores(self, v: int, d: int) -> int:
        """Return the cores that an operator holds on a device."""
        return min(int(self.operators[v].get("cores", 1)), int(self.devices[d].get("cores", 1)))

    def seconds(self, v: int, d: int) -> Fraction | None:
        """Return the time of an operator on a device; None if it cannot run there."""
        if not set(self.operators[v].get("requires", ())) <= set(self.devices[d].get("labels", ())):
            return None
        by_kind, kind = self.operators[v].get("seconds_on") or {}, self.devices[d].get("kind")
        if kind in by_kind:
            return None if by_kind[kind] is None else self.tuples[v] * exact(by_kind[kind])
        instructions = self.operators[v].get("instructions")
        if instructions is None:
            return None
        speed = exact(self.devices[d]["mips"]) * 1_000_000 * self.cores(v, d)
        return self.tuples[v] * exact(instructions) / speed

    def size(self, e: int) -> Fraction:
        """Return the bytes that a stream carries in the whole batch."""
        return self.stream_tuples[e] * self.streams[e].payload_bytes

    def crossing(self, a: int, b: int, size: Fraction) -> Crossing:
        """Return the times of a message of `size` bytes from device a to device b."""
        sending: tuple[int | None, int | None] = (a, b)
        receiving = sending
        if self.link_kind == "nic":
            sending, receiving = (a, None), (None, b)
        return Crossing(
            self._transfer_s(sending, size),
            max(self._link("latency_s", *sending), self._link("latency_s", *receiving)),
            self._link("gap_s", *sending),
            self._link("overhead_s", *sending) + self._per_byte_s(a) * size,
            self._link("overhead_s", *receiving) + self._per_byte_s(b) * size,
            self._transfer_s(receiving, size),
            self._link("gap_s", *receiving),
        )

    def is_free(self, e: int) -> bool:
        """Return whether a stream sends nothing or costs nothing, whatever the placement."""
        source = self.streams[e].source
        return not self.stream_tuples[e] or (self.inputs_everywhere and not self.inputs[source])

    def messages(self) -> list[Message]:
        """Return all messages of the placement."""
        served: dict[tuple[int, ...], list[int]] = {}
        for e, stream in enumerate(self.streams):
            a, b = self.place[stream.source], self.place[stream.target]
            if a != b and not self.is_free(e):
                key = {"none": (e,), "device": (stream.source, b), "all": (stream.source,)}
                served.setdefault(key[self.multicast], []).append(e)
        return [self._message(streams) for streams in served.values()]

    def levels(self) -> list[int]:
        """Return the largest number of hops from a source to each operator."""
        level = [0] * len(self.operators)
        for v in self.order:
            sources = (self.streams[e].source for e in self.inputs[v])
            level[v] = max((level[u] + 1 for u in sources), default=0)
        return level

    def priorities(self) -> list[Fraction]:
        """Return a number for each operator; at one moment, smaller ones start first.

        They are all equal under `fifo`, where only the moment and the index count.
        """
        if self.order_name == "fifo":
            return [Fraction(0)] * len(self.operators)
        if self.order_name == "b-level":
            return [-rank for rank in self.upward_ranks()]
        return [Fraction(self.order.index(v)) for v in range(len(self.operators))]

    def upward_ranks(self) -> list[Fraction]:
        """Return HEFT's upward ranks in seconds (Topcuoglu et al. 2002), with mean costs."""
        rank = [Fraction(0)] * len(self.operators)
        for v in reversed(self.order):
            after = (
                self._mean_message_s(e) + rank[self.streams[e].target] for e in self.outputs[v]
            )
            rank[v] = self._mean_s(v) + max(after, default=Fraction(0))
        return rank

    def _mean_s(self, v: int) -> Fraction:
        """Return the mean time of an operator over the devices that can run it."""
        times = [time for d in self._feasible(v) if (time := self.seconds(v, d)) is not None]
        return sum(times, Fraction(0)) / len(times)

    def _mean_message_s(self, e: int) -> Fraction:
        """Return the mean time of a stream's own message on an idle network.

        The mean is over all pairs of a device that can run the producer and another device that
        can run the consumer; it is 0 if there is none.
        """
        if self.is_free(e):
            return Fraction(0)
        froms, tos = self._feasible(self.streams[e].source), self._feasible(self.streams[e].target)
        times = []
        for a in froms:
            for b in tos:
                if a != b:
                    one = self.crossing(a, b, self.size(e))
                    times.append(max(one.transfer_s, one.receive_transfer_s) + one.latency_s)
        return sum(times, Fraction(0)) / max(1, len(times))

    def _feasible(self, v: int) -> list[int]:
        return [d for d in range(len(self.devices)) if self.seconds(v, d) is not None]

    def _message(self, streams: list[int]) -> Message:
        source = self.streams[streams[0]].source
        a, size = self.place[source], max(self.size(e) for e in streams)
        served: dict[int, list[int]] = {}
        for e in streams:
            served.setdefault(self.place[self.streams[e].target], []).append(e)
        channels: dict[str, Iterable[tuple[int, ...]]] = {
            "free": (),
            "egress": [(a,)],
            "nic": [(a,)],
            "pair": [(a, b) for b in served],
        }
        to = {b: self.crossing(a, b, size) for b in served}
        return Message(source, min(streams), to, served, frozenset(channels[self.link_kind]))

    def _transfer_s(self, ends: tuple[int | None, int | None], size: Fraction) -> Fraction:
        mbps = self._link_or_none("bandwidth_mbps", *ends)
        return Fraction(0) if mbps is None else 8 * size / (mbps * 1_000_000)

    def _per_byte_s(self, d: int) -> Fraction:
        own = self.devices[d].get("overhead_s_per_byte")
        return exact(self.network.get("overhead_s_per_byte", 0) if own is None else own)

    def _link(self, name: str, a: int | None, b: int | None) -> Fraction:
        return self._link_or_none(name, a, b) or Fraction(0)

    def _link_or_none(self, name: str, a: int | None, b: int | None) -> Fraction | None:
        """Return a value of a link, or of one end of it, where the other device is None."""
        key = (name, a, b)
        if key not in self._links:
            self._links[key] = self._stated(name, a, b)
        return self._links[key]

    def _stated(self, name: str, a: int | None, b: int | None) -> Fraction | None:
        """Return the value of the last override that has one, or the network's."""
        ends = tuple(None if d is None else self.devices[d]["name"] for d in (a, b))
        value = self.network.get(name)
        for override in self.network.get("overrides", ()):
            is_stated = override.get(name) is not None or (
                name == "bandwidth_mbps" and name in override  # null: no limit
            )
            if (override.get("from"), override.get("to")) == ends and is_stated:
                value = override[name]
        return None if value is None else exact(value)

    def _sorted(self, forms: list[Form]) -> tuple[list[Stream], list[int]]:
        """Return the streams in the toolkit's order, and the operators in topological order."""
        index = {name: v for v, name in enumerate(self.names)}
        streams = []
        for form in forms:
            source, payload = index[form["source"]], form.get("payload_bytes")
            if payload is None:
                payload = self.operators[source].get("payload_bytes") or 0
            selectivity = exact(form.get("selectivity", 1))
            streams.append(Stream(source, index[form["target"]], selectivity, exact(payload)))
        producers = {v: {s.source for s in streams if s.target == v} for v in index.values()}
        order: list[int] = []
        while producers:
            order.append(min(v for v, before in producers.items() if before <= set(order)))
            del producers[order[-1]]
        streams.sort(
            key=lambda s: (order.index(s.source), s.target, s.selectivity, s.payload_bytes)
        )
        return streams, order

    def _by_operator(self, operators: Iterable[int]) -> list[list[int]]:
        """Return for each operator the streams at whose ends it is."""
        streams: list[list[int]] = [[] for _ in self.operators]
        for e, v in enumerate(operators):
            streams[v].append(e)
        return streams

    def _flow(self, graph: Form, batch: Fraction) -> tuple[list[Fraction], list[Fraction]]:
        """Return the tuples of each operator and of each stream."""
        if self.firing == "all":
            return [batch] * len(self.operators), [batch] * len(self.streams)
        sources = [v for v, inputs in enumerate(self.inputs) if not inputs]
        shares = graph.get("source_shares")
        tuples, on_stream = [Fraction(0)] * len(self.operators), [Fraction(0)] * len(self.streams)
        for v in sources:
            tuples[v] = batch * (
                exact(shares[self.names[v]]) if shares else 1 / Fraction(len(sources))
            )
        for v in self.order:
            for e in self.outputs[v]:
                on_stream[e] = tuples[v] * self.streams[e].selectivity
                tuples[self.streams[e].target] += on_stream[e]
        return tuples, on_stream


def _one_of(form: Form, name: str, known: tuple[str, ...]) -> str:
    """Return an option, by default the first of the known values."""
    value = str(form.get(name, known[0]))
    if value not in known:
        raise ValueError(f"unknown {name} {value!r}")
    return value
