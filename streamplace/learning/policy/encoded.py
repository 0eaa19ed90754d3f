"""Encoded problems, batches of them, and checks of what policies may support, without torch."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Literal, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable, relabel
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import throughput_evaluator
from streamplace.sim.closed_form.bottleneck import lowest_utilisation
from streamplace.sim.flow import Flow
from streamplace.sim.lookahead import LookaheadProblem
from streamplace.util.arrays import Ints


class Encoded(Protocol):
    """A problem with the features that a policy computes from it."""

    @property
    def problem(self) -> Problem:
        """The problem."""
        ...

    @property
    def size(self) -> int:
        """The number of operators."""
        ...


E = TypeVar("E", bound=Encoded)


@runtime_checkable
class Reorderable(Protocol):
    """An encoded problem whose operators can be placed in any order."""

    def in_order(self, order: Ints) -> object:
        """Return the problem with another order of its operators, (V,)."""
        ...


@runtime_checkable
class BeamSearching(Protocol):
    """A policy that supports beam search."""

    def beam(self, batch: Any, width: int) -> Ints:
        """Return the most likely placements, (width, V), that a beam search finds for a problem."""
        ...


class SortedBatch(Generic[E]):
    """Several encoded problems without further arrays, largest first.

    Raises
    ------
    ValueError
        If the problems are not sorted by size, largest first.
    """

    def __init__(self, encoded: Sequence[E]) -> None:
        self.encoded = tuple(encoded)
        if np.any(np.diff(self.sizes) > 0):
            raise ValueError("problems must be sorted by size, largest first")

    @cached_property
    def sizes(self) -> Ints:
        """(P,) numbers of operators, in descending order."""
        return np.array([one.size for one in self.encoded], dtype=np.int32)

    def __len__(self) -> int:
        return len(self.encoded)


class Batch(Protocol):
    """Several encoded problems as tensors, largest first."""

    @property
    def encoded(self) -> Sequence[Encoded]:
        """The problems, largest first."""
        ...

    @property
    def sizes(self) -> Ints:
        """(P,) numbers of operators, in descending order."""
        ...

    def __len__(self) -> int: ...


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
        The member of a policy stack that places the problem; see
        `learning.policy.device_scorer.stacked`.
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
        return relabel(placement, self.kind, self.orders[order_index])


G = TypeVar("G", bound=EncodedGraph)


class JoinedGraphs(SortedBatch[G]):
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

    Raises
    ------
    ValueError
        If the problems are not sorted by size, largest first.
    """

    def __init__(self, encoded: Sequence[G]) -> None:
        super().__init__(encoded)
        self.devices: Ints = np.array([one.flow.devices for one in encoded], dtype=np.int32)
        self.members: Ints = np.array([one.member for one in encoded], dtype=np.int32)
        self.first_operator: Ints = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int32)

    def ends(self, end: Literal["source", "target"]) -> NDArray[np.int64]:
        """Return the batch indices of the operators at one end of each stream, (E,)."""
        firsts = zip(self.encoded, self.first_operator, strict=False)
        joined = np.concatenate([getattr(one.flow, end) + first for one, first in firsts])
        return joined.astype(np.int64)

    def owners(self) -> NDArray[np.int64]:
        """Return the problem of each operator, (V,)."""
        return np.repeat(np.arange(len(self)), self.sizes)

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


def lookahead_problem(problem: Problem) -> LookaheadProblem:
    """Return a problem as arrays for `streamplace.sim.lookahead`.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    arrays = flow(problem)
    feasibility = problem.feasibility
    allowed, row_of = feasibility.masks
    overload_matters = throughput_evaluator(problem).overload_matters
    return LookaheadProblem(
        flow=arrays,
        unit=1.0 if overload_matters else lowest_utilisation(arrays),
        kind=interchangeable(problem),
        leader=feasibility.first_of[feasibility.unit_of],
        row_of=row_of,
        allowed=np.ascontiguousarray(allowed),
        needs=feasibility.operator_needs,
        room=feasibility.room,
    )
