"""A stack of device scorers, in which each problem of a batch is placed by its own member.

Small networks spend more time on calls than on arithmetic. To train one policy per graph, K
policies are therefore stacked: every weight has a leading axis of length K, and each row of a batch
is multiplied by the weights of its own member.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.device_scorer.features import CandidateFeatures
from streamplace.learning.policy.device_scorer.network import (
    DecodingState,
    DeviceScorer,
    Hop,
    ScorerBatch,
)
from streamplace.learning.policy.teachers import Teacher
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.util.arrays import Bools, Ints

M = TypeVar("M", bound=nn.Module)


class MemberRows:
    """The rows of a computation grouped by member, padded to the same number per member.

    Parameters
    ----------
    member
        (N,) int64 member of each row.
    members
        K, the number of members.
    """

    def __init__(self, member: Tensor, members: int) -> None:
        counts = torch.bincount(member, minlength=members)
        self.members, self.rows_per_member = members, int(counts.max())
        order = torch.argsort(member, stable=True)
        starts = counts.cumsum(0) - counts
        rank = torch.arange(len(member), device=member.device) - starts[member[order]]
        self._slot = torch.empty_like(member)
        self._slot[order] = member[order] * self.rows_per_member + rank
        self.in_order = len(member) == members * self.rows_per_member and bool(
            (self._slot == torch.arange(len(member), device=member.device)).all()
        )

    def spread(self, rows: Tensor) -> Tensor:
        """Return rows, (N, …), grouped by member, padded with zeros to n each, (K·n, …)."""
        if self.in_order:
            return rows
        padded = rows.new_zeros(self.members * self.rows_per_member, *rows.shape[1:])
        return padded.index_copy(0, self._slot, rows)

    def collect(self, padded: Tensor) -> Tensor:
        """Return grouped rows, (K·n, …), in their original order, (N, …)."""
        return padded if self.in_order else padded[self._slot]


class Members:
    """The rows that the stacked layers of a network currently apply to."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.rows: MemberRows | None = None  # None: the rows are already grouped and padded


class StackedLinear(nn.Module):
    """K linear layers: row n is multiplied by the weights of its member."""

    def __init__(self, layers: Sequence[nn.Linear], members: Members) -> None:
        super().__init__()
        self.weight = _stacked([layer.weight for layer in layers])
        biases = [layer.bias for layer in layers if layer.bias is not None]
        self.bias = _stacked(biases) if biases else None
        self.applied = members

    def forward(self, x: Tensor) -> Tensor:
        """Return (N, …, out) from (N, …, in)."""
        rows = self.applied.rows
        padded = x if rows is None else rows.spread(x)
        by_member = padded.reshape(self.applied.count, -1, x.shape[-1])
        if self.bias is None:
            made = torch.bmm(by_member, self.weight.transpose(1, 2))
        else:
            made = torch.baddbmm(self.bias.unsqueeze(1), by_member, self.weight.transpose(1, 2))
        made = made.reshape(*padded.shape[:-1], -1)
        return made if rows is None else rows.collect(made)


class StackedLayerNorm(nn.Module):
    """K layer norms: row n is scaled and shifted by the parameters of its member."""

    def __init__(self, layers: Sequence[nn.LayerNorm], members: Members) -> None:
        super().__init__()
        self.weight = _stacked([layer.weight for layer in layers])
        self.bias = _stacked([layer.bias for layer in layers])
        self._shape, self._epsilon = layers[0].normalized_shape, layers[0].eps
        self.applied = members

    def forward(self, x: Tensor) -> Tensor:
        """Return (N, H) from (N, H)."""
        rows = self.applied.rows
        normal = nn.functional.layer_norm(x, self._shape, eps=self._epsilon)
        padded = normal if rows is None else rows.spread(normal)
        by_member = padded.reshape(self.applied.count, -1, x.shape[-1])
        made = by_member * self.weight.unsqueeze(1) + self.bias.unsqueeze(1)
        made = made.reshape(padded.shape)
        return made if rows is None else rows.collect(made)


def stack_layers(network: nn.Module, networks: Sequence[nn.Module], members: Members) -> None:
    """Replace the layers of a network by stacks of the same layers of several networks, in place.

    Raises
    ------
    TypeError
        If a layer with parameters is neither a linear layer nor a layer norm.
    """
    for name, child in list(network.named_children()):
        layers = [other.get_submodule(name) for other in networks]
        if isinstance(child, nn.Linear):
            setattr(network, name, StackedLinear(_all(layers, nn.Linear), members))
        elif isinstance(child, nn.LayerNorm):
            setattr(network, name, StackedLayerNorm(_all(layers, nn.LayerNorm), members))
        else:
            if next(child.parameters(recurse=False), None) is not None:
                raise TypeError(f"{name}: a layer of type {type(child).__name__} cannot be stacked")
            stack_layers(child, layers, members)


def _stacked(parameters: Sequence[Tensor]) -> nn.Parameter:
    return nn.Parameter(torch.stack([parameter.detach() for parameter in parameters]))


def _all(layers: Sequence[nn.Module], kind: type[M]) -> list[M]:
    return [layer for layer in layers if isinstance(layer, kind)]


class StackedScorer(DeviceScorer):
    """K device scorers of the same sizes.

    `EncodedGraph.member` selects the member that places a problem.
    """

    def __init__(self, scorers: Sequence[DeviceScorer]) -> None:
        with torch.random.fork_rng(devices=[]):  # the random weights are replaced below
            super().__init__(scorers[0].config)
        self.members = len(scorers)
        self._applied = Members(self.members)
        self._to_streams = Members(self.members)
        self._member_of_row: Tensor | None = None
        stack_layers(self, scorers, self._applied)
        for layer in self.modules():
            if isinstance(layer, Hop) and isinstance(layer.stream, StackedLinear):
                layer.stream.applied = self._to_streams

    def unstacked(self) -> list[DeviceScorer]:
        """Return the members as separate policies."""
        state = self.state_dict()
        with torch.random.fork_rng(devices=[]):
            policies = [DeviceScorer(self.config) for _ in range(self.members)]
        for k, policy in enumerate(policies):
            policy.load_state_dict({name: tensor[k] for name, tensor in state.items()})
            policy.to(self.torch_device)
        return policies

    def embed(self, batch: ScorerBatch) -> tuple[Tensor, Tensor]:
        """Return each problem's embeddings by its member; see `DeviceScorer.embed`."""
        of_problem = batch.tensor(batch.members.astype(np.int64))
        of_operator = of_problem[batch.problem_of]
        self._applied.rows = MemberRows(of_operator, self.members)
        self._to_streams.rows = MemberRows(of_operator[batch.source], self.members)
        return super().embed(batch)

    def logits(
        self, operator: Tensor, resident: Tensor, candidates: Tensor, offered: Tensor
    ) -> Tensor:
        """Return each row's logits by its member; see `DeviceScorer.logits`."""
        assert self._member_of_row is not None, "sample and rollout set the members of rows"
        rows = MemberRows(self._member_of_row[: len(operator)], self.members)
        self._applied.rows = None
        inputs = (rows.spread(part) for part in (operator, resident, candidates, offered))
        return rows.collect(super().logits(*inputs))

    def sample(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        """Place every problem `samples` times, in torch; see `Constructive.sample`."""
        self._member_of_row = _members_of_rows(batch, samples)
        with torch.inference_mode():
            return self._sampled(batch, samples, sampler)

    def rollout(
        self,
        batch: ScorerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Place every problem `samples` times; see `Constructive.rollout`."""
        self._member_of_row = _members_of_rows(batch, samples)
        return super().rollout(batch, samples, sampler, forced, teacher)

    def _log_probabilities(
        self,
        state: DecodingState,
        embedded: tuple[Tensor, Tensor],
        candidates: CandidateFeatures,
        offered: Bools,
        chosen: Sequence[Tensor],
    ) -> Tensor:
        """Return the log-probabilities of all devices in all decisions; see `DeviceScorer`."""
        of_row = self._member_of_row
        assert of_row is not None, "rollout sets the members of rows"
        self._member_of_row = torch.cat([of_row[: len(taken)] for taken in chosen])
        return super()._log_probabilities(state, embedded, candidates, offered, chosen)


def _members_of_rows(batch: ScorerBatch, samples: int) -> Tensor:
    """Return the member of each row, (P·S,)."""
    return batch.tensor(batch.members.astype(np.int64)).repeat_interleave(samples)
