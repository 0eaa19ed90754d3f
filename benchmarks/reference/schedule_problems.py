"""Random problems of makespans in their JSON forms, reproducible from a seed.

Times are few and exact in binary, so that many moments coincide and engines that compute in doubles
and in fractions must agree on every tie. Operators have times, and messages transfers, that are
multiples of 1/8 s for a whole batch of one tuple per source tuple.

Under `b-level`, the number of devices that can run an operator is a power of two, so that means are
exact as well.
"""

from random import Random
from typing import Any, TypedDict

WORK = 3_000_000  # instructions: a multiple of 1/8 s on each number of cores and MIPS below
PIECE = 125_000  # bytes: 1/8 s at 8 Mbit/s
KINDS = ("cpu", "gpu")
SMALL = (1, 2, 3, 4, 5, 6, 7, 8, *range(5, 15), *range(8, 15))  # numbers of operators


class ScheduleForm(TypedDict):
    """A problem as in the golden cases: a graph, a cluster, settings, and operator -> device."""

    graph: dict[str, Any]
    cluster: dict[str, Any]
    settings: dict[str, Any]
    placement: dict[str, str]


def schedule_problem(seed: int, *, large: bool = False) -> ScheduleForm:
    """Return the problem of a seed: 1 to 14 operators on 1 to 5 devices.

    Parameters
    ----------
    large
        15 to 60 operators on 2 to 12 devices instead.
    """
    return _Draw(Random(f"{seed} {large}"), large).problem()


def exact_shares(sources: list[str]) -> dict[str, float]:
    """Return shares of the source rate that are exact in binary: 1/2, 1/4, … and some of 0."""
    shares = [0.5**i for i in range(1, min(len(sources), 5))]
    shares.append(1 - sum(shares))
    return dict.fromkeys(sources, 0.0) | dict(zip(sources, shares, strict=False))


class _Draw:
    """The random choices of one problem."""

    def __init__(self, rng: Random, large: bool) -> None:
        self.rng, self.large = rng, large
        self.richness = rng.choice((0.1, 0.35, 0.7))  # probability that an option is in use
        self.has_kinds = self.uses()

    def uses(self) -> bool:
        return self.rng.random() < self.richness

    def problem(self) -> ScheduleForm:
        settings = self.settings()
        devices = self.devices(settings["order"])
        firing, multicast = self.rng.choice(("all", "each")), "none"
        if self.rng.random() < 0.5:
            multicast = self.rng.choice(("device", "all"))
        operators = self.operators()
        streams = self.streams([operator["name"] for operator in operators])
        graph: dict[str, Any] = {
            "operators": operators,
            "streams": streams,
            "firing": firing,
            "multicast": multicast,
        }
        if shares := self.source_shares(graph):
            graph["source_shares"] = shares
        cluster = {"devices": devices, "network": self.network([d["name"] for d in devices])}
        return {
            "graph": graph,
            "cluster": cluster,
            "settings": settings,
            "placement": self.placement(operators, devices),
        }

    def settings(self) -> dict[str, Any]:
        orders = ("fifo", "fifo", "fifo", "b-level", "b-level", "topological", "sequence")
        return {
            "order": self.rng.choice(orders),
            "barrier": self.rng.random() < 0.2,
            "inputs_everywhere": self.rng.random() < 0.15,
            "batch": self.rng.choice((2, 4)) if self.uses() else 1,
        }

    def devices(self, order: str) -> list[dict[str, Any]]:
        count = self.rng.randint(2, 12) if self.large else self.rng.choice((1, 2, 2, 3, 4, 4, 5))
        if order == "b-level":
            count = 1 << (count.bit_length() - 1)
        self.has_kinds &= count > 1
        devices = []
        for d, name in enumerate(self.names("d", count)):
            device: dict[str, Any] = {"name": name, "mips": 2 if self.uses() else 1}
            if self.uses():
                device["cores"] = self.rng.choice((2, 2, 3, 4))
            if self.has_kinds:  # half of the devices each, since operators may exclude a kind
                device |= {"kind": KINDS[d % 2], "labels": [KINDS[d % 2]]}
            if self.uses():
                device["startup_s"] = self.rng.choice((0.125, 0.5, 1))
            if self.rng.random() < self.richness / 3:
                device["overhead_s_per_byte"] = self.rng.choice((0, 1e-6, 2e-6))
            devices.append(device)
        return devices

    def operators(self) -> list[dict[str, Any]]:
        count = self.rng.randint(15, 60) if self.large else self.rng.choice(SMALL)
        works = [WORK * self.rng.choice((0, 1, 1, 2, 3, 4)) for _ in range(self.rng.randint(1, 3))]
        operators = []
        for name in self.names("o", count):
            operator: dict[str, Any] = {"name": name, "instructions": self.rng.choice(works)}
            if self.rng.random() < 0.3:
                operator["payload_bytes"] = PIECE * self.rng.choice((0, 2, 8))
            if self.rng.random() < self.richness / 2:
                operator["cores"] = self.rng.choice((2, 2, 3, 4, 8))
            if self.has_kinds and self.rng.random() < 0.5:
                operator["seconds_on"] = self.seconds_on()
                if len(operator["seconds_on"]) == len(KINDS):
                    operator["instructions"] = self.rng.choice((None, WORK))
            elif self.has_kinds and self.rng.random() < 0.2:
                operator["requires"] = [self.rng.choice(KINDS)]
            operators.append(operator)
        return operators

    def seconds_on(self) -> dict[str, float | None]:
        """Return times for one kind of device or both; at least one kind can run it."""
        times: dict[str, float | None] = {
            kind: self.rng.choice((0, 0.5, 1, 2)) for kind in KINDS if self.rng.random() < 0.8
        }
        if times and self.rng.random() < 0.4:
            times[self.rng.choice(list(times))] = None
        return times

    def streams(self, names: list[str]) -> list[dict[str, Any]]:
        """Return the streams of an acyclic graph, in an arbitrary order."""
        upstream_first = list(names)
        if self.rng.random() < 0.5:
            self.rng.shuffle(upstream_first)
        density, payloads = self.rng.choice((0.5, 1, 2)), self.payloads()
        pairs = []
        for v, target in enumerate(upstream_first):
            nearest = upstream_first[max(0, v - self.rng.choice((2, 4, 60))) : v]
            wanted = self.rng.choice((0, 1, 2, 3, 4)) * density
            pairs += [(self.rng.choice(nearest), target) for _ in range(int(wanted)) if nearest]
        if not self.uses():  # without parallel streams
            pairs = list(dict.fromkeys(pairs))
        streams = []
        for source, target in pairs:
            stream: dict[str, Any] = {"source": source, "target": target}
            if self.rng.random() < 0.85:
                stream["payload_bytes"] = self.rng.choice(payloads)
            if self.rng.random() < self.richness / 2:
                stream["selectivity"] = self.rng.choice((0, 0.5, 0.5, 2))
            streams.append(stream)
        self.rng.shuffle(streams)
        return streams

    def payloads(self) -> list[int]:
        pieces = [
            self.rng.choice((0, 1, 2, 4, 8, 8, 16, 24)) for _ in range(self.rng.randint(1, 3))
        ]
        return [PIECE * count for count in pieces]

    def source_shares(self, graph: dict[str, Any]) -> dict[str, float] | None:
        """Return unequal shares, and shares wherever equal ones are not exact in binary."""
        targets = {stream["target"] for stream in graph["streams"]}
        sources = [o["name"] for o in graph["operators"] if o["name"] not in targets]
        if len(sources) & (len(sources) - 1) == 0 and self.rng.random() < 0.7:
            return None
        self.rng.shuffle(sources)
        return exact_shares(sources)

    def network(self, devices: list[str]) -> dict[str, Any]:
        kind = self.rng.choice(("free", "egress", "pair", "nic"))
        network = {"kind": kind, **self.link()}
        if self.rng.random() < self.richness / 3:
            network["overhead_s_per_byte"] = 1e-6
        ends = [{"from": a, "to": b} for a in devices for b in devices if a != b]
        if kind == "nic":
            ends = [{way: name} for way in ("from", "to") for name in devices]
        self.rng.shuffle(ends)
        if self.uses():
            overridden = ends[: self.rng.randint(0, len(devices) + 1)]
            network["overrides"] = [end | self.some_of(self.link()) for end in overridden]
        return network

    def link(self) -> dict[str, Any]:
        return {
            "bandwidth_mbps": self.rng.choice((4, 16, None)) if self.uses() else 8,
            "latency_s": self.rng.choice((0.125, 0.5, 1)) if self.uses() else 0,
            "overhead_s": self.rng.choice((0.125, 0.25, 0.5)) if self.uses() else 0,
            "gap_s": self.rng.choice((0.125, 0.25, 1)) if self.uses() else 0,
        }

    def some_of(self, link: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in link.items() if self.rng.random() < 0.6}

    def placement(
        self, operators: list[dict[str, Any]], devices: list[dict[str, Any]]
    ) -> dict[str, str]:
        """Return a device that can run it for each operator, often one of few devices."""
        favoured = self.rng.sample(devices, max(1, len(devices) - self.rng.choice((0, 0, 0, 2))))
        placement = {}
        for operator in operators:
            times, labels = operator.get("seconds_on", {}), set(operator.get("requires", ()))
            possible = [
                d
                for d in devices
                if times.get(d.get("kind"), 0) is not None and labels <= set(d.get("labels", ()))
            ]
            preferred = [d for d in possible if d in favoured] or possible
            placement[operator["name"]] = self.rng.choice(preferred)["name"]
        return placement

    def names(self, letter: str, count: int) -> list[str]:
        """Return names whose alphabetical order is not that of the indices."""
        numbers = list(range(count))
        self.rng.shuffle(numbers)
        return [f"{letter}{number}" for number in numbers]
