"""How things of ours show themselves: reprs that say what matters, tables where there is room.

Tables are made by `streamplace.display`, which is loaded when somebody looks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from reprlib import Repr
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from rich.console import RenderableType

NAME_LENGTH = 40
_CUT = Repr()
_CUT.maxstring = _CUT.maxlong = NAME_LENGTH


class Displayable:
    """A mixin: shows itself as tables to `rich.print` and in notebooks."""

    __slots__ = ()

    def __rich__(self) -> "RenderableType":
        """Return what rich prints."""
        from streamplace.display.terminal import in_rich  # noqa: PLC0415 - only for those who look

        return in_rich(self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: every name is text, and the size is bounded."""
        from streamplace.display.notebook import in_html  # noqa: PLC0415 - only for those who look

        return in_html(self)


class RoundedRepr:
    """A mixin: the repr of a dataclass with numbers to four digits."""

    __slots__ = ()

    def __repr__(self: "DataclassInstance") -> str:
        told = (f"{field.name}={_value(getattr(self, field.name))}" for field in fields(self))
        return f"{type(self).__name__}({', '.join(told)})"


class TruncatedRepr:
    """A mixin: the repr of a dataclass as Python's own, but long text and sequences are cut."""

    __slots__ = ()

    def __repr__(self: "DataclassInstance") -> str:
        told = (f"{field.name}={_CUT.repr(getattr(self, field.name))}" for field in fields(self))
        return f"{type(self).__name__}({', '.join(told)})"


def number(x: float) -> str:
    """Return a number to six digits, thousands apart."""
    return f"{x:,.6g}"


def quoted(name: str) -> str:
    """Return a name in quotes, with nothing that a terminal would obey, cut where it is long."""
    return repr(name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 1] + "…")


def several(names: Sequence[str], most: int, count: int | None = None) -> str:
    """Return the first of so many quoted names, and how many more there are."""
    more = (len(names) if count is None else count) - most
    return ", ".join(map(quoted, names[:most])) + (f" and {more:,} more" if more > 0 else "")


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines: the first column to the left, numbers to the right."""
    cells = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]


def _value(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
