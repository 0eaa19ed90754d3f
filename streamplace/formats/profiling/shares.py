"""Uneven shares of an operator's tuples among its instances, as they were measured."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

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

Row = Sequence[tuple[str, Counters]]
"""The host and the counters of each instance of an operator, or of a chain."""

EVEN = 0.1  # of the mean, by which instances may differ and still count as equal
BY_CHANCE = 4.0  # standard deviations by which equal instances may differ


def grown(first: Row, last: Row, *counters: str) -> list[float]:
    """Return the growth in each instance of the first counter that grew at all; empty if none did.

    Parameters
    ----------
    first, last
        The instances at the beginning and at the end.
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
    """Return the tuples that each instance received, or sent if it is one of a source."""
    return grown(first, last, "records_in", "records_out")


def shares_of(tuples: Sequence[float]) -> tuple[float, ...]:
    """Return the share of each instance; empty if the instances differ by chance, or by less."""
    total, count = sum(tuples), len(tuples)
    mean = total / max(count, 1)
    off = max((abs(each - mean) for each in tuples), default=0.0)
    if off <= max(EVEN * mean, BY_CHANCE * sqrt(mean)):
        return ()
    return tuple(each / total for each in tuples)


def divided(
    logical: LogicalGraph,
    parts: Mapping[str, tuple[float, ...]],
    chained: Collection[str] = (),
) -> LogicalGraph:
    """Return a logical graph whose streams and sources have the measured shares of instances.

    Streams whose rule says which instance gets a tuple (forward, rescale, broadcast, global) keep
    it.

    Parameters
    ----------
    logical
        The graph, with measured selectivities.
    parts
        Operator -> the share of its tuples that each of its instances processes, if uneven. Those
        of another number of instances than the graph's do not count.
    chained
        Operators whose instances get their tuples from those of the same number in a chain.
    """
    counts = logical.parallelism
    kept = {name: each for name, each in parts.items() if len(each) == counts.get(name, 1)}
    return _Shares(logical, kept).applied(chained) if kept else logical


class _Shares:
    """Measured shares, and the streams by which instances receive them."""

    def __init__(self, logical: LogicalGraph, parts: Mapping[str, tuple[float, ...]]) -> None:
        self._logical, self._parts = logical, parts
        self._kinds: Sequence[AnyDistribution] = logical.stream_distributions
        graph = logical.graph
        rates = graph.source_share.copy()
        self._flows: Floats = np.zeros(len(graph.stream_source))
        for v in graph.order.tolist():
            into = np.flatnonzero(graph.stream_target == v)
            sent = rates[graph.stream_source[into]] * graph.selectivity[into]
            self._flows[into] = np.nan_to_num(sent)
            rates[v] = self._flows[into].sum() if len(into) else rates[v]

    def applied(self, chained: Collection[str]) -> LogicalGraph:
        """Return the graph with all shares."""
        graph, kinds = self._logical.graph, list[AnyDistribution](self._kinds)
        for name in self._parts:
            if name not in chained:
                for e, measured in self._measured(name):
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

    def _measured(self, name: str) -> list[tuple[int, MeasuredDistribution]]:
        """Return the streams into an operator that divide its tuples unevenly, and how they do."""
        graph = self._logical.graph
        into = np.flatnonzero(graph.stream_target == graph.index[name]).tolist()
        rules: dict[int, Distribution | KeyedDistribution] = {
            e: kind for e in into if isinstance(kind := self._kinds[e], KeyedDistribution)
        }
        free = rules or {e: Distribution.ALL for e in into if self._kinds[e] is Distribution.ALL}
        rest: Floats = np.array(self._parts[name])
        total = float(self._flows[into].sum())
        if total > 0.0:
            rest = rest - sum(self._received(e, len(rest)) for e in into if e not in free) / total
        rest = np.maximum(rest, 0.0)
        if not rest.sum() > 0.0:
            return []
        shares = tuple((rest / rest.sum()).tolist())
        return [(e, MeasuredDistribution(shares, rule)) for e, rule in free.items()]

    def _received(self, e: int, instances: int) -> Floats:
        """Return the tuples that each instance receives on a stream by its rule."""
        source = self._logical.graph.names[int(self._logical.graph.stream_source[e])]
        count = self._logical.parallelism.get(source, 1)
        a, b, share = pairs(self._kinds[e], count, instances)
        own = np.array(self._parts.get(source, np.full(count, 1.0 / count)))
        sent: Floats = own[a] * share * self._flows[e]
        return np.bincount(b, sent, instances).astype(np.float64)
