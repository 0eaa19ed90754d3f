"""Resources: amounts that devices offer and operators take, such as GPUs."""

from collections.abc import Iterator, Mapping

from streamplace.display.text import number
from streamplace.errors import StreamplaceError
from streamplace.util.checks import check_number, check_str, check_type

MAX_AMOUNT = 1e15


class Resources(Mapping[str, float]):
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
        is not a number from 0 to 1e15.
    """

    __slots__ = ("_amounts",)

    def __init__(
        self,
        amounts: Mapping[str, float],
        where: str = "resources",
        fault: type[StreamplaceError] = StreamplaceError,
    ) -> None:
        check_type(f"{where}:", amounts, Mapping, fault, 'for example {"gpu": 1}')
        for name, amount in amounts.items():
            _check(name, amount, where, fault)
        self._amounts = {name: float(amounts[name]) for name in sorted(amounts) if amounts[name]}

    def __getitem__(self, name: str) -> float:
        return self._amounts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._amounts)

    def __len__(self) -> int:
        return len(self._amounts)

    def __hash__(self) -> int:
        return hash(tuple(self._amounts.items()))

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
    check_str(f"{where}: a name", name, fault)
    if not name:
        raise fault(f"{where}: a name is empty")
    try:
        str(name).encode()
    except UnicodeEncodeError:
        raise fault(f"{where}: a name is not valid unicode text") from None
    what = f"{where}[{name!r:.40}]"
    check_number(what, amount, fault)
    if not 0 <= float(amount) <= MAX_AMOUNT:  # type: ignore[arg-type]  # it is a number
        raise fault(f"{what} must be 0 to {MAX_AMOUNT:g} (got {amount})")
