"""The network of the code that Ni et al. released (github.com/xiangni/DREAM, 2019).

It is that of ``controller_device.py`` and ``graphsage`` there, with the embeddings of graphs and
the devices of upstream operators switched on. It differs from the paper in its features, encoder,
attention and devices; see the README of `papers.ni2020`.
"""

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.papers.ni2020.features import (
    BITS_PER_MBIT,
    OF_OPERATOR,
    Ni2020Batch,
    NiProblem,
    encoded,
    logarithms,
)
from streamplace.papers.ni2020.network import Layer, largest
from streamplace.papers.ni2020.policy import Decoder, placed_neighbours
from streamplace.papers.ni2020.products import SharedWeight
from streamplace.papers.ni2020.sizes import ReleasedSizes
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import rate_of_flow
from streamplace.util.arrays import Ints

LAYERS = 2


class Released(Decoder):
    """The released network; h_v is the embedding of operator v, which is placed at step t.

    s_t = LSTM([h_v : sum over v's placed neighbours u of w_uv E_u], s_t-1)
    logits = W [s_t : sum over all j of a_j h_j], where a = softmax_j(b · tanh(A s_t + h_j))

    E_u is the embedding of u's device, and w_uv is the Mbit per source tuple of the stream. The
    forget gate has a learned bias, which is 1 at first. The LSTM does not read the last device.
    """

    reads_last = False

    def __init__(self, config: ReleasedSizes) -> None:
        super().__init__()
        self.config, self.device_count = config, config.devices
        self.breaks_symmetry = config.breaks_symmetry
        length = config.length
        self.encoder = PoolingEncoder(length)
        self.device = nn.Embedding(config.devices, length)
        self.from_operator = nn.Linear(length, 4 * length, bias=False)
        self.from_neighbours = nn.Linear(length, 4 * length, bias=False)
        self.from_state = nn.Linear(length, 4 * length, bias=False)
        self.forget = nn.Parameter(torch.ones(1))
        self.query = nn.Linear(length, length, bias=False)
        self.match = nn.Linear(length, 1, bias=False)
        self.choose = nn.Linear(2 * length, config.devices, bias=False)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.xavier_uniform_(module.weight)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)

    def encode(self, problem: Problem) -> NiProblem:
        """Compute the standardised features of a problem; see `Policy.encode`."""
        means, scales = np.array(self.config.means), np.array(self.config.scales)
        return encoded(problem, (logarithms(problem) - means) / scales, "by-depth")

    def neighbours(self, batch: Ni2020Batch, order: Ints) -> Tensor:
        """Return the Mbit per source tuple from placed neighbours; see `Decoder.neighbours`."""
        sent = [
            one.flow.stream_bits / (BITS_PER_MBIT * rate_of_flow(one.problem))
            for one in batch.encoded
        ]
        return placed_neighbours(batch, order, sent)

    def gate_weights(self) -> Tensor:
        """Return the weights that turn the state and the devices into gates; see `Decoder`."""
        tables = [self.from_state.weight, self.from_neighbours(self.device.weight).t()]
        return torch.cat(tables, dim=1).t()

    def gates_of(self, embedded: Tensor) -> Tensor:
        """Return the share of the operators in the gates, with the bias of the forget gates."""
        length = embedded.shape[-1]
        bias = torch.zeros(4 * length, device=embedded.device)
        bias = torch.cat([bias[:length], self.forget.expand(length), bias[2 * length :]])
        gates: Tensor = self.from_operator(embedded) + bias
        return gates

    def logit_weight(self) -> Tensor:
        """Return the weight A of the attention; see `Decoder`."""
        return self.query.weight.t()

    def logits(
        self, state: Tensor, embedded: Tensor, padding: Tensor, shared: SharedWeight
    ) -> Tensor:
        """Return logits by additive attention; see `Decoder.logits`."""
        rows = state.flatten(0, 1)
        queries = shared.product(torch.zeros_like(rows), rows).view_as(state).unsqueeze(2)
        scores = self.match(torch.tanh(queries + embedded.unsqueeze(1))).squeeze(3) + padding
        context = torch.softmax(scores, dim=2) @ embedded
        logits: Tensor = self.choose(torch.cat([state, context], dim=2).flatten(0, 1))
        return logits


class Pooling(Layer):
    """A layer of GraphSAGE with max pooling (Hamilton et al. 2017).

    h' = [W1 h : W2 max over neighbours u of relu(W3 h_u + b)]
    """

    def __init__(self, before: int, hidden: int, after: int) -> None:
        super().__init__("max")
        self.message_of = nn.Linear(before, hidden)
        self.own = nn.Linear(before, after, bias=False)
        self.received = nn.Linear(hidden, after, bias=False)

    def forward(self, h: Tensor, along: Tensor) -> Tensor:
        """Return new embeddings, (V, 2m), from old ones, (V, n), and edges, (2, E).

        Each edge is a neighbour and the operator that receives its message.
        """
        received = self.propagate(along, sent=torch.relu(self.message_of(h)))
        return torch.cat([self.own(h), self.received(received)], dim=1)

    def message(self, sent_j: Tensor) -> Tensor:
        """Return the message of a neighbour."""
        return sent_j


class PoolingEncoder(nn.Module):
    """Two layers of GraphSAGE upstream and downstream with shared weights, concatenated.

    Every operator hears from all of its neighbours; the released code draws four of them. One
    without neighbours hears from a further operator whose features are 0, as there.
    """

    def __init__(self, length: int) -> None:
        super().__init__()
        quarter = length // 4
        sizes = [OF_OPERATOR, *[2 * quarter] * (LAYERS - 1)]
        self.layers = nn.ModuleList(Pooling(size, length, quarter) for size in sizes)
        self.hidden = nn.Linear(length, length)
        self.whole = nn.Linear(length, length, bias=False)

    def forward(
        self, batch: Ni2020Batch, at: Tensor, valid: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return embeddings and the decoder's first state and cell, as `GraphEncoder` does."""
        features = torch.cat([batch.operators, batch.operators.new_zeros(1, OF_OPERATOR)])
        ends = batch.source, batch.target
        views = [self._view(features, *pair) for pair in (ends, ends[::-1])]
        padded = torch.cat(views, dim=1)[at] * valid.unsqueeze(2)
        state: Tensor = self.whole(largest(torch.relu(self.hidden(padded)), valid))
        return padded, state, torch.zeros_like(state)

    def _view(self, features: Tensor, sender: Tensor, receiver: Tensor) -> Tensor:
        """Return the embeddings, (V, L / 2), of length 1, of one direction of the streams."""
        count = len(features) - 1
        alone = torch.ones(count + 1, dtype=torch.bool, device=features.device)
        alone[receiver] = False
        lonely = alone.nonzero().squeeze(1)
        along = torch.stack(
            [torch.cat([sender, torch.full_like(lonely, count)]), torch.cat([receiver, lonely])]
        )
        h = features
        for number, layer in enumerate(self.layers):
            h = layer(torch.relu(h) if number else h, along)
        return nn.functional.normalize(h[:count], dim=1)
