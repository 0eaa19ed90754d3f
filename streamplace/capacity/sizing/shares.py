"""Shares of an operator's instances, and the load of the busiest one."""

from collections.abc import Callable
from math import ceil

import numpy as np

from streamplace.problem.counts import ONE_KEY
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import groups_of, key_shares_of, most_with
from streamplace.problem.parallelism import FLINK, NO_SHARES, KeyShares, Partitions
from streamplace.util.arrays import Floats

EVERY = 256  # numbers up to which all are tried


class Shares:
    """The largest share of the tuples of each operator of a graph, by its number of instances.

    Parameters
    ----------
    graph
        A graph whose operators state numbers of instances.
    tuples
        (E,) tuples/s on each stream, in any unit.

    Attributes
    ----------
    uneven
        Operators of whose n instances some may have more than 1/n of the tuples.
    """

    def __init__(self, graph: StreamGraph, tuples: Floats) -> None:
        self._graph, self._tuples = graph, tuples
        self._inputs: list[list[int]] = [[] for _ in graph.names]
        for e, v in enumerate(graph.stream_target.tolist()):
            if tuples[e] > 0.0:
                self._inputs[v].append(e)
        uneven = {
            int(graph.stream_target[e])
            for e in graph.partitioning
            if graph.partitioning[e] != "rebalance"
        }
        self.uneven = uneven | {*graph.partitions}

    def busiest(self, v: int, count: int) -> float:
        """Return the share of the busiest of `count` instances of operator v.

        ``broadcast`` streams send everything to every instance. How ``forward`` and ``rescale``
        streams divide their tuples depends on other operators, so that the share is a lower bound.
        """
        if v not in self.uneven:
            return 1.0 / count
        inputs, groups = self._inputs[v], groups_of(self._graph.partitions.get(v), count)
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
        if v not in self.uneven:
            return 0.0
        keys = [
            part * max(self._keys(e).values(), default=0.0)
            for e, part, kind in self._parts(v)
            if kind == "hash"
        ]
        return self._part(v, "broadcast") + max(keys, default=0.0)

    def cause(self, v: int) -> tuple[str, str]:
        """Return what `least` comes from, and a key that it is of; both may be empty."""
        keys = [
            (part * share, key)
            for e, part, kind in self._parts(v)
            if kind == "hash"
            for key, share in self._keys(e).items()
        ]
        share, key = max(keys, default=(0.0, ""))
        if share:
            part = "all tuples" if share == 1 else f"{share:.3g} of all tuples"
            return (f"{part} go to one instance", "") if key in ONE_KEY else (f"{part} are", key)
        return ("broadcast" if self._part(v, "broadcast") else "", "")

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


def lowest_load(
    load: Callable[[int], float], least: int, most: int, stated: Partitions | None
) -> float:
    """Return the lowest load of the busiest instance over the numbers from `least` to `most`.

    Without groups, the load must fall up to some number and rise from there on, as it does under
    the universal scalability law. With groups, it is computed at the smallest and the largest
    number of each size of the busiest instance's share of a number of groups.

    Parameters
    ----------
    load
        Number of instances -> the load of the busiest one.
    stated
        K, the number of partitions or key groups, or ``flink``; None: none.
    """
    if most - least < EVERY:
        return min(map(load, range(least, most + 1)))
    if stated is None:
        return _of_valley(load, least, most)
    tried, number = [load(most)], least
    while number < most:
        groups = groups_of(stated, number) or 1
        size = -(-groups // number)  # groups of the busiest instance
        last = most if size == 1 else min(most, (groups - 1) // (size - 1))
        if stated == FLINK:
            last = min(last, most_with(groups))
        tried += [load(number), load(last)]
        number = last + 1
    return min(tried)


def _of_valley(load: Callable[[int], float], least: int, most: int) -> float:
    """Return the lowest load by halving the range."""
    while least < most:
        middle = (least + most) // 2
        if load(middle) <= load(middle + 1):
            most = middle
        else:
            least = middle + 1
    return load(least)
