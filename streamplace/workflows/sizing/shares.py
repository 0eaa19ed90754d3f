"""Shares of an operator's tuples that its busiest instance processes."""

from math import ceil

import numpy as np

from streamplace.problem.graph import StreamGraph
from streamplace.problem.key_groups import key_shares_of
from streamplace.problem.parallelism import NO_SHARES, KeyShares
from streamplace.util.arrays import Floats


class Shares:
    """The largest share of the tuples of each operator of a graph, by its number of instances.

    Parameters
    ----------
    graph
        A graph whose operators state numbers of instances.
    tuples
        (E,) tuples/s on each stream, in any unit.
    """

    def __init__(self, graph: StreamGraph, tuples: Floats) -> None:
        self._graph, self._tuples = graph, tuples
        self._inputs: list[list[int]] = [[] for _ in graph.names]
        for e, v in enumerate(graph.stream_target.tolist()):
            if tuples[e] > 0.0:
                self._inputs[v].append(e)

    def busiest(self, v: int, count: int) -> float:
        """Return the share of the busiest of `count` instances of operator v.

        ``broadcast`` streams send everything to every instance. How ``forward`` and ``rescale``
        streams divide their tuples depends on other operators, so that the share is a lower bound.
        """
        inputs, groups = self._inputs[v], self._graph.partitions.get(v)
        if not inputs:
            return 1.0 / count if groups is None else ceil(groups / count) / groups
        copied, divided, grouped = self._part(v, "broadcast"), 0.0, 0.0
        keyed = list[Floats]()
        for e, part, kind in self._parts(v):
            if kind == "hash" and (keys := self._keys(e)):
                keyed.append(part * key_shares_of(groups, keys, count))
            elif kind == "hash" and groups:
                grouped += part
            elif kind not in ("broadcast", "forward", "rescale"):
                divided += part
        highest = grouped * ceil(groups / count) / groups if groups else 0.0
        if keyed:
            keyed.append(grouped * key_shares_of(groups, NO_SHARES, count))
            highest = float(np.sum(keyed, axis=0).max())
        return copied + max(highest + divided / count, (1.0 - copied) / count)

    def least(self, v: int) -> float:
        """Return a share that the busiest instance of operator v has, whatever their number.

        It is what every instance receives, and the largest share of a key.
        """
        keys = [
            part * max(self._keys(e).values(), default=0.0)
            for e, part, kind in self._parts(v)
            if kind == "hash"
        ]
        return self._part(v, "broadcast") + max(keys, default=0.0)

    def cause(self, v: int) -> str:
        """Return what `least` comes from; empty if it is 0."""
        keys = [
            (part * share, key)
            for e, part, kind in self._parts(v)
            if kind == "hash"
            for key, share in self._keys(e).items()
        ]
        share, key = max(keys, default=(0.0, ""))
        if share:
            return f"{share:.3g} of all tuples are of key {key!r}"
        return "broadcast" if self._part(v, "broadcast") else ""

    def _parts(self, v: int) -> list[tuple[int, float, str]]:
        """Return the streams into an operator, their parts of its tuples, and partitionings."""
        inputs, kinds = self._inputs[v], self._graph.partitioning
        total = float(self._tuples[inputs].sum())
        return [(e, float(self._tuples[e]) / total, kinds.get(e, "")) for e in inputs]

    def _part(self, v: int, kind: str) -> float:
        """Return the part of an operator's tuples that comes by a partitioning."""
        return sum(part for _, part, each in self._parts(v) if each == kind)

    def _keys(self, e: int) -> KeyShares:
        return self._graph.key_shares.get(e, NO_SHARES)
