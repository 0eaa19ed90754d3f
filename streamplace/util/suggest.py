"""Suggestions for unknown names, and for files that are missing."""

import os
from collections.abc import Iterable, Sequence
from itertools import islice

MAX_NAMES = 20_000  # names compared; more would take too long for an error message
MAX_DEPTH = 100  # folders around a file that is compared
MAX_LENGTH = 100  # characters of a name; longer ones are not compared
LEAST_LIKENESS = 0.6  # difflib's default
NEAR = 0.75  # of what differs more often, such as commands: 'generate' is no 'migrate'
NAMES_SHOWN = 5  # candidates in a message, if no name is similar


def closest_match(word: object, names: Iterable[str], least: float = LEAST_LIKENESS) -> str | None:
    """Return the name that a word was probably meant to be; None if no name is similar.

    The comparison ignores case. If several names are equally similar, the first one is returned.

    Parameters
    ----------
    least
        The least similarity, 0 to 1, as difflib measures it.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - needed for errors only

    if not isinstance(word, str) or not 0 < len(word) <= MAX_LENGTH:
        return None
    known: dict[str, str] = {}
    for name in names:
        if len(known) == MAX_NAMES:
            return None
        if len(name) <= MAX_LENGTH:
            known.setdefault(name.casefold(), name)
    found = get_close_matches(word.casefold(), known, n=1, cutoff=least)
    return known[found[0]] if found else None


def did_you_mean(word: object, names: Iterable[str], least: float = LEAST_LIKENESS) -> str:
    """Return ``; did you mean 'name'?``, or an empty string if no name is similar."""
    found = closest_match(word, names, least)
    return "" if found is None else f"; did you mean {found!r}?"


def with_words(word: str, names: Iterable[str]) -> list[str]:
    """Return the names that have all words of a name; hyphens separate words."""
    words = {*word.casefold().split("-")}
    return [name for name in names if words <= {*name.casefold().split("-")}]


def candidates(word: object, names: Sequence[str]) -> str:
    """Return the end of a message about an unknown name: the most similar one, or some of all."""
    shown = ", ".join(repr(name) for name in names[:NAMES_SHOWN])
    more = f" and {len(names) - NAMES_SHOWN:,} more" if len(names) > NAMES_SHOWN else ""
    return did_you_mean(word, names) or f"; known: {shown}{more}"


def valid_choices(word: str, names: Sequence[str], or_else: str = "") -> str:
    """Return the end of a message about an unknown word: the most similar name, or all names.

    Parameters
    ----------
    or_else
        What else is valid, such as ``or a .toml file``.
    """
    choices = ", ".join((*names, or_else) if or_else else names)
    return did_you_mean(word, names) or f"; choose from {choices}"


def near_file(path: str | os.PathLike[str]) -> str:
    """Return ``; did you mean 'folder/name'?`` for a missing file, or an empty string.

    A link to a missing file is named instead.
    """
    if os.path.islink(path):
        return f"; it is a link to {os.readlink(path)!r}, which is missing"
    is_compared = os.fspath(path).count(os.sep) <= MAX_DEPTH and not os.path.exists(path)
    found = _near_path(os.fspath(path)) if is_compared else None
    return "" if found is None else f"; did you mean {found!r}?"


def _near_path(path: str) -> str | None:
    """Return the existing path whose parts are most similar to those of a missing one.

    Names are compared without their endings first, in which names of unlike files agree.
    """
    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        near = _near_path(folder)
        if near is None or os.path.exists(os.path.join(near, name)):
            return near and os.path.join(near, name)
        folder = near
    by_stem: dict[str, list[str]] = {}
    try:
        with os.scandir(folder or os.curdir) as entries:
            for entry in islice(entries, MAX_NAMES):
                by_stem.setdefault(entry.name.partition(".")[0], []).append(entry.name)
    except OSError:
        return None
    stem = closest_match(name.partition(".")[0], sorted(by_stem), NEAR)
    meant = None if stem is None else closest_match(name, by_stem[stem], 0)
    return None if meant is None else os.path.join(folder, meant)
