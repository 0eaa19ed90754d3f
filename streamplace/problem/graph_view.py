"""The shape of a graph, its header line, its table of operators and its drawing."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from streamplace.display.drawing import MAX_NODES, Drawing
from streamplace.display.text import number, quoted
from streamplace.display.view import MAX_NAMES, Cell, Grid, Names, View
from streamplace.problem.graph import StreamGraph
from streamplace.util.text import counted

LARGEST = 1_000
"""Operators of the largest graph whose longest shortest path is computed: O(V (V + E)) time."""


@dataclass(frozen=True)
class Shape:
    """The shape of a graph.

    Parameters
    ----------
    longest_path
        Operators on the longest path along streams.
    longest_shortest_path
        Operators on the longest of the shortest paths along streams from each operator to each one
        that it reaches; None for graphs of more than `LARGEST` operators.
    streams_per_operator
        The number of streams over that of operators, |E| / |V|.
    width
        The number of operators in the largest level, see `levels_of`.
    """

    longest_path: int
    longest_shortest_path: int | None
    streams_per_operator: float
    width: int

    @classmethod
    def of(cls, graph: StreamGraph) -> "Shape":
        """Return the shape of a graph, in O(V + E) time but for its longest shortest path."""
        operators, consumers = len(graph.names), _consumers(graph)
        levels = levels_of(graph)
        small = operators <= LARGEST
        return cls(
            max(levels) + 1,
            1 + max(_farthest(v, consumers) for v in range(operators)) if small else None,
            len(graph.streams) / operators,
            max(Counter(levels).values()),
        )


def _consumers(graph: StreamGraph) -> list[list[int]]:
    """Return the operators to which each operator has streams."""
    consumers: list[list[int]] = [[] for _ in graph.names]
    ends = zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True)
    for source, target in ends:
        consumers[source].append(target)
    return consumers


def levels_of(graph: StreamGraph) -> list[int]:
    """Return the level of each operator: the number of streams on the longest path to it."""
    consumers, levels = _consumers(graph), [0] * len(graph.names)
    for v in graph.order.tolist():
        for w in consumers[v]:
            levels[w] = max(levels[w], levels[v] + 1)
    return levels


def _farthest(start: int, consumers: list[list[int]]) -> int:
    """Return the distance from an operator to the farthest one that it reaches, in streams."""
    reached, latest, distance = {start}, [start], -1
    while latest:
        distance += 1
        found = {w for v in latest for w in consumers[v]} - reached
        reached |= found
        latest = [*found]
    return distance


def graph_view(graph: StreamGraph) -> View:
    """Return a graph as a header line and a table of its operators in topological order."""
    label = f" {quoted(graph.name)}" if graph.name else ""
    head = ["operator", "instructions", "payload, bytes", "memory, bytes", "streams to"]
    names = [0, 4]
    for title, several in (("type", graph.type), ("seconds on", graph.seconds_on)):
        if several:
            names.append(len(head))
            head.append(title)
    return View(
        f"StreamGraph{label}: {counted(len(graph.names), 'operator')}, "
        f"{counted(len(graph.streams), 'stream')}, {counted(len(graph.sources), 'source')}, "
        f"{counted(len(graph.sinks), 'sink')}{''.join(f', {fact}' for fact in _facts(graph))}",
        body=(Grid(tuple(head), len(graph.names), lambda i: _cells(graph, i), names=tuple(names)),),
        drawing=graph_drawing(graph),
    )


def graph_drawing(
    graph: StreamGraph, devices: Sequence[int] = (), names: Sequence[str] = ()
) -> Callable[[], str] | None:
    """Return what makes the drawing of a graph, see `View`; None for large graphs.

    Parameters
    ----------
    devices, names
        The number of each operator's device, and the names of all devices; empty: not placed.
    """
    if len(graph.names) > MAX_NODES:
        return None

    def drawn() -> str:
        order = graph.order.tolist()
        place = {v: i for i, v in enumerate(order)}
        levels = levels_of(graph)
        ends = zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True)
        return Drawing(
            [graph.names[v] for v in order],
            [levels[v] for v in order],
            [(place[a], place[b]) for a, b in ends],
            [devices[v] for v in order] if len(devices) else (),
            names,
        ).svg()

    return drawn


def _facts(graph: StreamGraph) -> list[str]:
    """Return what else the header line says."""
    errors = (graph.instructions_se, graph.payload_bytes_se, graph.selectivity_se)
    facts = {
        "constraints": bool(graph.constraints),
        "unknown numbers": bool(graph.unknown),
        "standard errors": any(e.any() for e in errors),
    }
    rate = [] if graph.source_rate is None else [f"{number(graph.source_rate)} tuples/s"]
    others = [f"{name} {value}" for name, value in graph.semantics.items()]
    return [*rate, *(fact for fact, is_so in facts.items() if is_so), *others]


def _cells(graph: StreamGraph, i: int) -> tuple[Cell, ...]:
    """Return the cells of the i-th operator in topological order."""
    v = int(graph.order[i])
    columns = (graph.instructions, graph.payload_bytes, graph.memory_bytes)
    targets = graph.stream_target[graph.stream_source == v]
    first = tuple(graph.names[t] for t in targets[:MAX_NAMES])
    kind = (graph.type.get(v, ""),) if graph.type else ()
    seconds = (Names.of(tuple(graph.seconds_on.get(v, ()))),) if graph.seconds_on else ()
    return (
        graph.names[v],
        *(number(float(column[v])) for column in columns),
        Names(first, len(targets)),
        *kind,
        *seconds,
    )
