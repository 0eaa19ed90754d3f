"""Reader of the graph files of METIS, which KaHIP and other partitioners use as well."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from streamplace.errors import FormatError
from streamplace.formats.format import Format, Signs
from streamplace.formats.logical_builder import check_links
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.graph_checks import Multicast
from streamplace.problem.logical import LogicalGraph
from streamplace.util.text import counted

COMMENT = "%"
HEADER = (
    "expected the numbers of vertices and edges, then perhaps three digits that say whether there "
    "are sizes and weights of vertices and weights of edges, such as 011, and how many weights a "
    "vertex has"
)
LENGTHS = (2, 3, 4)
"""How many numbers the first line may have."""
MAX_DIGITS = 15
"""Digits of a number; longer ones are not exact as a float."""
Row = tuple[str, list[int]]
"""The place of a line, and its numbers."""


@dataclass(frozen=True)
class _Header:
    vertices: int
    edges: int
    has_sizes: bool
    weights: int  # of a vertex
    has_edge_weights: bool


def read(text: str, where: str) -> LogicalGraph:
    """Read an undirected graph, whose streams lead from smaller to larger numbers of vertices.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the line and the fault.
    GraphError
        If it has more operators than a graph may have.
    """
    rows = _rows(text, where)
    header = _header(rows, where)
    del rows[0]
    while len(rows) > header.vertices and not rows[-1][1]:
        del rows[-1]
    if len(rows) != header.vertices:
        raise FormatError(
            f"{where}: expected a line for each of {header.vertices:,} vertices (got {len(rows):,})"
        )
    first = header.has_sizes + header.weights
    found: dict[tuple[int, int], int | None] = {}
    for v, (place, numbers) in enumerate(rows, start=1):
        if len(numbers) < first:
            raise FormatError(
                f"{place}: expected {counted(first, 'number')} of the vertex (got {len(numbers)})"
            )
        for ends, weight in _edges(v, numbers[first:], header, place):
            if ends in found:
                raise FormatError(f"{place}: neighbour {ends[1]} appears twice")
            found[ends] = weight
        check_links(len(found) // 2, where)
    for (v, u), weight in found.items():
        if (u, v) not in found or found[u, v] != weight:
            how = f"{v} with weight {found[u, v]}" if (u, v) in found else f"no neighbour {v}"
            raise FormatError(
                f"{rows[v - 1][0]}: vertex {v} has the neighbour {u}"
                f"{'' if weight is None else f' with weight {weight}'}, but {u} has {how}"
            )
    if len(found) != 2 * header.edges:
        raise FormatError(
            f"{where}: the first line states {counted(header.edges, 'edge')}, but the others have "
            f"{len(found) // 2:,}; an edge counts once"
        )
    return LogicalGraph(_graph(rows, found, header), notes=_notes(header))


def _rows(text: str, where: str) -> list[Row]:
    """Return the lines that are no comments."""
    rows = []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        if line.startswith(COMMENT):
            continue
        place = f"{where}: line {number}"
        words = line.split()
        for word in words:
            if not (word.isascii() and word.isdigit() and len(word) <= MAX_DIGITS):
                raise FormatError(
                    f"{place}: expected whole numbers of at least 0 (got {word!r:.40})"
                )
        rows.append((place, [int(word) for word in words]))
    return rows


def _header(rows: Sequence[Row], where: str) -> _Header:
    """Return what the first line says; the third number is digits for what the others have."""
    place, numbers = rows[0] if rows else (where, [])
    vertices, edges, has, weights = (*numbers, *(0, 0, 0, 1)[len(numbers) :])[:4]
    digits = f"{has:03}"
    form = len(numbers) in LENGTHS and len(digits) == len("011") and {*digits} <= {"0", "1"}
    if not (form and vertices and weights):
        raise FormatError(f"{place}: {HEADER}")
    of_sizes, of_vertices, of_edges = (digit == "1" for digit in digits)
    return _Header(vertices, edges, of_sizes, of_vertices * weights, of_edges)


def _edges(
    v: int, numbers: Sequence[int], header: _Header, place: str
) -> list[tuple[tuple[int, int], int | None]]:
    """Return (vertex, neighbour) and the weight of each edge in a vertex's line."""
    step = 1 + header.has_edge_weights
    if len(numbers) % step:
        raise FormatError(f"{place}: the last neighbour, {numbers[-1]}, has no weight")
    found: list[tuple[tuple[int, int], int | None]] = []
    for i in range(0, len(numbers), step):
        neighbour = numbers[i]
        if not 1 <= neighbour <= header.vertices or neighbour == v:
            what = f"must be other vertices, from 1 to {header.vertices:,} (got {neighbour})"
            raise FormatError(f"{place}: the neighbours of vertex {v} {what}")
        found.append(((v, neighbour), numbers[i + 1] if header.has_edge_weights else None))
    return found


def _graph(
    rows: Sequence[Row], found: dict[tuple[int, int], int | None], header: _Header
) -> StreamGraph:
    sizes_count = header.has_sizes and not header.has_edge_weights
    operators = [
        Operator(
            str(v),
            float(numbers[header.has_sizes]) if header.weights else UNKNOWN,
            float(numbers[0]) if sizes_count else UNKNOWN,
        )
        for v, (_, numbers) in enumerate(rows, start=1)
    ]
    streams = [
        Stream(str(v), str(u), payload_bytes=None if weight is None else float(weight))
        for (v, u), weight in found.items()
        if v < u
    ]
    multicast: Multicast = "device" if sizes_count else "none"
    return StreamGraph(operators, streams, firing="all", multicast=multicast)


def _notes(header: _Header) -> list[str]:
    """Return how the file is understood, a sentence each."""
    notes = [
        "edges have no direction: a stream leads from the smaller to the larger number, and every "
        "operator runs once in a pass"
    ]
    if header.weights:
        which = f"the first of {header.weights} weights" if header.weights > 1 else "the weight"
        notes.append(f"{which} of a vertex counts as its instructions")
    if header.has_edge_weights:
        notes.append("the weight of an edge counts as the bytes of its stream")
    if header.has_sizes and header.has_edge_weights:
        notes.append("sizes of vertices are not read, since edges have weights")
    elif header.has_sizes:
        notes.append("the size of a vertex counts as the bytes that it sends to each device")
    return notes


FORMAT = Format(
    "metis",
    about="a graph for METIS or KaHIP: weights are instructions and bytes",
    read=read,
    signs=Signs(
        endings=(".graph", ".metis"),
        text=re.compile(
            r"\A(?:%[^\n]*\n)*+[ \t]*+\d++[ \t]++\d++[ \t]++[01]{2,3}(?:[ \t]++\d++)?[ \t\r]*+\n"
            r"(?:%[^\n]*\n)*+[ \t]*+\d"
        ),
    ),
)
