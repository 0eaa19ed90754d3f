"""Scores: what a placement achieves."""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any

from streamplace.display.mixins import Displayable, number, quoted
from streamplace.scoring.loads import Bottleneck, DeviceLoad, LinkLoad


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
