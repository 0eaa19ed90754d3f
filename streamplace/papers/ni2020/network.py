"""The encoder-decoder of Ni et al. (AAAI 2020): an encoder, and an LSTM decoder with attention.

``B`` reads the operators as a sequence (adapted from Mirhoseini et al. 2017), ``B+F1`` reads them
as a graph, and ``B+F1&F2`` also gives the decoder the devices of the upstream operators. In orders
that do not place upstream operators first, it gives those of all neighbours placed so far.
"""

from importlib.util import cache_from_source
from inspect import getfile
from pathlib import Path
from tempfile import gettempdir

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from streamplace.papers.ni2020.features import (
    OF_OPERATOR,
    Ni2020Batch,
    NiProblem,
    encoded,
    utilisations,
)
from streamplace.papers.ni2020.policy import Decoder, placed_neighbours
from streamplace.papers.ni2020.products import SharedWeight
from streamplace.papers.ni2020.sizes import EncoderDecoderSizes
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints


class Layer(MessagePassing):  # type: ignore[misc]  # torch-geometric is not typed
    """A layer of message passing, whose class leaves no temporary file behind.

    PyG writes the method `propagate` of each class to a file, loads it, and does not remove it.
    """

    def __init__(self, aggregation: str) -> None:
        super().__init__(aggr=aggregation)
        written = Path(getfile(self.propagate))
        if written.parent == Path(gettempdir()):  # otherwise a file of PyG's own
            for file in (written, Path(cache_from_source(written))):
                file.unlink(missing_ok=True)  # an earlier instance removed them


class View(Layer):
    """One message-passing hop in one direction.

    h' = tanh(W2 [h : mean over neighbours u of tanh(W1 h_u)])
    """

    def __init__(self, before: int, after: int) -> None:
        super().__init__("mean")
        self.message_of = nn.Linear(before, after)
        self.update_of = nn.Linear(before + after, after)

    def forward(self, h: Tensor, along: Tensor) -> Tensor:
        """Return new embeddings, (V, m), from old ones, (V, n), and edges, (2, E).

        Each edge is a neighbour and the operator that receives its message.
        """
        received = self.propagate(along, sent=torch.tanh(self.message_of(h)))
        return torch.tanh(self.update_of(torch.cat([h, received], dim=1)))

    def message(self, sent_j: Tensor) -> Tensor:
        """Return the message of a neighbour."""
        return sent_j


class GraphEncoder(nn.Module):
    """Message passing upstream and downstream with shared weights, concatenated.

    With `unit_length`, the embeddings of each direction are divided by their length (Hamilton et
    al. 2017, algorithm 1, line 7).
    """

    def __init__(self, length: int, hops: int, unit_length: bool) -> None:
        super().__init__()
        self.unit_length = unit_length
        sizes = [OF_OPERATOR, *[length // 2] * hops]
        self.views = nn.ModuleList(map(View, sizes, sizes[1:]))
        self.whole = nn.Linear(length, length)

    def forward(
        self, batch: Ni2020Batch, at: Tensor, valid: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return embeddings in decoding order, (P, T, L), and the decoder's first state and cell.

        Parameters
        ----------
        at
            (P, T) int64 batch indices of the operators in decoding order.
        valid
            (P, T) bool; False beyond a problem's number of operators.
        """
        down = torch.stack([batch.source, batch.target])
        above = below = batch.operators
        for view in self.views:
            above, below = view(above, down), view(below, down.flip(0))
        if self.unit_length:
            above, below = (nn.functional.normalize(h, dim=1) for h in (above, below))
        h = torch.cat([above, below], dim=1)
        padded = h[at] * valid.unsqueeze(2)
        state = largest(self.whole(padded), valid)
        return padded, state, torch.zeros_like(state)


def largest(rows: Tensor, valid: Tensor) -> Tensor:
    """Return the maximum, (P, L), of the valid ones of each problem's rows, (P, T, L)."""
    padding = torch.where(valid, 0.0, -torch.inf).unsqueeze(2)
    return (rows + padding).amax(dim=1)


class SequenceEncoder(nn.Module):
    """An LSTM over the operators in decoding order."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(OF_OPERATOR, length, batch_first=True)

    def forward(
        self, batch: Ni2020Batch, at: Tensor, valid: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return embeddings and the decoder's first state and cell, as `GraphEncoder` does."""
        packed = nn.utils.rnn.pack_padded_sequence(
            batch.operators[at], torch.from_numpy(batch.sizes.astype("int64")), batch_first=True
        )
        read, (state, cell) = self.lstm(packed)
        padded, _ = nn.utils.rnn.pad_packed_sequence(read, batch_first=True)
        return padded, state[0], cell[0]


class EncoderDecoder(Decoder):
    """The networks of the paper, selected by their sizes; see the module's docstring.

    The decoder is

    s_t = LSTM([h_v : mean of the devices of v's placed neighbours : device of step t-1], s_t-1)
    softmax(MLP([s_t : attention of s_t over all h])),

    where h_v is the embedding of operator v, which is placed at step t, devices stand for their
    embeddings, and [a : b] is concatenation. In topological orders, such as that of the paper, the
    placed neighbours are the upstream ones.
    """

    def __init__(self, config: EncoderDecoderSizes) -> None:
        super().__init__()
        self.config = config
        self.device_count, self.reads_neighbours = config.devices, config.upstream
        self.breaks_symmetry = config.breaks_symmetry
        length = config.length
        self.encoder = (
            GraphEncoder(length, config.hops, config.unit_length)
            if config.encoder == "graph"
            else SequenceEncoder(length)
        )
        self.device = nn.Embedding(config.devices, config.device_length)
        self.from_operator = nn.Linear(length, 4 * length)
        if config.upstream:
            self.from_upstream = nn.Linear(config.device_length, 4 * length, bias=False)
        self.from_last = nn.Linear(config.device_length, 4 * length, bias=False)
        self.from_state = nn.Linear(length, 4 * length, bias=False)
        self.mix = nn.Linear(2 * length, length // 2)
        self.choose = nn.Linear(length // 2, config.devices)

    def encode(self, problem: Problem) -> NiProblem:
        """Compute the features of a problem; see `Policy.encode`."""
        return encoded(problem, utilisations(problem), self.config.order)

    def neighbours(self, batch: Ni2020Batch, order: Ints) -> Tensor:
        """Return weights that average over the placed neighbours; see `Decoder.neighbours`.

        In topological orders, these are the upstream operators, as in the paper. A backward order
        would leave the decoder nothing to read if only upstream operators counted.
        """
        placed = placed_neighbours(batch, order)
        return placed / placed.sum(dim=2, keepdim=True).clamp(min=1.0)

    def gates_of(self, embedded: Tensor) -> Tensor:
        """Return the share of operators in the gates; see `Decoder`."""
        gates: Tensor = self.from_operator(embedded)
        return gates

    def gate_weights(self) -> Tensor:
        """Return the weights that turn the state and the devices into gates; see `Decoder`."""
        tables = [self.from_state.weight, self.from_last(self.device.weight).t()]
        if self.reads_neighbours:
            tables.append(self.from_upstream(self.device.weight).t())
        return torch.cat(tables, dim=1).t()

    def logit_weight(self) -> Tensor:
        """Return the weight of the hidden layer; see `Decoder`."""
        return self.mix.weight.t()

    def logits(
        self, state: Tensor, embedded: Tensor, padding: Tensor, shared: SharedWeight
    ) -> Tensor:
        """Return logits by dot-product attention and a hidden layer; see `Decoder.logits`."""
        attention = torch.baddbmm(padding, state, embedded.transpose(1, 2))
        context = torch.softmax(attention, dim=2) @ embedded
        joined = torch.cat([state, context], dim=2).flatten(0, 1)
        hidden = torch.relu(shared.product(self.mix.bias.expand(len(joined), -1), joined))
        logits: Tensor = self.choose(hidden)
        return logits
