"""Safe text: outside text, such as names in a file, with nothing that a terminal obeys."""

from unicodedata import bidirectional, category

CONTROLS = ("Cc", "Cs", "Zl", "Zp")
MARKS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
DIRECTIONS = "\u061c\u200e\u200f"


def printable(text: str) -> str:
    """Return a text on one line, without what a terminal would obey.

    Control characters, such that change the direction of writing among them, are spelled out as
    Python writes them.
    """
    if text.isprintable():
        return text
    return "".join(ascii(c)[1:-1] if _is_obeyed(c) else c for c in text)


def _is_obeyed(c: str) -> bool:
    return category(c) in CONTROLS or bidirectional(c) in MARKS or c in DIRECTIONS
