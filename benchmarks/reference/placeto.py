"""Placeto's network in plain torch, one state at a time and one operator after another.

It reads the parameters of `streamplace.papers.placeto` by layer and nothing else of that package.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import networkx as nx
import numpy as np
import torch
from torch import Tensor

from streamplace import Problem
from streamplace.util.arrays import Floats, Ints

Digraph: TypeAlias = "nx.DiGraph[int]"
AHEAD, BACK = 3, 7  # first layers of `node`
LARGEST, EXTREME = 1e12, 1e6  # entry of an embedding, and logit


def digraph(problem: Problem) -> Digraph:
    """Return the operators and streams by number."""
    graph: Digraph = nx.DiGraph()
    graph.add_nodes_from(range(len(problem.graph.names)))
    ends = (problem.graph.stream_source.tolist(), problem.graph.stream_target.tolist())
    graph.add_edges_from(zip(*ends, strict=True))
    return graph


def state_features(
    numbers: Floats, devices: Ints, count: int, current: int, visits: Sequence[int], times: Floats
) -> Tensor:
    """Return the features of all operators, (V, 5 + D), before the current one is placed.

    Parameters
    ----------
    numbers
        (V, 2) cost and size of the output of each operator, divided by their maxima.
    count
        D, the number of devices.
    visits
        How often each operator has been placed.
    """
    since = np.array(times) - times[current]
    largest = since.max() if since.max() > 0 else np.abs(since).max()
    rows = []
    for v in range(len(devices)):
        one_hot = [1.0 if d == devices[v] else 0.0 for d in range(count)]
        start = since[v] / largest if largest > 0 else 0.0
        rows.append([*numbers[v], visits[v], float(v == current), start, *one_hot])
    return torch.tensor(rows, dtype=torch.float32)


class PlainNetwork:
    """The network as a function of one state.

    Parameters
    ----------
    parameters
        Tensors by name, as `Placeto.named_parameters` yields them.
    rounds
        Synchronous rounds of message passing; 0: one pass in topological order.
    closest
        Number of parallel operators that are read, those closest in time; 0: all.
    """

    def __init__(
        self, parameters: Mapping[str, Tensor], graph: Digraph, rounds: int = 0, closest: int = 0
    ) -> None:
        self._of, self._graph, self._rounds, self._closest = parameters, graph, rounds, closest

    def logits(self, x: Tensor, current: int, times: Floats) -> Tensor:
        """Return the logits of the current operator's devices, (D,)."""
        own = self._layer("node", 0, x).relu()
        own = self._layer("node", 2, self._layer("node", 1, own).relu())
        ahead = self._pass(own, self._graph, AHEAD)
        back = self._pass(own, self._graph.reverse(), BACK)
        both = torch.cat([ahead, back], dim=1)
        ancestors, descendants = (
            relatives(self._graph, current) for relatives in (nx.ancestors, nx.descendants)
        )
        others = set(self._graph) - ancestors - descendants - {current}
        if self._closest:
            away = sorted(others, key=lambda u: (abs(times[u] - times[current]), u))
            others = set(away[: self._closest])
        parts = [both[current]]
        for number, members in enumerate((ancestors, descendants, others)):
            parts.append(self._summary("sums", 4 * number, both[sorted(members)]))
        joined = self._layer("first", 0, torch.cat(parts)).relu()
        logits = self._layer("logits", 0, self._layer("second", 0, joined).relu())
        return logits.clamp(-EXTREME, EXTREME)

    def _pass(self, own: Tensor, graph: Digraph, layer: int) -> Tensor:
        heard = {v: sorted(graph.predecessors(v)) for v in graph}
        if not self._rounds:
            done: dict[int, Tensor] = {}
            for v in nx.lexicographical_topological_sort(graph):
                done[v] = own[v]
                if heard[v]:
                    messages = torch.stack([done[u] for u in heard[v]])
                    done[v] = own[v] + self._summary("node", layer, messages)
                    done[v] = done[v].clamp(max=LARGEST)
            return torch.stack([done[v] for v in range(len(own))])
        now = own
        for _ in range(self._rounds):
            added = [
                self._summary("node", layer, now[heard[v]])
                if heard[v]
                else torch.zeros_like(own[v])
                for v in range(len(own))
            ]
            now = (own + torch.stack(added)).clamp(max=LARGEST)
        return now

    def _summary(self, name: str, layer: int, rows: Tensor) -> Tensor:
        """Return g(Σ f(row)) for the four layers of f and g."""
        messages = self._layer(name, layer + 1, self._layer(name, layer, rows).relu()).relu()
        total = messages.sum(dim=0)
        hidden = self._layer(name, layer + 2, total).relu()
        return self._layer(name, layer + 3, hidden).relu()

    def _layer(self, name: str, number: int, x: Tensor) -> Tensor:
        return x @ self._of[f"{name}_weight"][number] + self._of[f"{name}_bias"][number]
