"""Parallel regions of IBM Streams: who is in which, how many channels it has, who feeds whom."""

from collections.abc import Mapping, Sequence
from math import prod

from streamplace.problem.logical import Distribution, Grouped, Way

MOST = 100_000
DEEPEST = 1_000
Around = tuple[str, ...]
"""The regions of several channels that an operator is in, outermost first, by who begins them."""


def regions(
    feeds: Mapping[str, Sequence[str]], widths: Mapping[str, int], ends: frozenset[str]
) -> dict[str, Around]:
    """Return operator or marker -> the regions it is in, where streams through markers tell them.

    Parameters
    ----------
    feeds
        Operator or marker -> those it feeds; every one is in it.
    widths
        Marker that begins a region, or operator that begins one with itself -> its channels.
    ends
        Markers that end the innermost region.

    Raises
    ------
    ValueError
        If more than a thousand regions are in one another.
    """
    fed = {target for targets in feeds.values() for target in targets}
    entered: dict[str, Around] = {name: () for name in feeds if name not in fed}
    same: dict[str, str] = {}
    found: dict[str, Around] = {}
    waiting = [*entered]
    while waiting:
        name = waiting.pop()
        inside = entered[name]
        if name in ends:
            inside = inside[:-1]
        elif name in widths:
            inside = (*inside, name)
        if len(inside) > DEEPEST:
            raise ValueError(f"more than {DEEPEST:,} parallel regions in one another")
        found[name] = inside
        for target in feeds[name]:
            if target not in entered:
                entered[target] = inside
                waiting.append(target)
            else:
                _unite(entered[target], inside, widths, same)
    return {
        name: tuple(_first(region, same) for region in inside if widths[region] > 1)
        for name, inside in found.items()
    }


def channels(around: Around, widths: Mapping[str, int]) -> int:
    """Return in how many channels an operator runs.

    Raises
    ------
    ValueError
        If there are more than 100,000.
    """
    count = 1
    for region in around:
        count *= widths[region]
        if count > MOST:
            raise ValueError(f"more than {MOST:,} channels")
    return count


def spread(source: Around, target: Around, widths: Mapping[str, int], copies: int) -> Way:
    """Return how a stream is spread: a channel feeds those of its target in the regions of both.

    Every channel that leaves regions has splitters of its own into those that begin. `copies` is
    how many channels get each tuple from them.

    Raises
    ------
    ValueError
        On more than 100,000 copies.
    """
    if copies > MOST:
        raise ValueError(f"more than {MOST:,} copies of a tuple")
    shared = 0
    while source[shared : shared + 1] == target[shared : shared + 1] != ():
        shared += 1
    groups = prod(widths[region] for region in target[:shared])
    senders = prod(widths[region] for region in source[shared:])
    takers = prod(widths[region] for region in target[shared:])
    if groups == copies == 1:
        return Distribution.ALL
    if groups == 1 and copies == takers:
        return Distribution.BROADCAST
    if copies == 1 and 1 in (senders, takers):
        return Distribution.POINTWISE
    return Grouped(groups, copies)


def _unite(there: Around, here: Around, widths: Mapping[str, int], same: dict[str, str]) -> None:
    """Note that an operator is in one region, whichever of its beginnings it is reached from."""
    if [widths[region] for region in there] == [widths[region] for region in here]:
        for a, b in zip(there, here, strict=True):
            first, second = _first(a, same), _first(b, same)
            if first != second:
                same[second] = first


def _first(region: str, same: Mapping[str, str]) -> str:
    while region in same:
        region = same[region]
    return region
