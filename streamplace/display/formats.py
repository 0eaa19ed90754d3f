"""Formats of pictures and tables by file suffix."""

from collections.abc import Sequence
from pathlib import Path

from streamplace.errors import UsageError
from streamplace.util.suggest import did_you_mean

KINDS = ("png", "svg", "pdf")
TABLES = ("csv", "md", "tex")


def kind_of(path: str | Path, kinds: Sequence[str] = KINDS, what: str = "picture") -> str:
    """Return the format of a file, one of some kinds, by its suffix.

    Raises
    ------
    UsageError
        If the suffix is not a known format, or the path is ``-``, which is stdout.
    """
    if str(path) == "-":
        *most, last = (f".{kind}" for kind in kinds)
        names = f"{', '.join(most)} or {last}"
        raise UsageError(f"cannot write a {what} to stdout; name a {names} file")
    kind = Path(path).suffix.removeprefix(".").lower()
    if not kind:
        names = ", ".join(f".{one}" for one in kinds)
        raise UsageError(f"{str(path)!r}: the name has no ending; choose from {names}")
    if kind not in kinds:
        hint = did_you_mean(kind, kinds) or f"; choose from {', '.join(kinds)}"
        raise UsageError(f"{str(path)!r}: unknown {what} format {kind!r}{hint}")
    return kind
