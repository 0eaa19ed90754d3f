"""Problems of adversarial search: random chains, and one change of a problem at a time."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

import streamplace as sp
from streamplace.problem.network import NetworkKind

STEP = 0.1  # largest change of a weight
SLOWEST = 0.05  # lowest speed of a device or link
DIGITS = 4  # of weights, so that a problem is the same after it was written


@dataclass(frozen=True)
class Sizes:
    """The problems from which runs start: least and most operators and devices, and the network."""

    operators: tuple[int, int]
    devices: tuple[int, int]
    kind: NetworkKind = "free"


LARGER, CONTENDED, PUBLISHED = "larger", "contended", "published"
SIZES = {
    LARGER: Sizes((12, 20), (4, 6)),
    CONTENDED: Sizes((12, 20), (4, 6), "egress"),
    PUBLISHED: Sizes((3, 5), (3, 5)),
}


@dataclass(frozen=True)
class Instance:
    """A problem as weights; times are in seconds on a device or link of speed 1.

    Parameters
    ----------
    streams
        Source, target and weight; a source has a lower number than its target.
    links
        Speeds between pairs of devices in the order of `itertools.combinations`, in both
        directions.
    """

    kind: NetworkKind
    operators: tuple[float, ...]
    streams: tuple[tuple[int, int, float], ...]
    devices: tuple[float, ...]
    links: tuple[float, ...]

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Instance":
        """Return an instance that was written as JSON."""
        streams = tuple((int(a), int(b), float(weight)) for a, b, weight in value["streams"])
        rest = {name: tuple(value[name]) for name in ("operators", "devices", "links")}
        return cls(value["kind"], streams=streams, **rest)

    def problem(self) -> sp.Problem:
        """Return the problem of shortest makespan."""
        operators = [sp.Operator(f"v{v}", 1e6 * w, 0.0) for v, w in enumerate(self.operators)]
        streams = [
            sp.Stream(f"v{a}", f"v{b}", payload_bytes=125_000 * weight)
            for a, b, weight in self.streams
        ]
        pairs = zip(combinations(range(len(self.devices)), 2), self.links, strict=True)
        overrides = tuple(
            sp.LinkOverride(f"d{source}", f"d{target}", speed, 0.0)
            for (a, b), speed in pairs
            for source, target in ((a, b), (b, a))
        )
        network = sp.Network(self.kind, 1.0, 0.0, overrides=overrides)
        cluster = sp.Cluster([sp.Device(f"d{d}", s) for d, s in enumerate(self.devices)], network)
        graph = sp.StreamGraph(operators, streams, firing="all")
        return sp.Problem(graph, cluster, objective=sp.Makespan())


def chain(sizes: Sizes, rng: np.random.Generator) -> Instance:
    """Return a chain of operators on a complete network, with uniform weights."""
    operators = int(rng.integers(sizes.operators[0], sizes.operators[1] + 1))
    devices = int(rng.integers(sizes.devices[0], sizes.devices[1] + 1))
    weights = _drawn(rng, operators - 1, 0.0)
    return Instance(
        sizes.kind,
        _drawn(rng, operators, 0.0),
        tuple((v, v + 1, weight) for v, weight in enumerate(weights)),
        _drawn(rng, devices, SLOWEST),
        _drawn(rng, devices * (devices - 1) // 2, SLOWEST),
    )


def perturbed(instance: Instance, rng: np.random.Generator) -> Instance:
    """Return the instance with one change; it is the same one where the change is impossible."""
    return CHANGES[rng.integers(len(CHANGES))](instance, rng)


def _added(instance: Instance, rng: np.random.Generator) -> Instance:
    linked = {(a, b) for a, b, _ in instance.streams}
    free = [ab for ab in combinations(range(len(instance.operators)), 2) if ab not in linked]
    if not free:
        return instance
    a, b = free[rng.integers(len(free))]
    (weight,) = _drawn(rng, 1, 0.0)
    return replace(instance, streams=(*instance.streams, (a, b, weight)))


def _removed(instance: Instance, rng: np.random.Generator) -> Instance:
    if len(instance.streams) < 2:  # a graph has at least one stream
        return instance
    i = int(rng.integers(len(instance.streams)))
    return replace(instance, streams=instance.streams[:i] + instance.streams[i + 1 :])


def _stream(instance: Instance, rng: np.random.Generator) -> Instance:
    i = int(rng.integers(len(instance.streams)))
    a, b, weight = instance.streams[i]
    (weight,) = _changed((weight,), 0.0, rng)
    after = instance.streams[i + 1 :]
    return replace(instance, streams=(*instance.streams[:i], (a, b, weight), *after))


def _operator(instance: Instance, rng: np.random.Generator) -> Instance:
    return replace(instance, operators=_changed(instance.operators, 0.0, rng))


def _device(instance: Instance, rng: np.random.Generator) -> Instance:
    return replace(instance, devices=_changed(instance.devices, SLOWEST, rng))


def _link(instance: Instance, rng: np.random.Generator) -> Instance:
    return replace(instance, links=_changed(instance.links, SLOWEST, rng))


CHANGES = (_added, _removed, _stream, _operator, _device, _link)


def _drawn(rng: np.random.Generator, count: int, low: float) -> tuple[float, ...]:
    return tuple(round(float(w), DIGITS) for w in rng.uniform(low, 1.0, count))


def _changed(weights: tuple[float, ...], low: float, rng: np.random.Generator) -> tuple[float, ...]:
    """Return weights of which a random one is changed by up to `STEP`, within ``low`` and 1."""
    i = int(rng.integers(len(weights)))
    weight = min(max(weights[i] + rng.uniform(-STEP, STEP), low), 1.0)
    return (*weights[:i], round(float(weight), DIGITS), *weights[i + 1 :])
