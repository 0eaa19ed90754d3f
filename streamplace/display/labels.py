"""Short labels for names; different names get different labels."""

from collections.abc import Sequence
from os.path import commonprefix

from streamplace.display.view import MAX_NAMES, Names
from streamplace.util.text import printable

ELLIPSIS = "…"
CONTEXT = 6  # characters kept around the part in which names differ
MORE_LENGTH = len(" and 9999 more")


def shortened(text: str, length: int) -> str:
    """Return a text cut in the middle to at most `length` characters.

    Both ends distinguish names such as ``metis-recursive-oracle``, ``policy:file=…:samples=16``.
    """
    text = printable(text)
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return text[: length - 1 - tail] + ELLIPSIS + text[len(text) - tail :]


def labels(names: Sequence[str], length: int) -> list[str]:
    """Return names cut to at most `length` characters, all of them different.

    Names whose labels would be equal are cut around the part in which they differ. Labels that are
    still equal are numbered.
    """
    found = [shortened(name, length) for name in names]
    alike: dict[str, list[int]] = {}
    for i, label in enumerate(found):
        alike.setdefault(label, []).append(i)
    for group in alike.values():
        if len(group) > 1:
            distinct = _differences([printable(names[i]) for i in group], length)
            for i, label in zip(group, distinct, strict=True):
                found[i] = shortened(label, length)
    used: set[str] = set()
    for i, name in enumerate(found):
        label, number = name, 1
        while label in used:
            number += 1
            mark = f" ({number})"
            label = shortened(name, length - len(mark)) + mark
        used.add(label)
        found[i] = label
    return found


def listed(names: Names, room: int) -> str:
    """Return the names that fit into `room` characters, and the number of the others."""
    found: list[str] = []
    for name in names.first[:MAX_NAMES]:
        left = room - sum(len(one) + len(names.between) for one in found)
        left -= MORE_LENGTH if len(found) + 1 < names.count else 0
        if len(name) > left and found:
            break
        found.append(shortened(name, max(left, 2)))
    more = names.count - len(found)
    return names.between.join(found) + (f" and {more} more" if more else "")


def _differences(names: list[str], length: int) -> list[str]:
    """Return the part in which names differ, with as much around it as `length` allows."""
    before = len(commonprefix(names))  # noqa: RUF071 - a prefix of characters, not of folders
    after = len(commonprefix([name[before:][::-1] for name in names]))  # noqa: RUF071
    found = []
    for name in names:
        first, last = max(0, before - CONTEXT), len(name) - max(0, after - CONTEXT)
        first = max(0, min(first, last - (length - 2)))
        last = min(len(name), max(last, first + length - 2))
        head, tail = ELLIPSIS if first else "", ELLIPSIS if last < len(name) else ""
        found.append(head + name[first:last] + tail)
    return found
