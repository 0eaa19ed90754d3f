"""Untrusted text: printable forms of it, counts in words, and decimal numbers."""

import re
from collections.abc import Sequence
from shlex import quote
from unicodedata import bidirectional, category

CONTROLS = ("Cc", "Cs", "Zl", "Zp")
MARKS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
DIRECTIONS = "\u061c\u200e\u200f"
ELLIPSIS = "…"

MAX_FAULTS = 20
"""Faults that a message lists."""

DECIMAL = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
"""Digits with an optional point and exponent; not ``1_000`` and ``nan``, which Python accepts."""


def printable(text: str) -> str:
    """Return text as one line without characters that control a terminal.

    Control characters, including those that change the writing direction, are replaced with Python
    escape sequences.
    """
    if text.isprintable():
        return text
    return "".join(ascii(c)[1:-1] if _is_control(c) else c for c in text)


def shortened(text: str, length: int) -> str:
    """Return text as `printable` does, cut in the middle to at most `length` characters.

    Both ends distinguish names such as ``metis-recursive-oracle``, ``policy:file=…:samples=16``.
    """
    text = printable(text)
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return text[: length - 1 - tail] + ELLIPSIS + text[len(text) - tail :]


def file_in_shell(name: str) -> str:
    """Return a file's name as a word of a command line, which is no option; ``-`` is stdin."""
    return quote(f"./{name}" if name.startswith("-") and name != "-" else name)


def _is_control(c: str) -> bool:
    return category(c) in CONTROLS or bidirectional(c) in MARKS or c in DIRECTIONS


def joined_faults(first: Sequence[str], count: int) -> str:
    """Return the first `MAX_FAULTS` of several faults as one line; the others are counted."""
    shown = [*first[:MAX_FAULTS]]
    if more := count - len(shown):
        shown.append(f"and {counted(more, 'more fault')}")
    return "; ".join(shown)


def counted(count: int, noun: str) -> str:
    """Return a count and its noun, which takes an s unless the count is 1."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def numbered(names: Sequence[str]) -> list[str]:
    """Return the names with ``#2``, ``#3``, … after those that repeat an earlier one."""
    used: set[str] = set()
    count: dict[str, int] = {}
    found = []
    for name in names:
        unique = name
        while unique in used:
            count[name] = count.get(name, 1) + 1
            unique = f"{name}#{count[name]}"
        used.add(unique)
        found.append(unique)
    return found
