"""Encodings and batches of stream graphs, shared by all policies."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Self, TypeVar

import numpy as np
import torch
from torch import Tensor

from sim.flow import Flow
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import relabelled
from streamplace.util.arrays import Ints


@dataclass(frozen=True, eq=False)
class EncodedGraph:
    """A problem of V operators and D devices as arrays; policies add their features in subclasses.

    Attributes
    ----------
    flow
        The problem's arrays.
    kind
        (D,) the kind of each device; devices of one kind are interchangeable, see
        `problem.symmetry.interchangeable`.
    orders
        (O, V) operator indices, in each of the O orders in which the policy may place them.
    member
        The member of a policy stack that places the problem; see `policy.stacking`.
    """

    problem: Problem
    flow: Flow
    kind: Ints
    orders: Ints
    member: int = field(default=0, kw_only=True)

    @property
    def size(self) -> int:
        """The number of operators."""
        return self.flow.operators

    def in_order(self, order: Ints) -> Self:
        """Return the problem with one order, (V,), in place of each of its orders."""
        return replace(self, orders=np.tile(order, (len(self.orders), 1)))

    def relabelled(self, placement: Ints, order_index: int) -> Ints:
        """Return an equivalent placement, (V,), using the lowest-numbered equal devices first.

        Parameters
        ----------
        placement
            (V,) device of each operator.
        order_index
            The row of `orders` in which the operators are visited; see `problem.symmetry`.
        """
        return relabelled(placement, self.kind, self.orders[order_index])


G = TypeVar("G", bound=EncodedGraph)


class GraphBatch(Generic[G]):
    """P problems joined end to end, with V operators and E streams in total, largest first.

    A policy places one operator of each problem per step, in T steps, where T is the number of
    operators of the largest problem. Since problems are sorted by size, those that still have
    operators to place come first.

    Attributes
    ----------
    encoded
        The problems.
    sizes
        (P,) numbers of operators, in descending order.
    devices
        (P,) numbers of devices.
    members
        (P,) the member that places each problem, see `EncodedGraph.member`.
    first_operator
        (P + 1,) batch index of each problem's first operator; the last entry is the total.
    source, target
        (E,) int64 batch indices of the operators at the ends of each stream.
    problem_of
        (V,) int64 problem of each operator.

    Raises
    ------
    ValueError
        If the problems are not sorted by size, largest first.
    """

    def __init__(self, encoded: Sequence[G], device: torch.device | str = "cpu") -> None:
        self.encoded = tuple(encoded)
        self.sizes: Ints = np.array([one.size for one in encoded], dtype=np.int32)
        if np.any(np.diff(self.sizes) > 0):
            raise ValueError("problems must be sorted by size, largest first")
        self.devices: Ints = np.array([one.flow.devices for one in encoded], dtype=np.int32)
        self.members: Ints = np.array([one.member for one in encoded], dtype=np.int32)
        self.first_operator: Ints = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int32)
        self.device = torch.device(device)
        self.source, self.target = (
            self.tensor(
                np.concatenate(
                    [
                        getattr(one.flow, end) + start
                        for one, start in zip(encoded, self.first_operator, strict=False)
                    ]
                ).astype(np.int64)
            )
            for end in ("source", "target")
        )
        self.problem_of = self.tensor(np.repeat(np.arange(len(self.sizes)), self.sizes))

    def __len__(self) -> int:
        return len(self.sizes)

    def tensor(self, column: np.ndarray) -> Tensor:
        """Return an array as a tensor on the batch's torch device."""
        return torch.from_numpy(column).to(self.device)

    @property
    def columns(self) -> int:
        """The largest number of devices of any problem, so the columns of arrays over devices."""
        return int(self.devices.max())

    def active(self, steps: Ints) -> Ints:
        """Return the number of problems that have an operator left at each of the `steps`."""
        return np.searchsorted(-self.sizes, -steps).astype(np.int32)

    def orders(self, which: Ints) -> Ints:
        """Return the operators that S samples of each problem place at each step, (P, S, T).

        Entries are indices within the problem; those beyond its number of operators are -1.

        Parameters
        ----------
        which
            (S,) the row of `EncodedGraph.orders` that each sample follows.
        """
        padded = np.full((len(self), len(which), int(self.sizes[0])), -1, dtype=np.int32)
        for p, one in enumerate(self.encoded):
            padded[p, :, : one.size] = one.orders[which]
        return padded
