"""Mappings by name, which are immutable, and resources: amounts that devices offer."""

import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

from streamplace.display.text import byte_count, number
from streamplace.errors import StreamplaceError
from streamplace.util.checks import check_number, check_str, check_type

Value = TypeVar("Value")
IN_BYTES = re.compile("ephemeral-storage|hugepages-[1-9][0-9]*[KMG]i")
"""Kubernetes's own resources, which are in bytes."""
MAX_AMOUNT = 1e15
MIN_AMOUNT = 1e-6  # fractions are counted in millionths, so less would count as nothing


class NamedValues(Mapping[str, Value]):
    """A read-only mapping; subclasses set its values, sorted by name."""

    __slots__ = ("_values",)
    _values: dict[str, Value]

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __repr__(self) -> str:
        return repr(self._values)


def check_name(what: str, name: object, fault: type[StreamplaceError]) -> None:
    """Refuse a name that is not text, is empty or cannot be encoded, as `fault`."""
    check_str(what, name, fault)
    if not name:
        raise fault(f"{what} is empty")
    try:
        str(name).encode()
    except UnicodeEncodeError:
        raise fault(f"{what} is not valid unicode text") from None


class Resources(NamedValues[float]):
    """Amounts by name, such as ``{"gpu": 1}``; immutable and hashable.

    Names are sorted, and amounts of 0 are left out, because an absent name stands for 0.

    Parameters
    ----------
    amounts
        Name -> amount.
    where
        The place that messages begin with.
    fault
        The error to raise.

    Raises
    ------
    StreamplaceError
        As `fault`, if `amounts` is not a mapping, a name is empty or not valid text, or an amount
        is not 0 and not a number from 1e-6 to 1e15.
    """

    __slots__ = ()

    def __init__(
        self,
        amounts: Mapping[str, float],
        where: str = "resources",
        fault: type[StreamplaceError] = StreamplaceError,
    ) -> None:
        check_type(f"{where}:", amounts, Mapping, fault, 'for example {"gpu": 1}')
        for name, amount in amounts.items():
            _check(name, amount, where, fault)
        self._values = {name: float(amounts[name]) for name in sorted(amounts) if amounts[name]}

    def __repr__(self) -> str:
        return repr(whole_amounts(self))


NO_RESOURCES = Resources({})


def whole_amounts(resources: Mapping[str, float]) -> dict[str, float]:
    """Return resources as a JSON value, in which whole amounts are integers."""
    return {n: int(x) if float(x).is_integer() else x for n, x in resources.items()}


def amounts_text(resources: Mapping[str, float]) -> str:
    """Return resources in words, such as ``1 gpu, 0.5 fpga``."""
    return ", ".join(f"{amount_text(name, x)} {name}" for name, x in resources.items())


def amount_text(name: str, amount: float, digits: int = 3) -> str:
    """Return an amount of a resource without its name; bytes to some significant digits."""
    return byte_count(amount, digits) if IN_BYTES.fullmatch(name) else number(amount)


def _check(name: object, amount: object, where: str, fault: type[StreamplaceError]) -> None:
    """Refuse a name or an amount that is not valid."""
    check_name(f"{where}: a name", name, fault)
    what = f"{where}[{name!r:.40}]"
    check_number(what, amount, fault)
    if not 0 <= float(amount) <= MAX_AMOUNT:  # type: ignore[arg-type]  # it is a number
        raise fault(f"{what} must be 0 to {MAX_AMOUNT:g} (got {amount})")
    if 0 < float(amount) < MIN_AMOUNT:  # type: ignore[arg-type]
        least = f"must be 0 or at least {MIN_AMOUNT:g}, since fractions count in millionths"
        raise fault(f"{what} {least} (got {amount})")
