"""The encoders of Ni et al. (AAAI 2020), which embed the operators of a graph."""

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from streamplace.policy.ni2020.features import OF_OPERATOR, Ni2020Batch


class View(MessagePassing):  # type: ignore[misc]  # torch-geometric is not typed
    """One message-passing hop in one direction.

    h' = tanh(W2 [h : mean over neighbours u of tanh(W1 h_u)])
    """

    def __init__(self, before: int, after: int) -> None:
        super().__init__(aggr="mean")
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
    """Message passing upstream and downstream with shared weights, concatenated."""

    def __init__(self, length: int, hops: int) -> None:
        super().__init__()
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
