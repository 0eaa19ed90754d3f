"""Read-only mappings from names to values, which can be compared and hashed."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from streamplace.errors import StreamplaceError
from streamplace.util.checks import check_str

Value = TypeVar("Value")


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
