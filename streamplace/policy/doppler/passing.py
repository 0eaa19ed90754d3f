"""Message passing by edge-conditioned convolutions and a gated recurrent unit (Gilmer 2017)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from streamplace.policy.doppler.batch import DopplerBatch

SLOPE = 0.1  # of leaky rectifiers


class Passing(nn.Module):
    """Rounds of message passing over the streams in both directions.

    h_v = GRU(relu(Σ_u h_u W(x_uv) + b), h_v), from h_v = relu(A x_v + a),

    where W is a matrix that a network with one hidden layer makes from the value of an edge. All
    rounds share it, and so do all edges of one value, so that it is made once for each. L is
    `length`.

    Parameters
    ----------
    features
        The number of features of an operator.
    """

    def __init__(self, features: int, length: int, rounds: int) -> None:
        super().__init__()
        self.rounds = rounds
        self.read = nn.Linear(features, length)
        self.edge = nn.Linear(1, length)
        self.matrix = nn.Linear(length, length * length)
        self.bias = nn.Parameter(torch.zeros(length))
        self.update = nn.GRUCell(length, length)

    def forward(self, batch: DopplerBatch, features: Tensor) -> Tensor:
        """Return embeddings, (V, W, L), from features, (V, W, F), of W states of all operators."""
        operators, width, _ = features.shape
        length = self.bias.shape[0]
        h = torch.relu(self.read(features))
        made = self.matrix(torch.relu(self.edge(batch.values.unsqueeze(1))))
        weights = made.view(-1, length, length)[batch.value_of]
        groups, places = batch.source.shape
        for _ in range(self.rounds):
            padded = torch.cat([h, h.new_zeros(1, width, length)])
            sent = padded[batch.source.reshape(-1)].view(groups, places * width, length)
            messages = torch.bmm(sent, weights).view(groups * places, width, length)
            received = torch.zeros_like(padded).index_add(0, batch.target.reshape(-1), messages)
            read = torch.relu(received[:operators] + self.bias).flatten(0, 1)
            h = self.update(read, h.flatten(0, 1)).view(operators, width, length)
        return leaky_relu(h, SLOPE)
