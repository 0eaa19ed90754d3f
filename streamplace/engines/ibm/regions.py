"""Parallel regions of IBM Streams: enclosing regions, channels, distributions, and those in ADL."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple
from xml.etree.ElementTree import Element

from streamplace.errors import FormatError
from streamplace.formats.logical_builder import MAX_PARALLELISM
from streamplace.formats.xml import attribute, inside
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import AnyDistribution, Distribution, GroupedDistribution

MAX_DEPTH = 1_000
Enclosing = tuple[str, ...]
"""The parallel regions around an operator, outermost first, each named by its first element."""
SPLITTERS = ("RoundRobin", "Hash", "Broadcast")


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
        f"{what} assumed; a costs file may state the parallelism of their operators"
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


class Regions(NamedTuple):
    """The parallel regions of an application.

    Parameters
    ----------
    widths
        Index of the operator, primitive or composite, that is a region -> its number of channels.
    submitted
        Index of those whose width is set at submission -> its default; None, which counts as 1, if
        there is none.
    copied
        (index of the operator, index of the input port) of splitters that copy tuples.
    """

    widths: dict[str, int]
    submitted: dict[str, int | None]
    copied: frozenset[tuple[str, str]]

    def copies(self, operator: str, port: str, kind: str) -> int:
        """Return the number of channels that receive each tuple that arrives at a port."""
        splits = kind == "input" and (operator, port) in self.copied
        return self.widths.get(operator, 1) if splits else 1


def regions_of(application: Element, where: str) -> Regions:
    """Return the regions of an application.

    A width that is set at submission is its default, which the system takes where the submission
    sets none (``processingParallelRegions`` of OSStreams); without one it counts as one channel.

    Raises
    ------
    FormatError
        If a region is not valid. The message names `where`, the region and the fault.
    """
    widths: dict[str, int] = {}
    submitted: dict[str, int | None] = {}
    copied: set[tuple[str, str]] = set()
    for region in inside(application, "parallelRegions", "parallelRegion"):
        place = f"{where}: parallelRegion {region.get('name', '')!r:.40}"
        for operator in inside(region, "parallelOperator"):
            index = attribute(operator, "operIndex", where)
            if index in widths:
                raise FormatError(f"{place}: operator {index!r:.40} already begins another region")
            width = _constant_width(region, place)
            if width is None:
                width = submitted[index] = _default_width(application, region, place)
            widths[index] = width or 1
            for splitter in inside(operator, "splitter"):
                kind = attribute(splitter, "kind", where)
                if kind not in SPLITTERS:
                    choices = ", ".join(SPLITTERS)
                    raise FormatError(
                        f"{place}: unknown splitter {kind!r:.40}; choose from {choices}"
                    )
                if kind == "Broadcast":
                    copied.add((index, attribute(splitter, "iportIndex", where)))
    return Regions(widths, submitted, frozenset(copied))


def _constant_width(region: Element, place: str) -> int | None:
    """Return the number of channels of a region; None if it is set at submission."""
    elements = inside(region, "parallelWidth", "constantWidth")
    return _channels(elements[0].text or "", "constantWidth", place) if elements else None


def _default_width(application: Element, region: Element, place: str) -> int | None:
    """Return the default of the submission-time value that is the width; None if it has none."""
    indices = {
        (each.text or "").strip()
        for each in inside(region, "parallelWidth", "submissionTimeParameterIndexForWidth")
    }
    defaults = [
        value.get("defaultValue", "")
        for value in inside(application, "submissionTimeValues", "submissionTimeValue")
        if value.get("index") in indices
    ]
    if not any(defaults):
        return None
    return _channels(defaults[0].strip('"'), "defaultValue", place)  # a literal of SPL


def _channels(text: str, what: str, place: str) -> int:
    """Parse a number of channels.

    Raises
    ------
    FormatError
        If it is none. The message names `place` and `what`.
    """
    text = text.strip()
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_PARALLELISM))
    if not digits or not 1 <= int(text) <= MAX_PARALLELISM:
        raise FormatError(
            f"{place}: {what}: must be a whole number from 1 to {MAX_PARALLELISM:,} "
            f"(got {text!r:.40})"
        )
    return int(text)
