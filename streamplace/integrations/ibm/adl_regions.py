"""Parallel regions in ADL: their operators, widths and splitters."""

from typing import NamedTuple
from xml.etree.ElementTree import Element

from streamplace.errors import FormatError
from streamplace.integrations.logical_builder import MAX_PARALLELISM
from streamplace.integrations.xml import attribute, inside

SPLITTERS = ("RoundRobin", "Hash", "Broadcast")


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
