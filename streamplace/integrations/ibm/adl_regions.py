"""Parallel regions in ADL: their operators, widths and splitters."""

from typing import NamedTuple
from xml.etree.ElementTree import Element

from streamplace.errors import FormatError
from streamplace.integrations.logical_builder import MAX_PARALLELISM
from streamplace.integrations.parsing.xml import attribute, inside

SPLITTERS = ("RoundRobin", "Hash", "Broadcast")


class Regions(NamedTuple):
    """The parallel regions of an application.

    Parameters
    ----------
    widths
        Index of the operator, primitive or composite, that is a region -> its number of channels.
    unknown
        Indices of those whose width is set at submission; it counts as 1.
    copied
        (index of the operator, index of the input port) of splitters that copy tuples.
    """

    widths: dict[str, int]
    unknown: list[str]
    copied: frozenset[tuple[str, str]]

    def copies(self, operator: str, port: str, kind: str) -> int:
        """Return the number of channels that receive each tuple that arrives at a port."""
        splits = kind == "input" and (operator, port) in self.copied
        return self.widths.get(operator, 1) if splits else 1


def regions_of(application: Element, where: str) -> Regions:
    """Return the regions of an application.

    A width that is set at submission is unknown and counts as one channel.

    Raises
    ------
    FormatError
        If a region is not valid. The message names `where`, the region and the fault.
    """
    widths: dict[str, int] = {}
    unknown: list[str] = []
    copied: set[tuple[str, str]] = set()
    for region in inside(application, "parallelRegions", "parallelRegion"):
        place = f"{where}: parallelRegion {region.get('name', '')!r:.40}"
        for operator in inside(region, "parallelOperator"):
            index = attribute(operator, "operIndex", where)
            if index in widths:
                raise FormatError(f"{place}: operator {index!r:.40} already begins another region")
            width = _width(region, place)
            widths[index] = width or 1
            if width is None:
                unknown.append(index)
            for splitter in inside(operator, "splitter"):
                kind = attribute(splitter, "kind", where)
                if kind not in SPLITTERS:
                    choices = ", ".join(SPLITTERS)
                    raise FormatError(
                        f"{place}: unknown splitter {kind!r:.40}; choose from {choices}"
                    )
                if kind == "Broadcast":
                    copied.add((index, attribute(splitter, "iportIndex", where)))
    return Regions(widths, unknown, frozenset(copied))


def _width(region: Element, place: str) -> int | None:
    """Return the number of channels of a region; None if it is set at submission."""
    elements = inside(region, "parallelWidth", "constantWidth")
    if not elements:
        return None
    text = (elements[0].text or "").strip()
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_PARALLELISM))
    if not digits or not 1 <= int(text) <= MAX_PARALLELISM:
        raise FormatError(
            f"{place}: constantWidth: must be a whole number from 1 to {MAX_PARALLELISM:,} "
            f"(got {text!r:.40})"
        )
    return int(text)
