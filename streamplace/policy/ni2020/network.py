"""The encoder-decoder of Ni et al. (AAAI 2020): an encoder, and an LSTM decoder with attention.

``B`` reads the operators as a sequence (adapted from Mirhoseini et al. 2017), ``B+F1`` reads them
as a graph, and ``B+F1&F2`` also gives the decoder the devices of the upstream operators. In orders
that do not place upstream operators first, it gives those of all neighbours placed so far.
"""

import torch
from torch import Tensor, nn

from streamplace.policy.config import EncoderDecoderSizes
from streamplace.policy.ni2020.decoder import Decoder
from streamplace.policy.ni2020.decoding import placed_neighbours
from streamplace.policy.ni2020.encoders import GraphEncoder, SequenceEncoder
from streamplace.policy.ni2020.features import Ni2020Batch, NiProblem, encoded, utilisations
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints


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
        self.devices, self.reads_neighbours = config.devices, config.upstream
        self.breaks_symmetry = config.breaks_symmetry
        length = config.length
        self.encoder = (
            GraphEncoder(length, config.hops)
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

    def canonical(self, encoded: NiProblem, placement: Ints, sample: int) -> Ints:
        """Return an equivalent placement that uses equal devices in decoding order.

        Without `breaks_symmetry`, return the placement unchanged.
        """
        return encoded.relabelled(placement, 0) if self.breaks_symmetry else placement

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
        tables = [self.from_state.weight.t(), self.from_last(self.device.weight)]
        if self.reads_neighbours:
            tables.append(self.from_upstream(self.device.weight))
        return torch.cat(tables)

    def logits(self, state: Tensor, embedded: Tensor, padding: Tensor) -> Tensor:
        """Return logits by dot-product attention and a hidden layer; see `Decoder.logits`."""
        attention = torch.baddbmm(padding, state, embedded.transpose(1, 2))
        context = torch.softmax(attention, dim=2) @ embedded
        joined = torch.cat([state, context], dim=2).flatten(0, 1)
        logits: Tensor = self.choose(torch.relu(self.mix(joined)))
        return logits
