"""Shares of an operator's tuples that its busiest instance processes."""

from math import ceil

import numpy as np

from streamplace.problem.graph import StreamGraph
from streamplace.problem.key_groups import key_shares_of
from streamplace.problem.parallelism import NO_SHARES
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

        ``broadcast`` streams send everything to every instance. ``forward`` streams are taken to be
        even.
        """
        graph, inputs = self._graph, self._inputs[v]
        if not inputs:
            partitions = graph.partitions.get(v)
            return 1.0 / count if partitions is None else ceil(partitions / count) / partitions
        total, even = float(self._tuples[inputs].sum()), 0.0
        keyed = np.zeros(0)
        for e in inputs:
            part, kind = float(self._tuples[e]) / total, graph.partitioning.get(e, "")
            if kind == "broadcast":
                even += part
            elif kind == "hash" and (keys := graph.key_shares.get(e, NO_SHARES)):
                of_instances = key_shares_of(graph.partitions.get(v), keys, count)
                keyed = part * of_instances + (keyed if len(keyed) else 0.0)
            elif kind == "hash" and (groups := graph.partitions.get(v)):
                even += part * ceil(groups / count) / groups
            else:
                even += part / count
        return even + float(keyed.max(initial=0.0))
