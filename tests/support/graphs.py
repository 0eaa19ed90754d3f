"""Small graphs and problems."""

from collections.abc import Mapping
from itertools import pairwise

from streamplace import Cluster, Operator, Problem, Recipe, Stream, StreamGraph

MBIT = 125_000.0  # bytes: at 1,000 tuples/s a payload of 1 Mbit fills a link of 1,000 Mbit/s
DEVICE_MIPS = 2500.0  # of the default cluster


def chain_graph(*instructions: float, payload_bytes: float = 100.0) -> StreamGraph:
    """Return a chain of operators a, b, c, …, with instructions per tuple, at 1,000 tuples/s."""
    names = [chr(ord("a") + i) for i in range(len(instructions))]
    return StreamGraph(
        [Operator(n, cost, payload_bytes) for n, cost in zip(names, instructions, strict=True)],
        [Stream(a, b) for a, b in pairwise(names)],
        source_rate=1000.0,
    )


def loaded_chain(
    *loads: float,
    rate: float = 1000.0,
    payload_bytes: float = 100.0,
    selectivity: float = 1.0,
    devices: int = 2,
) -> Problem:
    """Return a chain of operators on equal devices; each load is a share of one device."""
    names = [f"op{i}" for i in range(len(loads))]
    operators = [
        Operator(name, load * DEVICE_MIPS * 1e6 / rate, payload_bytes)
        for name, load in zip(names, loads, strict=True)
    ]
    streams = [Stream(a, b, selectivity) for a, b in pairwise(names)]
    return Problem(StreamGraph(operators, streams), Cluster.equal(devices), source_rate=rate)


def lettered_graph(
    streams: str,
    instructions: float | Mapping[str, float] = 1.0,
    payload_bytes: float | Mapping[str, float] = 1.0,
    *,
    names: str = "",
    source_shares: Mapping[str, float] | None = None,
) -> StreamGraph:
    """Return operators of one letter each, joined by streams such as ``"ab bc"``.

    Parameters
    ----------
    instructions, payload_bytes
        One number for all operators, or a number for each letter.
    names
        The letters, in order; by default those of the streams, sorted.
    """
    letters = names or "".join(sorted(set(streams) - {" "}))
    work, payload = _by_letter(instructions, letters), _by_letter(payload_bytes, letters)
    return StreamGraph(
        [Operator(name, work[name], payload[name]) for name in letters],
        [Stream(ends[0], ends[1]) for ends in streams.split()],
        source_shares=source_shares,
    )


def _by_letter(number: float | Mapping[str, float], letters: str) -> Mapping[str, float]:
    return number if isinstance(number, Mapping) else dict.fromkeys(letters, number)


def two_operator_graph(source_rate: float | None = 1e4) -> StreamGraph:
    """Return a graph a -> b."""
    return StreamGraph([("a", 1e5, 1e4), ("b", 2e5, 0)], [("a", "b")], source_rate=source_rate)


def preset_graph(preset: str, operators: int, seed: int = 0) -> StreamGraph:
    """Return a generated graph with exactly `operators` operators."""
    return Recipe(preset, 1, range(operators, operators + 1), seed).graph(0)


def flops(graph: StreamGraph, *types: str) -> float:
    """Return the FLOPs of all operators of some types."""
    return sum(float(graph.instructions[v]) for v, t in graph.type.items() if t in types)
