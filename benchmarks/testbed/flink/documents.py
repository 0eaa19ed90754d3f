"""The input of GraphJob, and the counts that its sinks write."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from benchmarks.testbed.jobs import phases
from benchmarks.testbed.scaling import Scaled
from streamplace.util.arrays import Ints


def lines(scaled: Scaled, devices: Ints, sinks: dict[int, Path]) -> Iterator[str]:
    """Yield the lines that GraphJob reads."""
    graph = scaled.problem.graph
    rates = graph.source_share * scaled.problem.source_rate
    for v in graph.order.tolist():
        cost, file = round(float(graph.instructions[v])), sinks.get(v, "-")
        yield f"operator {v} {devices[v]} {cost} {rates[v]:.17g} {file}"
        own = np.flatnonzero(graph.stream_source == v).tolist()
        chosen = graph.selectivity[own].tolist()
        for e, selectivity, phase in zip(own, chosen, phases(chosen), strict=True):
            target = graph.stream_target[e]
            yield f"stream {e} {v} {target} {selectivity!r} {phase!r} {scaled.tuple_bytes[e]}"


def arrived(file: Path, begin_s: float, end_s: float) -> float:
    """Return the tuples/s that arrived at a sink between two times of the monotonic clock."""
    with suppress(FileNotFoundError):
        text = file.read_text()
        complete = [line.split() for line in text[: text.rfind("\n") + 1].splitlines()]
        at = np.array([int(ns) / 1e9 for ns, _ in complete])
        counts = np.array([float(count) for _, count in complete])
        if len(at):
            return float(np.diff(np.interp([begin_s, end_s], at, counts))[0] / (end_s - begin_s))
    return 0.0
