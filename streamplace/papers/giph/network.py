"""The networks of GiPH and of its ablations, from the features of a graph to a logit per node."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.papers.giph.sizes import GiphSizes
from streamplace.papers.giph.view import (
    Direction,
    Layers,
    Passed,
    View,
    receive,
    receive_back,
)
from streamplace.util.arrays import Ints


def joined(sizes: GiphSizes) -> int:
    """Return the number of features of a pair and of its edges' means."""
    return sizes.pair_features + sizes.edge_features


def linear(inputs: int, outputs: int) -> nn.Linear:
    """Return a layer with Xavier weights and zero bias."""
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


class Messages(nn.Module):
    """Message passing in one direction.

    The message on an edge is ReLU(W [e_s : f] + a) of its sender's embedding and its features, and
    an embedding is own_u + ReLU(U z_u + b), with z_u the mean of the messages. Nodes that no edge
    leads to keep their own embedding.

    Parameters
    ----------
    length
        The size of embeddings.
    edge_features
        The number of features of an edge that messages read.
    rounds
        Synchronous rounds; 0: one pass in topological order.
    """

    def __init__(self, length: int, edge_features: int, rounds: int) -> None:
        super().__init__()
        self.length, self.rounds = length, rounds
        self.message = linear(length + edge_features, length + edge_features)
        self.update = linear(length + edge_features, length)

    def forward(self, direction: Direction, own: Tensor, f: Tensor) -> Tensor:
        """Return embeddings, (n, e), from those before, (n, e), and features, (m, ·)."""
        weight = self.message.weight
        of_sender, of_edge = weight[:, : self.length], weight[:, self.length :]
        terms = f @ of_edge.T + self.message.bias if f.shape[1] else self.message.bias[None]
        if self.rounds == 0:
            layers = (of_sender, self.update.weight, self.update.bias)
            embedding: Tensor = Pass.apply(direction, own, terms, *layers)  # type: ignore[no-untyped-call]
            return embedding
        source, target = (torch.from_numpy(end).long() for end in direction[-2:])
        return self._rounds(source, target, own, terms, of_sender)

    def _rounds(
        self, source: Tensor, target: Tensor, own: Tensor, terms: Tensor, of_sender: Tensor
    ) -> Tensor:
        count = own.new_zeros(len(own)).index_add(0, target, own.new_ones(len(target)))[:, None]
        embedding = own
        for _ in range(self.rounds):
            messages = torch.relu((embedding @ of_sender.T)[source] + terms)
            total = own.new_zeros(len(own), messages.shape[1]).index_add(0, target, messages)
            added = torch.relu(self.update(total / count.clamp(min=1.0)))
            embedding = own + torch.where(count > 0.0, added, 0.0)
        return embedding


class Head(nn.Module):
    """The logit of each node: two layers with ReLU between."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.hidden, self.logit = linear(inputs, hidden), linear(hidden, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits, (n,), of (n, inputs)."""
        logits: Tensor = self.logit(torch.relu(self.hidden(x))).squeeze(1)
        return logits


class TwoWayNetwork(nn.Module):
    """GiPH, GiPH-k, GiPH-NE and GiPH-task-eft: embedded features, and messages in both directions.

    The features of a node are embedded by two layers, which both directions share, and the
    embeddings of both directions are joined. GiPH-NE reads the mean features of a node's outgoing
    edges, or incoming ones, as features of the node instead of features of messages.
    """

    def __init__(self, sizes: GiphSizes) -> None:
        super().__init__()
        self.joins_edges = sizes.variant == "giph-ne"
        self.outgoing = sizes.edge_means == "out"
        inputs = joined(sizes) if self.joins_edges else sizes.pair_features
        features = 0 if self.joins_edges else sizes.edge_features
        rounds = sizes.rounds if sizes.variant == "giph-k" else 0
        self.first, self.second = linear(inputs, inputs), linear(inputs, sizes.length)
        self.ahead = Messages(sizes.length, features, rounds)
        self.back = Messages(sizes.length, features, rounds)
        self.head = Head(2 * sizes.length, sizes.hidden)

    def forward(self, view: View) -> Tensor:
        """Return the logit of each node, (n,)."""
        x, f = torch.from_numpy(view.x), torch.from_numpy(view.f)
        if self.joins_edges:
            x, f = with_edge_means(view, self.outgoing), f[:, :0]
        own = self.second(torch.relu(self.first(x)))
        both = [self.ahead(along(view), own, f), self.back(against(view), own, f)]
        logits: Tensor = self.head(torch.cat(both, dim=1))
        return logits


class FeaturesOnly(nn.Module):
    """GiPH-NE-Pol: logits of a node's features and the mean features of its edges alone."""

    def __init__(self, sizes: GiphSizes) -> None:
        super().__init__()
        self.outgoing = sizes.edge_means == "out"
        self.head = Head(joined(sizes), sizes.hidden)

    def forward(self, view: View) -> Tensor:
        """Return the logit of each node, (n,)."""
        logits: Tensor = self.head(with_edge_means(view, self.outgoing))
        return logits


class GraphSage(nn.Module):
    """GraphSAGE-NE: three layers h' = W h + U mean(h of senders) + b, with ReLU between.

    The last layer has no ReLU; layers have 16, 16 and 2 · `length` outputs.
    """

    def __init__(self, sizes: GiphSizes) -> None:
        super().__init__()
        self.outgoing = sizes.edge_means == "out"
        lengths = (joined(sizes), 16, 16, 2 * sizes.length)
        pairs = list(pairwise(lengths))
        self.own = nn.ModuleList(linear(a, b) for a, b in pairs)
        self.others = nn.ModuleList(linear(a, b) for a, b in pairs)
        self.head = Head(2 * sizes.length, sizes.hidden)

    def forward(self, view: View) -> Tensor:
        """Return the logit of each node, (n,)."""
        h = with_edge_means(view, self.outgoing)
        source, target = torch.from_numpy(view.source).long(), torch.from_numpy(view.target).long()
        for number, (own, others) in enumerate(zip(self.own, self.others, strict=True)):
            h = own(h) + others(_means(h[source], target, len(h)))
            if number + 1 < len(self.own):
                h = torch.relu(h)
        logits: Tensor = self.head(h)
        return logits


def with_edge_means(view: View, outgoing: bool) -> Tensor:
    """Return features of nodes with the mean features of their edges, (n, ·); 0 without edges."""
    ends = torch.from_numpy(view.source if outgoing else view.target).long()
    x = torch.from_numpy(view.x)
    return torch.cat([x, _means(torch.from_numpy(view.f), ends, len(x))], dim=1)


def _means(rows: Tensor, index: Tensor, count: int) -> Tensor:
    """Return the mean of the rows with each index, (count, ·); 0 where there is none."""
    total = rows.new_zeros(count, rows.shape[1]).index_add(0, index, rows)
    number = rows.new_zeros(count).index_add(0, index, rows.new_ones(len(rows)))
    return total / number.clamp(min=1.0)[:, None]


NETWORKS: dict[str, Callable[[GiphSizes], nn.Module]] = {
    "giph": TwoWayNetwork,
    "giph-k": TwoWayNetwork,
    "giph-ne": TwoWayNetwork,
    "giph-ne-pol": FeaturesOnly,
    "graphsage-ne": GraphSage,
    "task-eft": TwoWayNetwork,
}
"""The network of each variant."""


def along(view: View) -> Direction:
    """Return the pass from sources to sinks."""
    visits = (view.order, view.first, view.first_in, view.inward, view.block)
    return Direction(*visits, view.source, view.target)


def against(view: View) -> Direction:
    """Return the pass from sinks to sources."""
    order = np.ascontiguousarray(view.order[::-1])
    visits = (order, view.first, view.first_out, view.outward, view.block)
    return Direction(*visits, view.target, view.source)


class Pass(torch.autograd.Function):
    """Embeddings after a pass; see `view.receive` for the formula and the shapes."""

    @staticmethod
    def forward(ctx: Any, direction: Direction, own: Tensor, *parameters: Tensor) -> Tensor:
        """Return the embeddings, (n, e); the parameters are those of `Layers`."""
        layers = Layers(*(x.detach().contiguous().numpy() for x in parameters))
        (nodes, length), wide = own.shape, layers.terms.shape[1]
        shapes = (length, wide, wide, length)
        result = Passed(*(np.empty((nodes, columns), np.float32) for columns in shapes))
        receive(direction, own.detach().contiguous().numpy(), layers, result)
        ctx.direction, ctx.layers, ctx.result = direction, layers, result
        return torch.from_numpy(result.embedding)

    @staticmethod
    def backward(ctx: Any, *changes: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of all arguments but the direction."""
        change = changes[0].detach().contiguous().numpy().copy()
        scratch = np.zeros((len(change), ctx.layers.terms.shape[1]), np.float32)
        gradient = Layers(*(np.zeros_like(x) for x in ctx.layers))
        receive_back(ctx.direction, ctx.layers, ctx.result, change, scratch, gradient)
        return None, *(torch.from_numpy(x) for x in (change, *gradient))


def union(views: Sequence[View]) -> View:
    """Return the graphs as one, in their order; a single one is returned as it is."""
    if len(views) == 1:
        return views[0]
    nodes = _offsets(len(one.pair) for one in views)
    edges = _offsets(len(one.source) for one in views)
    operators = _offsets(len(one.order) for one in views)
    streams = _offsets(len(one.inward) for one in views)

    def joined(field: str, offsets: Ints) -> Ints:
        parts = [getattr(one, field) + at for one, at in zip(views, offsets, strict=False)]
        return np.concatenate(parts).astype(np.int32)

    def starts(field: str, offsets: Ints) -> Ints:
        parts = [getattr(one, field)[:-1] + at for one, at in zip(views, offsets, strict=False)]
        return np.concatenate([*parts, offsets[-1:]]).astype(np.int32)

    return View(
        pair=np.concatenate([one.pair for one in views]),
        x=np.concatenate([one.x for one in views]),
        source=joined("source", nodes),
        target=joined("target", nodes),
        f=np.concatenate([one.f for one in views]),
        order=joined("order", operators),
        first=starts("first", nodes),
        first_in=starts("first_in", streams),
        inward=joined("inward", streams),
        first_out=starts("first_out", streams),
        outward=joined("outward", streams),
        block=starts("block", edges),
    )


def _offsets(lengths: Iterable[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(list(lengths))]).astype(np.int32)
