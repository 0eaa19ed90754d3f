"""Uneven shares of an operator's tuples among its instances, from the counters of its subtasks.

Flink sends every key to one instance, and a source's partitions may be of different size. The
counters of a vertex are sums over its subtasks, in which that is lost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from streamplace.engines.flink.plan import RunningPlan, Vertex
from streamplace.formats.profiling.counters import Counters
from streamplace.problem.expansion import pairs
from streamplace.problem.logical import (
    AnyDistribution,
    Distribution,
    KeyedDistribution,
    LogicalGraph,
    MeasuredDistribution,
)
from streamplace.util.arrays import Floats

EVEN = 0.1  # of the mean, by which instances may differ and still count as equal
BY_CHANCE = 4.0  # standard deviations by which equal instances may differ

Row = Sequence[tuple[str, Counters]]
"""The TaskManager and the counters of each subtask of a vertex."""


def grown(first: Row, last: Row, *counters: str) -> list[float]:
    """Return the growth in each subtask of the first counter that grew at all; empty if none did.

    Parameters
    ----------
    first, last
        The subtasks at the beginning and at the end.
    counters
        Names of fields of `Counters`.
    """
    if len(first) != len(last):
        return []
    rows = list(zip(first, last, strict=True))
    for name in counters:
        values = [(getattr(a, name), getattr(b, name)) for (_, a), (_, b) in rows]
        found = [-1.0 if a is None or b is None else b - a for a, b in values]
        if found and min(found) >= 0 and sum(found) > 0:
            return found
    return []


def tuples_grown(first: Row, last: Row) -> list[float]:
    """Return the tuples that each subtask received, or sent if it is one of a source."""
    return grown(first, last, "records_in", "records_out")


def shares_of(tuples: Sequence[float]) -> tuple[float, ...]:
    """Return the share of each instance; empty if the instances differ by chance, or by less."""
    total, count = sum(tuples), len(tuples)
    mean = total / max(count, 1)
    off = max((abs(each - mean) for each in tuples), default=0.0)
    if off <= max(EVEN * mean, BY_CHANCE * sqrt(mean)):
        return ()
    return tuple(each / total for each in tuples)


def with_shares(
    logical: LogicalGraph,
    plan: RunningPlan,
    first: Mapping[str, Row],
    last: Mapping[str, Row],
) -> LogicalGraph:
    """Return a logical graph whose streams and sources have the measured shares of instances.

    Shares are those of the tuples between the two moments; where nothing grew, of all tuples since
    the job started. Streams whose rule says which instance gets a tuple (forward, rescale,
    broadcast, global) keep it.

    Parameters
    ----------
    logical
        The graph of the plan, with measured selectivities.
    first, last
        Vertex id -> its subtasks at the beginning and at the end; `last` may be empty.
    """
    parts: dict[str, tuple[float, ...]] = {}
    for vertex in plan.vertices:
        rows = first.get(vertex.id, ()), last.get(vertex.id, first.get(vertex.id, ()))
        since = [(host, Counters(records_in=0.0, records_out=0.0)) for host, _ in rows[1]]
        shares = shares_of(tuples_grown(*rows) or tuples_grown(since, rows[1]))
        if len(shares) == vertex.parallelism:
            parts |= dict.fromkeys(vertex.operators, shares)
    return _Shares(logical, plan, parts).applied() if parts else logical


class _Shares:
    """Measured shares, and the streams by which instances receive them."""

    def __init__(
        self, logical: LogicalGraph, plan: RunningPlan, parts: Mapping[str, tuple[float, ...]]
    ) -> None:
        self._logical, self._parts, self._vertex_of = logical, parts, plan.vertex_of
        self._kinds: Sequence[AnyDistribution] = logical.stream_distributions
        graph = logical.graph
        rates = graph.source_share.copy()
        self._flows: Floats = np.zeros(len(graph.stream_source))
        for v in graph.order.tolist():
            into = np.flatnonzero(graph.stream_target == v)
            sent = rates[graph.stream_source[into]] * graph.selectivity[into]
            self._flows[into] = np.nan_to_num(sent)
            rates[v] = self._flows[into].sum() if len(into) else rates[v]

    def applied(self) -> LogicalGraph:
        """Return the graph with all shares."""
        graph, kinds = self._logical.graph, list[AnyDistribution](self._kinds)
        for name in self._parts:
            if name == self._vertex_of[name].operators[0]:
                for e, measured in self._measured(self._vertex_of[name]):
                    kinds[e] = measured
        distributions: dict[tuple[str, str], list[AnyDistribution]] = {}
        for stream, kind in zip(graph.streams, kinds, strict=True):
            distributions.setdefault((stream.source, stream.target), []).append(kind)
        sources = {graph.names[v] for v in graph.sources.tolist()}
        return replace(
            self._logical,
            distributions=distributions,
            source_parts={name: self._parts[name] for name in sorted(sources & {*self._parts})},
        )

    def _measured(self, vertex: Vertex) -> list[tuple[int, MeasuredDistribution]]:
        """Return the streams into a vertex that divide its tuples unevenly, and how they do."""
        graph, name = self._logical.graph, vertex.operators[0]
        into = np.flatnonzero(graph.stream_target == graph.index[name]).tolist()
        rules: dict[int, Distribution | KeyedDistribution] = {
            e: kind for e in into if isinstance(kind := self._kinds[e], KeyedDistribution)
        }
        free = rules or {e: Distribution.ALL for e in into if self._kinds[e] is Distribution.ALL}
        rest: Floats = np.array(self._parts[name])
        total = float(self._flows[into].sum())
        if total > 0.0:
            rest = rest - sum(self._received(e, vertex) for e in into if e not in free) / total
        rest = np.maximum(rest, 0.0)
        if not rest.sum() > 0.0:
            return []
        shares = tuple((rest / rest.sum()).tolist())
        return [(e, MeasuredDistribution(shares, rule)) for e, rule in free.items()]

    def _received(self, e: int, vertex: Vertex) -> Floats:
        """Return the tuples that each instance receives on a stream by its rule."""
        source = self._logical.graph.names[int(self._logical.graph.stream_source[e])]
        count = self._vertex_of[source].parallelism
        a, b, share = pairs(self._kinds[e], count, vertex.parallelism)
        own = np.array(self._parts.get(source, np.full(count, 1.0 / count)))
        sent: Floats = own[a] * share * self._flows[e]
        return np.bincount(b, sent, vertex.parallelism).astype(np.float64)
