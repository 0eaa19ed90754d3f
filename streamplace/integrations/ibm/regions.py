"""Parallel regions of IBM Streams: enclosing regions, channels and distributions."""

from collections.abc import Mapping, Sequence
from math import prod

from streamplace.integrations.logical_builder import MAX_PARALLELISM
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import AnyDistribution, Distribution, GroupedDistribution

MAX_DEPTH = 1_000
Enclosing = tuple[str, ...]
"""The parallel regions around an operator, outermost first, each named by its first element."""


def regions(
    feeds: Mapping[str, Sequence[str]], widths: Mapping[str, int], ends: frozenset[str]
) -> dict[str, Enclosing]:
    """Return operator or marker -> its enclosing regions, derived from the streams through markers.

    Parameters
    ----------
    feeds
        Operator or marker -> operators and markers that it feeds; all of them are keys.
    widths
        Marker or operator that begins a region -> its number of channels.
    ends
        Markers that end the innermost region.

    Raises
    ------
    ValueError
        If regions are nested more than a thousand deep.
    """
    fed = {target for targets in feeds.values() for target in targets}
    entered: dict[str, Enclosing] = {name: () for name in feeds if name not in fed}
    merged: dict[str, str] = {}  # region -> the region that it was merged into
    found: dict[str, Enclosing] = {}
    waiting = [*entered]
    while waiting:
        name = waiting.pop()
        inside = entered[name]
        if name in ends:
            inside = inside[:-1]
        elif name in widths:
            inside = (*inside, name)
        if len(inside) > MAX_DEPTH:
            raise ValueError(f"parallel regions are nested more than {MAX_DEPTH:,} deep")
        found[name] = inside
        for target in feeds[name]:
            if target not in entered:
                entered[target] = inside
                waiting.append(target)
            else:
                _unite(entered[target], inside, widths, merged)
    return {
        name: tuple(_first(region, merged) for region in inside if widths[region] > 1)
        for name, inside in found.items()
    }


def width_notes(submitted: Mapping[str, int | None]) -> list[str]:
    """Return the notes about regions whose width is set at submission.

    Parameters
    ----------
    submitted
        Operator or marker that begins such a region -> the default width; None if it has none.
    """
    stated = [name for name, width in submitted.items() if width]
    unknown = [name for name, width in submitted.items() if not width]
    return [
        f"the width of parallel regions that begin at {listed(names)} is set at submission, and "
        f"{what} assumed; --costs may state the parallelism of their operators"
        for names, what in ((stated, "its default is"), (unknown, "one channel is"))
        if names
    ]


def channels(enclosing: Enclosing, widths: Mapping[str, int]) -> int:
    """Return the number of channels in which an operator runs.

    Raises
    ------
    ValueError
        If there are more than 100,000.
    """
    count = 1
    for region in enclosing:
        count *= widths[region]
        if count > MAX_PARALLELISM:
            raise ValueError(f"more than {MAX_PARALLELISM:,} channels")
    return count


def distribution_between(
    source: Enclosing, target: Enclosing, widths: Mapping[str, int], copies: int
) -> AnyDistribution:
    """Return the distribution of a stream between operators in regions.

    A channel feeds the channels of its target inside the regions that enclose both. Every channel
    that leaves regions has its own splitters into the regions that the stream enters; `copies` is
    the number of channels that receive each tuple from them.

    Raises
    ------
    ValueError
        If there are more than 100,000 copies.
    """
    if copies > MAX_PARALLELISM:
        raise ValueError(f"more than {MAX_PARALLELISM:,} copies of a tuple")
    shared = 0
    while source[shared : shared + 1] == target[shared : shared + 1] != ():
        shared += 1
    groups = prod(widths[region] for region in target[:shared])
    senders = prod(widths[region] for region in source[shared:])
    receivers = prod(widths[region] for region in target[shared:])
    if groups == copies == 1:
        return Distribution.ALL
    if groups == 1 and copies == receivers:
        return Distribution.BROADCAST
    if copies == 1 and 1 in (senders, receivers):
        return Distribution.POINTWISE
    return GroupedDistribution(groups, copies)


def _unite(
    first_path: Enclosing, second_path: Enclosing, widths: Mapping[str, int], merged: dict[str, str]
) -> None:
    """Merge the regions of two paths that lead to the same operator, if their widths agree."""
    if [widths[region] for region in first_path] == [widths[region] for region in second_path]:
        for a, b in zip(first_path, second_path, strict=True):
            first, second = _first(a, merged), _first(b, merged)
            if first != second:
                merged[second] = first


def _first(region: str, merged: Mapping[str, str]) -> str:
    while region in merged:
        region = merged[region]
    return region
