"""Mixins that give values their reprs and tables."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from reprlib import Repr
from typing import TYPE_CHECKING

from streamplace.display import notebook
from streamplace.display.text import NAME_LENGTH
from streamplace.display.view import View
from streamplace.util.added import telling_fields

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from rich.console import RenderableType

_TRUNCATING = Repr()
_TRUNCATING.maxstring = _TRUNCATING.maxlong = NAME_LENGTH


class Displayable(ABC):
    """A mixin for values that describe themselves by a view."""

    __slots__ = ()

    @abstractmethod
    def _view(self) -> View:
        """Return what the value shows of itself; tables in it are not made yet."""

    def __repr__(self) -> str:
        return f"<{self._view()}>"

    def __rich__(self) -> "RenderableType":
        """Return what `rich.print` prints."""
        from streamplace.display import terminal  # noqa: PLC0415 - a repr needs no rich

        return terminal.render(self._view())

    def _repr_html_(self) -> str:
        """Return what a notebook shows: all names are text, and the size is bounded."""
        return notebook.render(self._view())


def view_of(value: Displayable) -> View:
    """Return what a value shows of itself."""
    return value._view()  # noqa: SLF001 - for renderers elsewhere, such as the command line's


class TellingRepr:
    """A mixin: the repr of a dataclass as Python's own, without added fields at their default.

    What is hashed of such reprs stays as it was before fields were added; see `telling_fields`.
    """

    __slots__ = ()

    def __repr__(self: "DataclassInstance") -> str:
        return _repr_of(self, repr)


class RoundedRepr:
    """A mixin: the repr of a dataclass with numbers to four digits."""

    __slots__ = ()

    def __repr__(self: "DataclassInstance") -> str:
        return _repr_of(self, _rounded)


class TruncatedRepr:
    """A mixin: the repr of a dataclass as Python's own, but long text and sequences are cut."""

    __slots__ = ()

    def __repr__(self: "DataclassInstance") -> str:
        return _repr_of(self, _TRUNCATING.repr)


def _repr_of(value: "DataclassInstance", show: Callable[[object], str]) -> str:
    """Return the repr of a dataclass whose values a function shows."""
    fields = telling_fields(value)
    values = (f"{field.name}={show(getattr(value, field.name))}" for field in fields)
    return f"{type(value).__name__}({', '.join(values)})"


def _rounded(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
