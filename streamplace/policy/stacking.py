"""Stacked layers, which apply the weights of several policies in one product.

Small networks spend more time on calls than on arithmetic. To train one policy per graph, K
policies are therefore stacked: every weight has a leading axis of length K, and each row of a batch
is multiplied by the weights of its own member.
"""

from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

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
