"""Scores: what a placement achieves."""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any

from streamplace.display.mixins import Displayable, RoundedRepr, number, quoted


@dataclass(frozen=True, repr=False)
class Bottleneck(RoundedRepr):
    """The device or link of the largest utilisation, even below 1."""

    kind: str
    name: str
    utilisation: float


@dataclass(frozen=True, repr=False)
class DeviceLoad(RoundedRepr):
    """Utilisation of a device at the offered rate, and how many operators it runs."""

    name: str
    utilisation: float
    operators: int


@dataclass(frozen=True, repr=False)
class LinkLoad(RoundedRepr):
    """Utilisation of a link at the offered rate. Under ``nic`` one end is None."""

    source: str | None
    target: str | None
    utilisation: float

    @property
    def name(self) -> str:
        """``a->b``; under ``nic`` ``a->`` for what a sends, ``->b`` for what b receives."""
        return f"{self.source or ''}->{self.target or ''}"


class Score(Displayable, ABC):
    """What a placement is worth under the objective of its problem.

    Attributes
    ----------
    devices
        What every device has to do.
    links
        What the links that carry traffic have to do.
    """

    devices: tuple[DeviceLoad, ...]
    links: tuple[LinkLoad, ...]

    @property
    @abstractmethod
    def value(self) -> float:
        """The figure that the objective is about, in `unit`."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """The unit of `value`."""

    @property
    @abstractmethod
    def quality(self) -> float:
        """The value on the scale of `Evaluator.quality`: higher is better, at most 1."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """The value in words."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what `simulate --json` prints."""


@dataclass(frozen=True, repr=False)
class ThroughputScore(Score):
    """What a placement achieves.

    Parameters
    ----------
    source_rate
        Offered tuples/s; where a problem has several, those at which relative throughput is lowest.
    throughput
        Tuples/s at the sources that the placement keeps up with.
    relative_throughput
        The same as a share of the source rate.
    devices
        All of them.
    links
        Those that carry traffic.
    """

    source_rate: float
    throughput: float
    relative_throughput: float
    bottleneck: Bottleneck
    devices: tuple[DeviceLoad, ...]
    links: tuple[LinkLoad, ...]
    devices_used: int
    model: str

    @property
    def value(self) -> float:
        """The throughput."""
        return self.throughput

    @property
    def unit(self) -> str:
        """Tuples per second."""
        return "tuples/s"

    @property
    def quality(self) -> float:
        """The relative throughput."""
        return min(1.0, self.relative_throughput)

    def to_dict(self) -> dict[str, Any]:
        """Return what `simulate --json` prints."""
        document = asdict(self)
        del document["source_rate"]
        document["devices"] = list(document["devices"])
        document["links"] = [
            {"from": link.source, "to": link.target, "utilisation": link.utilisation}
            for link in self.links
        ]
        return document

    def __repr__(self) -> str:
        top, used = self.bottleneck, self.devices_used
        limit = f"bottleneck {top.kind} {quoted(top.name)} at {top.utilisation:.1%}"
        where = f"{used} of {len(self.devices)} devices used"
        return f"<{type(self).__name__}: {self.headline}, {limit}, {where} ({self.model} model)>"

    @property
    def headline(self) -> str:
        """Throughput in words."""
        rates = f"{number(self.throughput)} of {number(self.source_rate)} tuples/s"
        return f"{rates} ({self.relative_throughput:.1%})"


@dataclass(frozen=True, repr=False)
class EngineScore(ThroughputScore):
    """What a placement achieved in a run of the engine; utilisations are shares of the time.

    Relative throughput is of what was offered while measured.

    Parameters
    ----------
    latency_s
        Mean, p50 and p99 of the seconds from a source to a sink; None where nothing arrived. They
        count from when a source takes a tuple, as in CEPSim: how long it waited before, because
        its device or backpressure held the source up, is not in them.
    path_mean_throughput
        Source tuples/s at the sinks, a mean over the paths to them, as CEPSim has it; None where
        there are more than 16 sources.
    queued, in_flight, dropped
        Tuples that wait at the end, are between devices then, and that sources have dropped.
    queue_growth
        Tuples/s by which what waits between operators grew while measured.
    settled
        Whether throughput and queues, and so latency, had stopped changing; see `RunMetrics`.
    tick_s
        Seconds a tick: as told, or less.
    """

    latency_s: dict[str, float] | None
    path_mean_throughput: float | None
    queued: float
    in_flight: float
    dropped: float
    queue_growth: float
    settled: bool
    tick_s: float
