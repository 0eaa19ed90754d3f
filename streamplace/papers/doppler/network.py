"""DOPPLER's two networks: SEL scores the operators that may be next, PLC the devices of one."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from streamplace.learning.policy.decoding import UNAVAILABLE
from streamplace.papers.doppler.decoding import OF_DEVICE, OF_STATE
from streamplace.papers.doppler.features import OF_OPERATOR, DopplerBatch
from streamplace.papers.doppler.sizes import DopplerSizes

SLOPE = 0.1  # of leaky rectifiers

TINY = 1e-3
"""Deviations that count as none: sums of equal embeddings differ by rounding."""


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


def among(values: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Return values, (N, …), relative to those of their segment: (x - mean) / √(variance + ε²).

    Parameters
    ----------
    segment
        (N,) the segment of each row, from 0 to `segments` - 1.
    """
    count = torch.bincount(segment, minlength=segments).clamp(min=1).to(values.dtype)
    count = count.view(-1, *[1] * (values.dim() - 1))
    empty = values.new_zeros(segments, *values.shape[1:])
    above = values - (empty.index_add(0, segment, values) / count)[segment]
    variance = empty.index_add(0, segment, above**2) / count
    return above / torch.sqrt(variance + TINY**2)[segment]


def among_columns(values: Tensor, exists: Tensor) -> Tensor:
    """Return values, (N, D, F), relative to those of the other columns that exist, (N, D) bool.

    The formula is that of `among`. Values of columns that do not exist must be 0.
    """
    is_one = exists.unsqueeze(2)
    count = is_one.sum(dim=1, keepdim=True)
    above = (values - values.sum(dim=1, keepdim=True) / count) * is_one
    variance = (above**2).sum(dim=1, keepdim=True) / count
    return above / torch.sqrt(variance + TINY**2)


class Head(nn.Module):
    """A score from four vectors: one hidden layer with a leaky rectifier."""

    def __init__(self, length: int, hidden: int) -> None:
        super().__init__()
        self.mix = orthogonal(nn.Linear(4 * length, hidden))
        self.score = orthogonal(nn.Linear(hidden, 1))

    def forward(self, *vectors: Tensor) -> Tensor:
        """Return scores, (…), from four vectors, (…, L)."""
        hidden = leaky_relu(self.mix(torch.cat(vectors, dim=-1)), SLOPE)
        scored: Tensor = self.score(hidden).squeeze(-1)
        return scored


def orthogonal(layer: nn.Linear) -> nn.Linear:
    """Return a layer with orthogonal weights and zero biases."""
    nn.init.orthogonal_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


class Rows(NamedTuple):
    """N decisions, each of one row.

    Attributes
    ----------
    problem
        (N,) the row's problem.
    column
        (N,) index of the state whose embeddings the decision reads.
    """

    problem: Tensor
    column: Tensor


class Network(nn.Module):
    """What both networks share: message passing over static and, if read, changing features."""

    def __init__(self, sizes: DopplerSizes) -> None:
        super().__init__()
        changing = OF_STATE if sizes.per_step else 0
        self.passing = Passing(OF_OPERATOR + changing, sizes.length, sizes.rounds)
        self.latent = orthogonal(nn.Linear(OF_OPERATOR, sizes.length))
        self.head = Head(sizes.length, sizes.hidden)

    def embed(self, batch: DopplerBatch, times: Tensor | None) -> Tensor:
        """Return embeddings, (V, W, L), of W states; without times, (V, W, 3), there is one."""
        features = batch.features.unsqueeze(1)
        if times is not None:
            features = torch.cat([features.expand(-1, times.shape[1], -1), times], dim=2)
        embedded: Tensor = self.passing(batch, features)
        return embedded


class Select(Network):
    """SEL: scores of candidates.

    logit_v = head(H_v, Σ_u H_u on the longest path to an exit, the same to an entry, Z_v),

    where sums are z-scores over operators and again over the candidates, and Z_v is a layer on
    the features of v as z-scores over the candidates.
    """

    def embed(self, batch: DopplerBatch, times: Tensor | None) -> Tensor:
        """Return embeddings and path sums of operators, (V, W, 3 L)."""
        own = super().embed(batch, times)
        sums = [
            among(torch.zeros_like(own).index_add(0, owner, own[on]), batch.problem_of, len(batch))
            for owner, on in (batch.to_exit, batch.to_entry)
        ]
        return torch.cat([own, *sums], dim=2)

    def logits(
        self, batch: DopplerBatch, embedded: Tensor, rows: Rows, candidates: Tensor
    ) -> Tensor:
        """Return logits, (N, V), of candidates, (N, V) bool; `UNAVAILABLE` for the others."""
        decision, operator = candidates.nonzero(as_tuple=True)
        count = len(candidates)
        at = batch.starts[rows.problem[decision]] + operator
        own, sums = embedded[at, rows.column[decision]].tensor_split(
            [embedded.shape[2] // 3], dim=1
        )
        to_exit, to_entry = among(sums, decision, count).chunk(2, dim=1)
        latent = leaky_relu(self.latent(among(batch.features[at], decision, count)), SLOPE)
        scored = self.head(own, to_exit, to_entry, latent)
        empty = torch.full(candidates.shape, UNAVAILABLE, dtype=scored.dtype, device=scored.device)
        return empty.index_put((decision, operator), scored)


class Place(Network):
    """PLC: scores of devices.

    logit_d = head(H_v, Σ_u H_u on d, Y_d, Z_v),

    where the sums over the operators on a device are z-scores over devices, Y_d is a layer on the
    features of d, and Z_v one on the features of the operator v.
    """

    def __init__(self, sizes: DopplerSizes) -> None:
        super().__init__(sizes)
        self.device = orthogonal(nn.Linear(OF_DEVICE, sizes.length))

    def logits(
        self,
        batch: DopplerBatch,
        embedded: Tensor,
        rows: Rows,
        operators: Tensor,
        resident: Tensor,
        features: Tensor,
        offered: Tensor,
    ) -> Tensor:
        """Return logits, (N, D), of the devices for one operator each, (N,).

        Parameters
        ----------
        resident
            (N, D, L) sums of the embeddings of the operators on each device.
        features, offered
            (N, D, 6) features of the devices, and (N, D) bool, which of them may be chosen.
        """
        at = batch.starts[rows.problem] + operators
        own = embedded[at, rows.column].unsqueeze(1).expand_as(resident)
        latent = leaky_relu(self.latent(batch.features[at]), SLOPE)
        of_device = leaky_relu(self.device(features), SLOPE)
        on_device = among_columns(resident, batch.exists[rows.problem])
        scored = self.head(own, on_device, of_device, latent.unsqueeze(1).expand_as(resident))
        logits: Tensor = scored.masked_fill(~offered, UNAVAILABLE)
        return logits
