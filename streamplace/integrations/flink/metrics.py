"""Counters of vertices and operators among the metrics of Flink's REST interface."""

import urllib.parse
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from streamplace.integrations.flink.plan import Vertex
from streamplace.integrations.profiling.counters import Counters

MAX_QUERY = 3000  # bytes; Flink refuses requests whose first line exceeds 4096
MAX_NAME = 80  # characters of an operator's name in a metric's name
UNFIT = str.maketrans(" .:,", "____")  # characters that Flink replaces in metric names
TASK = {
    "records_in": "read-records",
    "records_out": "write-records",
    "bytes_in": "read-bytes",
    "bytes_out": "write-bytes",
    "busy_ms": "accumulated-busy-time",
    "idle_ms": "accumulated-idle-time",
    "backpressured_ms": "accumulated-backpressured-time",
}
"""Counter -> its name among the metrics of a vertex."""
TUPLES_AND_BYTES = ("records_in", "records_out", "bytes_in", "bytes_out")
COMPLETE = [f"{TASK[name]}-complete" for name in TUPLES_AND_BYTES]
MAX_COUNTER = 2**63
"""Largest counter and time in milliseconds; Flink's integers have 64 bits."""
OPERATOR_METRICS = {"records_in": "numRecordsIn", "records_out": "numRecordsOut"}
"""Counter -> its name among the metrics of an operator."""


def queries(metrics: Sequence[str]) -> Iterator[str]:
    """Yield queries for the metrics, several in one query within the length limit."""
    query = ""
    for metric in metrics:
        quoted = urllib.parse.quote(metric)
        if query and len(query) + len(quoted) > MAX_QUERY:
            yield query
            query = ""
        query += ("%2C" if query else "") + quoted
    if query:
        yield query


def counters(metrics: Mapping[str, Any]) -> Counters:
    """Return a vertex's counters; all missing if a subtask has not reported (``*-complete``)."""
    if not all(metrics.get(name) is True for name in COMPLETE):
        return Counters()
    return Counters(**{name: _number(metrics.get(key)) for name, key in TASK.items()})


def metrics_of(vertex: Vertex, sources: Collection[str]) -> dict[str, str]:
    """Return operator -> its name in metrics, for operators whose own counters are needed.

    These are members of chains, and sources: a source has no input, so its output is counted.
    Operators of the same name share their metrics and are left out.
    """
    if len(vertex.operators) == 1 and vertex.operators[0] not in sources:
        return {}
    metric_names = [name.translate(UNFIT)[:MAX_NAME] for name in vertex.chain.names]
    pairs = zip(vertex.operators, metric_names, strict=True)
    return {operator: name for operator, name in pairs if metric_names.count(name) == 1}


def operator_counters(
    vertex: Vertex, names: Mapping[str, str], found: Mapping[str, float]
) -> dict[str, Counters]:
    """Return operator -> its own counters, summed over subtasks if all have reported."""

    def total(name: str, metric: str) -> float | None:
        values = [found.get(f"{i}.{name}.{metric}") for i in range(vertex.parallelism)]
        numbers = [number for number in values if number is not None and 0 <= number <= MAX_COUNTER]
        return sum(numbers) if len(numbers) == len(values) else None

    return {
        operator: Counters(
            **{what: total(name, metric) for what, metric in OPERATOR_METRICS.items()}
        )
        for operator, name in names.items()
    }


def time_s(now: Any) -> float:
    """Return the server's clock in seconds.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If the value is not a time.
    """
    if not 0 <= float(now) <= MAX_COUNTER:
        raise ValueError(f"not a time: {now!r:.40}")
    return float(now) / 1e3


def _number(value: Any) -> float | None:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= MAX_COUNTER
    ):
        return None
    return float(value)
