"""Picture formats, by file suffix."""

from pathlib import Path

from streamplace.errors import UsageError
from streamplace.util.suggest import did_you_mean

KINDS = ("png", "svg", "pdf")


def kind_of(path: str | Path) -> str:
    """Return the picture format of a file, by its suffix.

    Raises
    ------
    UsageError
        If the suffix is not a known format, or the path is ``-``, which is stdout.
    """
    if str(path) == "-":
        *most, last = (f".{kind}" for kind in KINDS)
        names = f"{', '.join(most)} or {last}"
        raise UsageError(f"cannot write a picture to stdout; name a {names} file")
    kind = Path(path).suffix.removeprefix(".").lower()
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS) or f"; choose from {', '.join(KINDS)}"
        raise UsageError(f"{str(path)!r}: unknown picture format {kind!r}{hint}")
    return kind
