"""Devices: machines that run operators."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamplace.display.mixins import TruncatedRepr
from streamplace.errors import ClusterError
from streamplace.problem.operators import MAX_CORES
from streamplace.problem.resources import NO_RESOURCES, Resources
from streamplace.util.added import added_field
from streamplace.util.checks import check_range, check_str, set_plain_numbers

MIN_SPEED = 1e-9  # for MIPS and Mbit/s; below it arithmetic overflows
MAX_MEMORY_BYTES = 1e30
MAX_SLOTS = 1_000_000
NUMBERS = (
    "mips",
    "cores",
    "memory_bytes",
    "price",
    "startup_s",
    "overhead_s_per_byte",
    "slots",
)


@dataclass(frozen=True, repr=False)
class Device(TruncatedRepr):
    """A machine that runs operators.

    Parameters
    ----------
    mips
        Speed of one core, in million instructions per second.
    cores
        Number of cores. An operator uses as many of them as its own `cores`, 1 by default.
    memory_bytes
        Memory in bytes; None means no limit.
    labels
        Labels that operators may require (`Operator.requires`).
    group
        The group of devices that it belongs to, such as its rack; None: it is in no group.
    resources
        Resource -> the amount that it offers, such as ``{"gpu": 1}``; without a name, it offers 0.
    price
        Cost per unit of time, such as per hour, in the same unit for all devices. `plan` uses it,
        and `place` where placements are equally good. None: it has no price, which differs from a
        price of 0.
    kind
        Kind of device, such as ``cpu`` or ``gpu``: a key of `Operator.seconds_on`. None: it has
        none, so that every operator takes its instructions.
    startup_s
        Seconds for which the cores of an operator rest after it, before the next operator may start
        on them. Only makespans use it.
    slots
        Number of operators that may run on it, such as the task slots of a TaskManager with one
        operator each; None: any number.
    overhead_s_per_byte
        Seconds that one core spends per byte of a message that the device sends or receives; None
        stands for the value of `Network`.

    Raises
    ------
    ClusterError
        On an empty name, group or kind, or a number that is out of range.
    """

    name: str
    mips: float
    cores: int = 1
    memory_bytes: float | None = None
    labels: tuple[str, ...] = ()
    group: str | None = added_field(None)
    resources: Mapping[str, float] = added_field(NO_RESOURCES)
    price: float | None = added_field(None)
    kind: str | None = added_field(None)
    startup_s: float = added_field(0.0)
    overhead_s_per_byte: float | None = added_field(None)
    slots: int | None = added_field(None)

    def __post_init__(self) -> None:
        check_str("device: name", self.name, ClusterError)
        if not self.name:
            raise ClusterError("a device's name is empty")
        set_plain_numbers(self, NUMBERS)
        where = f"device {self.name!r}"
        check_range(f"{where}: mips", self.mips, ClusterError, minimum=MIN_SPEED)
        if isinstance(self.labels, str):
            raise ClusterError(f"{where}: labels must be a list, not text")
        object.__setattr__(self, "labels", tuple(self.labels))
        resources = Resources(self.resources, f"{where}: resources", ClusterError)
        object.__setattr__(self, "resources", resources)
        for what in ("group", "kind"):
            self._check_optional_name(what)
        _check_whole(where, "cores", self.cores, 1, MAX_CORES)
        if self.memory_bytes is not None:
            check_range(
                f"{where}: memory_bytes", self.memory_bytes, ClusterError, maximum=MAX_MEMORY_BYTES
            )
        if self.slots is not None:
            _check_whole(where, "slots", self.slots, 0, MAX_SLOTS)
        if self.price is not None:
            check_range(f"{where}: price", self.price, ClusterError)
        check_range(f"{where}: startup_s", self.startup_s, ClusterError)
        if self.overhead_s_per_byte is not None:
            check_range(f"{where}: overhead_s_per_byte", self.overhead_s_per_byte, ClusterError)

    def _check_optional_name(self, what: str) -> None:
        """Refuse the name of a group or kind that is not text, or empty."""
        name = getattr(self, what)
        if name is not None:
            check_str(f"device {self.name!r}: {what}", name, ClusterError)
            if not name:
                raise ClusterError(f"device {self.name!r}: the {what}'s name is empty")


def _check_whole(where: str, what: str, value: object, least: int, most: int) -> None:
    """Refuse a number of cores or slots that is not whole, or out of range."""
    if isinstance(value, bool) or not (isinstance(value, int) and least <= value <= most):
        wanted = f"{what} must be a whole number from {least} to {most} (got {value!r:.40})"
        raise ClusterError(f"{where}: {wanted}")
