"""Untrusted text: printable forms of it, counts in words, and decimal numbers."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from shlex import quote
from typing import NamedTuple
from unicodedata import bidirectional, category

from streamplace.errors import UsageError

CONTROLS = ("Cc", "Cs", "Zl", "Zp")
MARKS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
DIRECTIONS = "\u061c\u200e\u200f"
ELLIPSIS = "…"

MAX_NUMBER = 40  # characters of a refused number in a message
MAX_FAULTS = 20
"""Faults, or kinds of faults, that a message lists."""
FOLDED = 3
"""From how many faults of a kind on only the first place is shown; a guess."""

DECIMAL = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
"""Digits with an optional point and exponent; not ``1_000`` and ``nan``, which Python accepts."""
_GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+(?!\d)", re.ASCII)  # the begin of 1,500 or 1,500.5kB
_COMMA_IN_NUMBER = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")  # 1,000x2500


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


class PlacedFault(NamedTuple):
    """One of several faults.

    Parameters
    ----------
    place
        Where it is; empty: nowhere in particular.
    what
        What is wrong; it is equal for all faults of a kind.
    got
        The value that is wrong, which may differ between faults of a kind; empty: not shown.
    """

    place: str
    what: str
    got: str = ""

    def text(self, others: str = "") -> str:
        """Return the fault with its place, and what follows the place."""
        got = f" (got {self.got})" if self.got else ""
        return f"{self.place}{others}: {self.what}{got}" if self.place else f"{self.what}{got}"


def joined_faults(faults: Iterable[PlacedFault], count: int) -> str:
    """Return faults as one line; many of a kind are one phrase, with the first one's place.

    Parameters
    ----------
    faults
        All faults, or many of them.
    count
        The number of all faults; those that are not shown are counted.
    """
    found = [*faults]
    alike, folded, shown = Counter(fault.what for fault in found), set[str](), list[str]()
    for fault in found:
        if len(shown) == MAX_FAULTS:
            break
        if alike[fault.what] < FOLDED:
            shown.append(fault.text())
            count -= 1
        elif fault.what not in folded:
            folded.add(fault.what)
            shown.append(fault.text(f" and {alike[fault.what] - 1:,} more"))
            count -= alike[fault.what]
    if count:
        shown.append(f"and {counted(count, 'more fault')}")
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


def meant_thousands(text: str) -> str:
    """Return what a text with commas in numbers, such as 1,000x2500, means; empty without any."""
    other = _COMMA_IN_NUMBER.sub("", text)
    return f"did you mean {other[:30]!r}?" if other != text else ""


def without_commas(text: object, read: Callable[[str], object]) -> str:
    """Return what a number with commas means, as the end of a message; empty if it is none.

    Parameters
    ----------
    read
        Reads a number; raises an error if the text is none.
    """
    word = str(text)[:MAX_NUMBER].strip()
    others = [word.replace(",", "")] if _GROUPED.match(word) else []
    for other in (*others, word.replace(",", ".")):
        if other != word:
            with suppress(ValueError, UsageError):
                read(other)
                return f"; did you mean {other}?"
    return ""
