"""The network that groups the vertices of graphs and computes a vector for each group."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.learning.policy.decoding import UNAVAILABLE
from streamplace.papers.hsdag.features import Offer
from streamplace.papers.hsdag.graphs import (
    Block,
    Drop,
    EdgeScore,
    Embedding,
    Graph,
    Inner,
    Pooling,
    normalised,
)
from streamplace.papers.hsdag.kernels import (
    LOADS,
    Draws,
    Layers,
    Single,
    by_score,
    parse,
    place_groups,
)
from streamplace.papers.hsdag.sizes import HsdagSizes
from streamplace.util.arrays import Ints

NO_LOADS: Single = np.zeros((0, 0, 0), np.float32)


class Head(nn.Module, ABC):
    """A head of the policy."""

    @abstractmethod
    def decide(self, vectors: Tensor, offer: Offer, draws: Draws, chosen: Ints) -> Single:
        """Choose a device for each group, without gradients, and return what was read of devices.

        Parameters
        ----------
        vectors
            (G, d) the vectors of the groups.
        chosen
            (G,) devices; where they are below 0 on entry, the head chooses.
        """

    @abstractmethod
    def logits(self, vectors: Tensor, loads: Tensor) -> Tensor:
        """Return the logits of devices, (N, D), of N decisions.

        Parameters
        ----------
        vectors
            (N, d) the vectors of the groups.
        loads
            (N, D, L) what `decide` returned.
        """


class Independent(Head):
    """The head of the paper: a hidden layer, and an output for each device."""

    def __init__(self, features: int, hidden: int, devices: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, devices)
        )

    def decide(self, vectors: Tensor, offer: Offer, draws: Draws, chosen: Ints) -> Single:
        """Choose a device for each group; see `Head.decide`."""
        logits = self.layers(vectors).numpy()
        noisy = logits if draws.greedy else logits / draws.temperature + draws.noise
        noisy = np.where(draws.explores[:, None], draws.noise, noisy)
        likeliest = np.where(offer.allowed, noisy, UNAVAILABLE).argmax(axis=1)
        np.copyto(chosen, likeliest, where=chosen < 0, casting="unsafe")
        return NO_LOADS

    def logits(self, vectors: Tensor, loads: Tensor) -> Tensor:
        """Return the logits of devices; see `Head.logits`."""
        made: Tensor = self.layers(vectors)
        return made


class Loaded(Head):
    """A head for any number of devices, which places the heaviest groups first and reads loads.

    The logit of a device is w · relu(A g + B x + b), where g is the vector of the group and x are
    the loads of the device so far, see `kernels.place_groups`.
    """

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.of_group = nn.Linear(features, hidden)
        self.of_loads = nn.Linear(LOADS, hidden, bias=False)
        self.outward = nn.Linear(hidden, 1, bias=False)

    def decide(self, vectors: Tensor, offer: Offer, draws: Draws, chosen: Ints) -> Single:
        """Choose a device for each group; see `Head.decide`."""
        layers = Layers(
            self.of_group(vectors).numpy(),
            np.ascontiguousarray(self.of_loads.weight.detach().numpy().T),
            self.outward.weight.detach().numpy()[0],
        )
        read = np.zeros((*offer.cost.shape, LOADS), np.float32)
        place_groups(offer.groups, layers, draws, chosen, read)
        return read

    def logits(self, vectors: Tensor, loads: Tensor) -> Tensor:
        """Return the logits of devices; see `Head.logits`."""
        hidden = torch.relu(self.of_group(vectors).unsqueeze(1) + self.of_loads(loads))
        made: Tensor = self.outward(hidden).squeeze(2)
        return made


@dataclass(frozen=True, eq=False)
class Parsed:
    """The groups of a graph's n vertices.

    Attributes
    ----------
    vectors
        (G, d) a vector for each group, of the length of the features.
    levels
        The group of each vertex, (n,), and of each group of the level before.
    graph
        The quotient graph of the last level.
    """

    vectors: Tensor
    levels: Sequence[Ints]
    graph: Graph

    @property
    def group_of(self) -> Ints:
        """(n,) the group of each vertex after the last level."""
        return composed(self.levels)


def composed(levels: Sequence[Ints]) -> Ints:
    """Return the group of each vertex after the last level."""
    group_of = levels[0]
    for level in levels[1:]:
        group_of = level[group_of]
    return group_of


def parted(levels: Sequence[Ints], sizes: Ints) -> list[list[Ints]]:
    """Return the groups of a union of K graphs as those of each graph.

    Parameters
    ----------
    levels
        As in `Parsed`, for the union.
    sizes
        (K,) numbers of the graphs' vertices.
    """
    made: list[list[Ints]] = [[] for _ in sizes]
    for level in levels:
        parts = np.split(level, np.cumsum(sizes)[:-1])
        own = [part - part.min() for part in parts]
        sizes = np.array([part.max() + 1 for part in own], np.int32)
        for groups, part in zip(made, own, strict=True):
            groups.append(part)
    return made


class Parser(Protocol):
    """A rule that makes groups of vertices."""

    def __call__(self, graph: Graph, least: Ints, scores: Tensor) -> Ints:
        """Return the group of each vertex, (n,), numbered graph by graph.

        Parameters
        ----------
        least
            (K,) the number of groups of each graph from which on no more groups are joined.
        scores
            (M,) scores of the pairs of neighbours.
        """
        ...


@dataclass(frozen=True)
class ByScore:
    """The parser of HSDAG, see `kernels.parse`.

    Parameters
    ----------
    heaviest
        Largest weight of groups that are joined, see `graphs.Graph.weight`.
    acyclic
        Whether there is to be no cycle of groups.
    """

    heaviest: float = inf
    acyclic: bool = False

    def __call__(self, graph: Graph, least: Ints, scores: Tensor) -> Ints:
        """Return the group of each vertex; see `Parser`."""
        order = by_score(scores.detach().numpy())
        limits = least, graph.weight, self.heaviest
        return parse(graph.ends, order, graph.graph_of, *limits, graph.successors, self.acyclic)


class GroupingNetwork(nn.Module):
    """Joint embedding and grouping, after Graph Parsing Networks (Song et al., ICLR 2024).

    Each level embeds the vertices, scores their edges, parses them into groups (`kernels.parse`)
    and pools the groups, which are the vertices of the next level. All levels share their weights.

    Parameters
    ----------
    features
        d, the number of features of a vertex.

    Attributes
    ----------
    parser
        Makes the groups of each level; a study may replace it.
    """

    def __init__(self, sizes: HsdagSizes, features: int) -> None:
        super().__init__()
        length = sizes.hidden
        self.sizes = sizes
        self.parser: Parser = ByScore(sizes.heaviest or inf, sizes.acyclic)
        self.transform = nn.ModuleList([Block(features, length), Block(length, length)])
        self.embedding = Embedding(length, sizes.rounds)
        self.score = EdgeScore(length, reads_traffic=sizes.edge_traffic)
        self.pooling = Pooling(length, sums=sizes.pooling == "sum")
        self.output = nn.Sequential(
            nn.Linear(length, length), nn.ReLU(), nn.Linear(length, features)
        )

    def forward(
        self,
        features: Tensor,
        graph: Graph,
        least: Ints,
        drop: Drop,
        levels: Sequence[Ints] | None = None,
    ) -> Parsed:
        """Return the groups of graphs, and a differentiable vector for each.

        Parameters
        ----------
        features
            (n, d) features of the vertices.
        least
            (K,) the number of groups of each graph from which on no more groups are joined.
        levels
            The groups, as in `Parsed.levels`; None: those of the scores.
        """
        values = features
        for block in self.transform:
            values = block(values, drop)
        made: list[Ints] = []
        for level in range(self.sizes.levels):
            weights = normalised(graph)
            embedded = self.embedding(weights, values, drop)
            ends = torch.from_numpy(graph.ends.astype(np.int64))
            traffic = torch.from_numpy(graph.traffic.astype(np.float32))
            scores = self.score(embedded, ends, traffic, drop)
            group_of = self.parser(graph, least, scores) if levels is None else levels[level]
            made.append(group_of)
            of_ends = torch.from_numpy(group_of[graph.ends].astype(np.int64))
            is_inner = of_ends[:, 0] == of_ends[:, 1]
            inner = Inner(of_ends[is_inner, 0], scores[is_inner])
            groups = int(group_of.max()) + 1
            index = torch.from_numpy(group_of.astype(np.int64))
            values = self.pooling(weights, values, index, groups, inner)
            graph = graph.quotient(group_of)
        return Parsed(self.output(values), made, graph)
