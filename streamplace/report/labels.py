"""Names as labels: cut where they are long, never into the same."""

from collections.abc import Sequence
from unicodedata import category

ELLIPSIS = "…"


def plain(text: str) -> str:
    """Return a text without control characters: what they stand for, as Python writes them."""
    return "".join(
        c if category(c) not in ("Cc", "Zl", "Zp") else c.encode("unicode_escape").decode()
        for c in text
    )


def shortened(text: str, length: int) -> str:
    """Return at most so many letters of a text: its beginning and its end.

    Both tell names apart: ``metis-recursive-oracle``, ``policy:file=…:samples=16``.
    """
    text = plain(text)
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return text[: length - 1 - tail] + ELLIPSIS + text[len(text) - tail :]


def labels(names: Sequence[str], length: int) -> list[str]:
    """Return shortened names, numbered where two would look the same."""
    found: list[str] = []
    for name in names:
        label, number = shortened(name, length), 1
        while label in found:
            number += 1
            label = f"{shortened(name, length - 4)} ({number})"
        found.append(label)
    return found
