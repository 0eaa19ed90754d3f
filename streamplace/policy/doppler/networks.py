"""DOPPLER's two networks: SEL scores the operators that may be next, PLC the devices of one."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from streamplace.policy.config import DopplerSizes
from streamplace.policy.decoding import UNAVAILABLE
from streamplace.policy.doppler.batch import DopplerBatch
from streamplace.policy.doppler.decoding import OF_STATE
from streamplace.policy.doppler.encode import OF_OPERATOR
from streamplace.policy.doppler.passing import SLOPE, Passing
from streamplace.policy.doppler.scores import Head, among, among_columns, orthogonal
from streamplace.policy.partial.devices import OF_DEVICE


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
