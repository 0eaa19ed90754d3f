"""GiPH's graph of pairs and its network, built plainly from the formulas of the paper.

It reads the parameters of `streamplace.papers.giph` by name and nothing else of that package.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from streamplace.util.arrays import Floats

Pair: TypeAlias = tuple[int, int]
PairGraph: TypeAlias = "nx.DiGraph[Pair]"
Features: TypeAlias = Mapping[tuple[Pair, Pair], Tensor]
Transfer: TypeAlias = Callable[[float, int, int], tuple[float, float, float]]
"""Bandwidth, delay and cost of some data from one device to another."""


def pair_graph(
    devices: Sequence[int],
    feasible: Sequence[Sequence[int]],
    streams: Mapping[Pair, float],
    transfer: Transfer,
) -> PairGraph:
    """Return the graph of the pairs of a placement, with the features of the edges.

    Parameters
    ----------
    devices
        The device of each operator.
    feasible
        The devices that may run each operator.
    """
    graph: PairGraph = nx.DiGraph()
    graph.add_nodes_from((v, d) for v, on in enumerate(feasible) for d in on)
    for (i, j), data in streams.items():
        for k, m in product(feasible[i], feasible[j]):
            if devices[i] == k or devices[j] == m:
                graph.add_edge((i, k), (j, m), f=(data, *transfer(data, k, m)))
    return graph


def scaled(columns: Floats) -> Floats:
    """Return columns scaled to -1 to 1; a column of one value becomes 0, and infinity 1."""
    out = np.zeros(columns.shape)
    for c, column in enumerate(columns.T):
        finite = column[np.isfinite(column)]
        if len(finite) and finite.max() > finite.min():
            out[:, c] = 2 * (column - finite.min()) / (finite.max() - finite.min()) - 1
        out[~np.isfinite(column), c] = 1.0
    return out


class PlainGiph:
    """The network of GiPH, GiPH-k and GiPH-NE on one graph.

    Parameters
    ----------
    parameters
        Tensors by name, as `Giph.named_parameters` yields them.
    rounds
        Synchronous rounds; 0: one pass in topological order.
    """

    def __init__(self, parameters: Mapping[str, Tensor], rounds: int = 0) -> None:
        self._parameters, self._rounds = parameters, rounds

    def logits(self, graph: PairGraph, x: Mapping[Pair, Tensor], f: Features) -> Tensor:
        """Return the logit of each pair, in sorted order.

        Parameters
        ----------
        x, f
            Features by pair, and by the ends of an edge.
        """
        own = {u: self._layer("second", torch.relu(self._layer("first", x[u]))) for u in graph}
        ahead = self._passed("ahead", graph, own, f)
        turned = graph.reverse()
        back = self._passed("back", turned, own, {(b, a): value for (a, b), value in f.items()})
        both = torch.stack([torch.cat([ahead[u], back[u]]) for u in sorted(graph)])
        hidden = torch.relu(self._layer("head.hidden", both))
        return self._layer("head.logit", hidden).squeeze(1)

    def _layer(self, name: str, x: Tensor) -> Tensor:
        weight, bias = (self._parameters[f"network.{name}.{part}"] for part in ("weight", "bias"))
        return x @ weight.T + bias

    def _passed(
        self,
        name: str,
        graph: PairGraph,
        own: Mapping[Pair, Tensor],
        f: Features,
    ) -> dict[Pair, Tensor]:
        def update(u: Pair, senders: Mapping[Pair, Tensor]) -> Tensor:
            messages = [
                torch.relu(self._layer(f"{name}.message", torch.cat([senders[s], f[s, u]])))
                for s in graph.predecessors(u)
            ]
            if not messages:
                return own[u]
            mean = torch.stack(messages).mean(dim=0)
            return own[u] + torch.relu(self._layer(f"{name}.update", mean))

        if self._rounds:
            now = dict(own)
            for _ in range(self._rounds):
                now = {u: update(u, now) for u in graph}
            return now
        done: dict[Pair, Tensor] = {}
        for u in nx.topological_sort(graph):
            done[u] = update(u, done)
        return done


def earliest_device(
    v: int,
    on: Sequence[int],
    start: Sequence[float],
    finish: Sequence[float],
    devices: Sequence[int],
    arrival: Callable[[int], float],
    seconds: Callable[[int], float],
    waits: bool,
) -> int:
    """Return the device of `on` on which an operator would end first."""
    ends = []
    for d in on:
        at = arrival(d)
        others = sorted(
            (start[u], finish[u]) for u in range(len(start)) if u != v and devices[u] == d
        )
        for begin, end in others if waits else ():
            if begin <= at < end:
                at = end
        ends.append(at + seconds(d))
    return on[int(np.argmin(ends))]
