"""Resources: amounts that devices offer and operators take, such as GPUs."""

from collections.abc import Mapping

from streamplace.display.text import number
from streamplace.errors import StreamplaceError
from streamplace.problem.named_values import NamedValues, check_name
from streamplace.util.checks import check_number, check_type

MAX_AMOUNT = 1e15
MIN_AMOUNT = 1e-6  # fractions are counted in millionths, so less would count as nothing


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
    return ", ".join(f"{number(amount)} {name}" for name, amount in resources.items())


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
