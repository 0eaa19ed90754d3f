"""What a placement puts on devices and links."""

from dataclasses import dataclass

from streamplace.display.mixins import RoundedRepr


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
