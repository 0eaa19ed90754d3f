"""Text from outside, such as names in a file, made safe to show: on a screen, a page, a picture."""

JOINER = "\u200d"  # of which some emoji are made; no control, though not printable


def printable(text: str) -> str:
    """Return a text on one line, without what a terminal would obey.

    Control characters, such that change the direction of writing among them, are spelled out as
    Python writes them.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == JOINER else ascii(c)[1:-1] for c in text)
