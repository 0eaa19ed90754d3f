"""Suggestions for unknown names."""

from collections.abc import Iterable, Sequence

MOST_NAMES = 20_000  # compared; more would take longer than people wait for an error
LONGEST = 100  # letters; nobody mistypes longer names
CLOSE = 0.6  # difflib's own


def closest_match(word: object, names: Iterable[str]) -> str | None:
    """Return the name that a word was probably meant to be; None if none is near.

    Capitals count for nothing. Of names equally near the first is taken.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only those who erred pay for it

    if not isinstance(word, str) or not 0 < len(word) <= LONGEST:
        return None
    known: dict[str, str] = {}
    for name in names:
        if len(known) == MOST_NAMES:
            return None
        if len(name) <= LONGEST:
            known.setdefault(name.casefold(), name)
    found = get_close_matches(word.casefold(), known, n=1, cutoff=CLOSE)
    return known[found[0]] if found else None


def did_you_mean(word: object, names: Iterable[str]) -> str:
    """Return ``; did you mean 'name'?``, or nothing where no name is near."""
    found = closest_match(word, names)
    return "" if found is None else f"; did you mean {found!r}?"


def valid_choices(word: str, names: Sequence[str], or_else: str = "") -> str:
    """Return what may stand in a word's place: the nearest name, or else all there are.

    Parameters
    ----------
    or_else
        What may stand there besides names, such as ``or a .toml file``.
    """
    there = ", ".join((*names, or_else) if or_else else names)
    return did_you_mean(word, names) or f"; there are {there}"
