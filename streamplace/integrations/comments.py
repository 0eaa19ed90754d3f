"""Names in comments of exported files, which are one line of ASCII."""

from collections.abc import Sequence

from streamplace.problem.graph_checks import listed


def on_one_line(text: str) -> str:
    """Return a text without line breaks, with escapes for characters beyond ASCII."""
    return " ".join(text.split()).encode("ascii", "backslashreplace").decode()


def shown(names: Sequence[str]) -> str:
    """Return names for a comment: the first in quotes, and the number of others."""
    return on_one_line(listed(names))
