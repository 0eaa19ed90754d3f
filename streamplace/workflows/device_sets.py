"""The cheapest set of devices that sustains a source rate, and losses of single devices."""

from dataclasses import dataclass
from typing import Any

from streamplace.display.mixins import RoundedRepr
from streamplace.display.text import number, percent_reached, percent_up, rounded_down
from streamplace.problem.placement import Placement
from streamplace.util.text import counted


@dataclass(frozen=True, repr=False)
class DeviceLoss(RoundedRepr):
    """What a set of devices still carries after the loss of one of them.

    Parameters
    ----------
    device
        Name of the device that is lost.
    max_source_rate
        Source rate in tuples/s that the best placement found on the others sustains; 0 if none was
        found that satisfies the constraints.
    relative_throughput
        Throughput / planned source rate, at that rate and under the model.
    """

    device: str
    max_source_rate: float
    relative_throughput: float

    @property
    def rank(self) -> tuple[float, float]:
        """A key by which a loss is less severe."""
        return self.relative_throughput, self.max_source_rate

    def cells(self) -> tuple[str, ...]:
        """Return the cells of a table's row."""
        return (
            self.device,
            rounded_down(self.max_source_rate),
            percent_reached(self.relative_throughput),
        )


@dataclass(frozen=True, repr=False)
class CheapestSet(RoundedRepr):
    """The cheapest set of devices found that keeps up, with a lower bound on the price.

    Parameters
    ----------
    devices, unused
        Names of its devices, and of the other devices of the cluster.
    price
        Total price of the set, per unit of time.
    bound
        A proven lower bound on the price of any set that keeps up.
    placement
        A placement on these devices that carries the source rate.
    """

    devices: tuple[str, ...]
    unused: tuple[str, ...]
    price: float
    bound: float
    placement: Placement

    @property
    def gap(self) -> float:
        """1 - bound / price; 0 where the set is proven to be the cheapest."""
        return max(0.0, 1.0 - self.bound / self.price) if self.price > 0 else 0.0

    def headline(self, rate: str) -> str:
        """Return the set's price and the proof in words, for a source rate in words."""
        count = counted(len(self.devices), "device")
        keep = "keep" if len(self.devices) > 1 else "keeps"
        text = f"{count} {keep} up with {rate} at a price of {number(self.price)}, "
        if self.gap == 0.0:
            return text + "the lowest possible (proven)"
        least = f"proven: at least {rounded_down(self.bound)}"
        return text + f"which could be at most {percent_up(self.gap)} lower ({least})"

    def to_dict(self) -> dict[str, Any]:
        """Return the entry ``cheapest`` of `plan --json`."""
        return {
            "devices": list(self.devices),
            "price": self.price,
            "bound": self.bound,
            "gap": self.gap,
        }
