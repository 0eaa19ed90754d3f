"""Ranges of the numbers of devices and networks."""

from streamplace.errors import ClusterError
from streamplace.util.checks import check_number

MIN_SPEED, MAX_VALUE = 1e-9, 1e15  # for MIPS and Mbit/s; beyond them arithmetic overflows
MAX_MEMORY_BYTES = 1e30


def check_range(what: str, value: float, minimum: float = 0.0, maximum: float = MAX_VALUE) -> None:
    """Raise ClusterError unless a value is a number in a range."""
    check_number(what, value, ClusterError)
    if not minimum <= value <= maximum:
        raise ClusterError(f"{what} must be {minimum:g} to {maximum:g} (got {value:g})")
