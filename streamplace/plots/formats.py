"""Kinds of pictures, by the names of files."""

from pathlib import Path

from streamplace.errors import UsageError
from streamplace.util.suggest import did_you_mean

KINDS = ("png", "svg", "pdf")


def kind_of(path: str | Path) -> str:
    """Return the kind of picture that a file's name stands for.

    Raises
    ------
    UsageError
        If it stands for none.
    """
    kind = Path(path).suffix.removeprefix(".").lower()
    if kind not in KINDS:
        message = f"a picture's name ends in .{', .'.join(KINDS)} (got {str(path)!r})"
        raise UsageError(message + did_you_mean(kind, KINDS))
    return kind
