"""Mixins for the reprs and tables of result types."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from reprlib import Repr
from typing import TYPE_CHECKING, Any

from streamplace.display.text import NAME_LENGTH
from streamplace.display.view import View
from streamplace.util.added import distinguishing_fields
from streamplace.util.plugins import load_ours

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from rich.console import RenderableType

RENDERERS = {
    "terminal": "streamplace.display.terminal:render",
    "notebook": "streamplace.display.notebook:render",
}
"""Functions from a view to what is shown; a module is loaded at the first display, since most
values are never shown."""
DATA_FRAME = "streamplace.util.extras:load_data_frame"
"""Returns the class of pandas, which few install; loaded when a table is asked for."""
_TRUNCATING = Repr()
_TRUNCATING.maxstring = _TRUNCATING.maxlong = NAME_LENGTH


class Displayable(ABC):
    """A mixin for types whose reprs and tables come from a view."""

    __slots__ = ()

    @abstractmethod
    def _view(self) -> View:
        """Return the view of the value; rows of its tables are made when they are rendered."""

    def __repr__(self) -> str:
        return f"<{self._view()}>"

    def __rich__(self) -> "RenderableType":
        """Return the rendering for `rich.print`."""
        rendered: RenderableType = load_ours(RENDERERS["terminal"])(self._view())
        return rendered

    def _repr_html_(self) -> str:
        """Return the HTML for notebooks: names are escaped, and the size is bounded."""
        rendered: str = load_ours(RENDERERS["notebook"])(self._view())
        return rendered


class Tabular(ABC):
    """A mixin for types with a table, whose rows other programs can use."""

    __slots__ = ()

    @abstractmethod
    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows of the table: column -> number or text."""

    def to_frame(self) -> Any:
        """Return the rows of `to_records` as a ``pandas.DataFrame``.

        Raises
        ------
        UsageError
            If pandas is not installed.
        """
        return load_ours(DATA_FRAME)("to_frame()")(self.to_records())


def view_of(value: Displayable) -> View:
    """Return the view of a value."""
    return value._view()  # noqa: SLF001 - for renderers in other packages


class StableRepr:
    """A mixin: Python's repr of a dataclass, without fields added later that have their default.

    Hashes of such reprs are the same as before those fields existed; see `distinguishing_fields`.
    """

    __slots__ = ()

    def __repr__(self: "DataclassInstance") -> str:
        return _repr_of(self, repr)


class RoundedRepr:
    """A mixin: the repr of a dataclass, with numbers to four significant digits."""

    __slots__ = ()

    def __repr__(self: "DataclassInstance") -> str:
        return _repr_of(self, _rounded)


class TruncatedRepr:
    """A mixin: Python's repr of a dataclass, with long text and sequences cut."""

    __slots__ = ()

    def __repr__(self: "DataclassInstance") -> str:
        return _repr_of(self, _TRUNCATING.repr)


def _repr_of(value: "DataclassInstance", show: Callable[[object], str]) -> str:
    """Return the repr of a dataclass; `show` turns its values into text."""
    fields = [field for field in distinguishing_fields(value) if field.repr]
    values = (f"{field.name}={show(getattr(value, field.name))}" for field in fields)
    return f"{type(value).__name__}({', '.join(values)})"


def _rounded(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
