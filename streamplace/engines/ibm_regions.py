"""Parallel regions of IBM Streams: how many channels each operator is in."""

from collections.abc import Mapping, Sequence

MOST = 100_000


def channels(
    feeds: Mapping[str, Sequence[str]], widths: Mapping[str, int], ends: frozenset[str]
) -> dict[str, int]:
    """Return how many channels each operator runs in.

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
        If regions in regions have more than 100,000 channels.
    """
    fed = {target for targets in feeds.values() for target in targets}
    around: dict[str, tuple[int, ...]] = {name: () for name in feeds if name not in fed}
    waiting = [*around]
    count: dict[str, int] = {}
    while waiting:
        name = waiting.pop()
        regions = around[name]
        if name in ends:
            regions = regions[:-1]
        elif name in widths:
            regions = (*regions, widths[name])
        count[name] = 1
        for width in regions:
            count[name] *= width
            if count[name] > MOST:
                raise ValueError(f"more than {MOST:,} channels")
        for target in feeds[name]:
            if target not in around:
                around[target] = regions
                waiting.append(target)
    return count
