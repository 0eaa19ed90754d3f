"""Printable forms of untrusted text, such as names in a file."""

from unicodedata import bidirectional, category

CONTROLS = ("Cc", "Cs", "Zl", "Zp")
MARKS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
DIRECTIONS = "\u061c\u200e\u200f"


def printable(text: str) -> str:
    """Return text as one line without characters that control a terminal.

    Control characters, including those that change the writing direction, are replaced with Python
    escape sequences.
    """
    if text.isprintable():
        return text
    return "".join(ascii(c)[1:-1] if _is_control(c) else c for c in text)


def _is_control(c: str) -> bool:
    return category(c) in CONTROLS or bidirectional(c) in MARKS or c in DIRECTIONS


def counted(count: int, noun: str) -> str:
    """Return a count and its noun, which takes an s unless the count is 1."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
