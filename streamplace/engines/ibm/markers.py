"""Markers of streamsx: which operators share a PE, which do not, and where hashes are computed.

The rules are those by which com.ibm.streamsx.topology 2.2 generates SPL (``PEPlacement``,
``Preprocessor``), and what its functions guarantee (``TStream``).
"""

from collections.abc import Collection, Mapping, Sequence

UNION, PARALLEL, END_PARALLEL = "$Union$", "$Parallel$", "$EndParallel$"
LOW_LATENCY, END_LOW_LATENCY, ISOLATE = "$LowLatency$", "$EndLowLatency$", "$Isolate$"
MAX_MEMBERS = 1_000_000
Feeds = Mapping[str, Sequence[str]]
"""Operator or marker -> operators and markers that it feeds, or that feed it."""


def low_latency_groups(feeds: Feeds, kinds: Mapping[str, str]) -> list[list[str]]:
    """Return the groups of operators that low latency keeps in one PE.

    The operators behind a begin, up to an end, are one group with the operator before the begin,
    unless a parallel region or a union is between. So are those before an end, up to a begin, which
    joins nested regions. An isolation ends a group.

    Parameters
    ----------
    kinds
        Operator or marker -> its kind.

    Raises
    ------
    ValueError
        If the groups have more than a million members.
    """
    before, groups, members = _inputs_of(feeds), list[list[str]](), 0
    position = {name: i for i, name in enumerate(kinds)}
    for name, kind in kinds.items():
        found: list[str] = []
        if kind == LOW_LATENCY:
            found = _nearest(name, before, kinds, (UNION, PARALLEL, END_PARALLEL, ISOLATE))
            found += _operators_after(name, feeds, kinds, (END_LOW_LATENCY, ISOLATE))
        elif kind == END_LOW_LATENCY:
            found = _operators_after(name, before, kinds, (LOW_LATENCY, ISOLATE))
        members += len(found)
        if members > MAX_MEMBERS:
            raise ValueError(f"more than {MAX_MEMBERS:,} operators in regions of low latency")
        groups.append(sorted({*found}, key=position.__getitem__))
    return groups


def isolated_pairs(feeds: Feeds, kinds: Mapping[str, str]) -> list[list[str]]:
    """Return the pairs of operators directly before and behind an isolation, in different PEs."""
    before = _inputs_of(feeds)
    return [
        [a, b]
        for name, kind in kinds.items()
        if kind == ISOLATE
        for a in _nearest(name, before, kinds, ())
        for b in _nearest(name, feeds, kinds, ())
        if a != b
    ]


def with_hashes_inside(
    feeds: Feeds, kinds: Mapping[str, str], hashing: Collection[str]
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return feeds and kinds with hashes that are computed in the region before them.

    An operator that only computes the hash for the next region, and that only the end of a region
    feeds, runs before that end: each channel then sends to the channels of the next region. The end
    is repeated behind it.

    Parameters
    ----------
    hashing
        The operators that compute hashes.
    """
    before, all_kinds = _inputs_of(feeds), dict(kinds)
    found = {name: [*targets] for name, targets in feeds.items()}
    for name in hashing:
        senders = before[name]
        if len(senders) == 1 and kinds[end := senders[0]] == END_PARALLEL:
            repeated = f"{end} of {name}"
            while repeated in found:
                repeated += "'"
            all_kinds[repeated] = END_PARALLEL
            found[repeated], found[name] = found[name], [repeated]
            found[end].remove(name)
            for sender in before[end]:
                found[sender].append(name)
    return found, all_kinds


def is_marker(kind: str) -> bool:
    """Return whether something of this kind only marks streams or joins them, and does not run."""
    return kind.startswith("$")


def _inputs_of(feeds: Feeds) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {name: [] for name in feeds}
    for name, targets in feeds.items():
        for target in targets:
            found[target].append(name)
    return found


def _operators_after(
    start: str, feeds: Feeds, kinds: Mapping[str, str], ends: Collection[str]
) -> list[str]:
    """Return the operators that a marker reaches without passing markers of the kinds `ends`."""
    return _walk(start, feeds, kinds, ends, nearest=False)


def _nearest(
    start: str, feeds: Feeds, kinds: Mapping[str, str], ends: Collection[str]
) -> list[str]:
    """Return the first operators that a marker reaches; see `_operators_after`."""
    return _walk(start, feeds, kinds, ends, nearest=True)


def _walk(
    start: str, feeds: Feeds, kinds: Mapping[str, str], ends: Collection[str], *, nearest: bool
) -> list[str]:
    visited: dict[str, None] = {}
    waiting = [*feeds[start]]
    while waiting:
        name = waiting.pop()
        if name not in visited and kinds[name] not in ends:
            visited[name] = None
            if is_marker(kinds[name]) or not nearest:
                waiting += feeds[name]
    return [name for name in visited if not is_marker(kinds[name])]
