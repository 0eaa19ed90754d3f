"""What DOPPLER reads of a problem, as arrays and, for several problems, as tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from streamplace.learning.policy.encoded import SortedBatch
from streamplace.learning.policy.partial import Costs
from streamplace.papers.doppler.sizes import SourcesFirst
from streamplace.problem.problem import Problem
from streamplace.scoring.orders import traversal_order
from streamplace.scoring.rules import rules_of
from streamplace.sim.rules import Rules
from streamplace.util.arrays import Floats, Ints

Single = NDArray[np.float32]

OF_OPERATOR = 5
TINY = 1e-6  # differences that count as none, relative to the largest value


@dataclass(frozen=True, eq=False)
class DopplerProblem:
    """A problem as DOPPLER reads it.

    Attributes
    ----------
    costs
        Costs of operators and streams.
    rules
        The constraints.
    features
        (V, 5) z-scores of the operators' cost, of the costs of their inputs and of their outputs,
        and of the costs of the longest paths from an entry and to an exit.
    edges
        (E,) z-scores of the costs of the streams.
    to_exit, to_entry
        The operators on the longest path from each operator, itself included: the index of each
        path's operator, (N,), and the operators, (N,).
    order
        (V,) all operators, the inputs of each first; see `DopplerSizes.order`.
    """

    problem: Problem
    costs: Costs
    rules: Rules
    features: Single
    edges: Single
    to_exit: tuple[Ints, Ints]
    to_entry: tuple[Ints, Ints]
    order: Ints

    @property
    def size(self) -> int:
        """The number of operators."""
        return len(self.costs.mean)

    @property
    def devices(self) -> int:
        """The number of devices."""
        return int(self.costs.seconds.shape[1])


def encode(problem: Problem, order: SourcesFirst = "longest-path") -> DopplerProblem:
    """Return what DOPPLER reads of a problem; see `Policy.encode`."""
    costs = Costs.of(problem)
    messages, operators = costs.mean_messages, len(costs.mean)
    to_exit, after = longest_paths(costs, messages, range(len(messages) - 1, -1, -1), "exit")
    to_entry, before = longest_paths(costs, messages, range(len(messages)), "entry")
    columns = [
        costs.mean,
        np.bincount(costs.target, messages, operators),
        np.bincount(costs.source, messages, operators),
        to_entry,
        to_exit,
    ]
    return DopplerProblem(
        problem=problem,
        costs=costs,
        rules=rules_of(problem.feasibility, problem.cluster),
        features=np.stack([z_scores(np.asarray(column, np.float64)) for column in columns], axis=1),
        edges=z_scores(messages),
        to_exit=paths_of(after),
        to_entry=paths_of(before),
        order=_in_order(problem, costs, to_exit, order),
    )


def _in_order(problem: Problem, costs: Costs, to_exit: Floats, order: SourcesFirst) -> Ints:
    """Return the operators in an order, (V,)."""
    if order == "longest-path":
        return longest_first(costs, to_exit)
    return traversal_order(problem, order)


def longest_paths(
    costs: Costs, messages: Floats, streams: Sequence[int], to: str
) -> tuple[Floats, Ints]:
    """Return the cost of the longest path to an entry or exit, (V,), and its next operator, (V,).

    Operators and streams on the path count, the operator itself included. Of equally long paths,
    the one of the first stream counts. The next operator of the last one is -1.

    Parameters
    ----------
    streams
        Indices of streams, those near the entry or exit first.
    """
    rest, following = np.zeros(len(costs.mean)), np.full(len(costs.mean), -1, np.int32)
    ends = (costs.source, costs.target) if to == "exit" else (costs.target, costs.source)
    near_of, far_of = (end.tolist() for end in ends)
    for e in streams:
        v, w = near_of[e], far_of[e]
        beyond = messages[e] + costs.mean[w] + rest[w]
        if following[v] < 0 or beyond > rest[v]:
            rest[v], following[v] = beyond, w
    return costs.mean + rest, following


def paths_of(following: Ints) -> tuple[Ints, Ints]:
    """Return the path from each operator as pairs: the operator, and one on its path, (N,) each."""
    every: Ints = np.arange(len(following), dtype=np.int32)
    owner, passed = [every], [every]
    while True:
        onward = following[passed[-1]]
        goes_on = onward >= 0
        if not goes_on.any():
            return np.concatenate(owner), np.concatenate(passed)
        owner.append(owner[-1][goes_on])
        passed.append(onward[goes_on])


def longest_first(costs: Costs, levels: Floats) -> Ints:
    """Return a topological order, (V,): always the candidate of highest level, ties by index."""
    waiting = np.diff(costs.first_in).tolist()
    ready: list[tuple[float, int]] = []
    for v in np.flatnonzero(np.diff(costs.first_in) == 0).tolist():
        heappush(ready, (-levels[v], v))
    order = []
    while ready:
        _, v = heappop(ready)
        order.append(v)
        for e in costs.outward[costs.first_out[v] : costs.first_out[v + 1]].tolist():
            w = int(costs.target[e])
            waiting[w] -= 1
            if not waiting[w]:
                heappush(ready, (-levels[w], w))
    return np.array(order, np.int32)


def z_scores(values: Floats) -> Single:
    """Return deviations from the mean over the standard deviation; 0 for equal values."""
    if not len(values):
        return values.astype(np.float32)
    tiny = TINY * max(float(np.abs(values).max()), 1e-300)
    scores: Single = ((values - values.mean()) / (values.std() + tiny)).astype(np.float32)
    return scores


class Groups(NamedTuple):
    """Edges in G groups of at most C, each of one value.

    Attributes
    ----------
    values
        (K,) the distinct values.
    value_of
        (G,) index of each group's value.
    source, target
        (G, C) operators at the ends of each edge; V, the number of operators, where there is none.
    """

    values: np.ndarray
    value_of: Ints
    source: Ints
    target: Ints


def groups_of(source: Ints, target: Ints, values: Floats, operators: int) -> Groups:
    """Group edges by value.

    A group has at most twice the mean number of edges of a value, so that fewer than three quarters
    of all places remain empty.
    """
    distinct, kind = np.unique(values, return_inverse=True)
    order = np.argsort(kind, kind="stable")
    counts = np.bincount(kind, minlength=len(distinct))
    size = max(1, -(-2 * len(values) // max(1, len(distinct))))
    groups = -(-counts // size)
    first = np.concatenate([[0], np.cumsum(groups)])[:-1]
    rank = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    group, place = first[kind[order]] + rank // size, rank % size
    shape = (int(groups.sum()), int(min(size, counts.max(initial=1))))
    ends = np.full((2, *shape), operators, np.int64)
    ends[0, group, place], ends[1, group, place] = source[order], target[order]
    return Groups(distinct, np.repeat(np.arange(len(distinct)), groups), ends[0], ends[1])


class DopplerBatch(SortedBatch[DopplerProblem]):
    """P problems joined end to end, with V operators in total, largest first.

    Parameters
    ----------
    like
        A tensor of the precision and the torch device of all others.

    Attributes
    ----------
    devices
        The largest number of devices of any problem.
    first
        (P + 1,) batch index of each problem's first operator; the last entry is V.
    starts
        (P,) the same as a tensor, without the last entry.
    exists
        (P, D) bool, the devices that each problem has.
    features
        (V, 5) features of the operators; see `DopplerProblem`.
    problem_of
        (V,) int64 problem of each operator.
    values, value_of, source, target
        The streams in both directions as `Groups`.
    to_exit, to_entry
        Pairs of batch indices, (N,) each: an operator, and one on its longest path.
    """

    def __init__(self, encoded: Sequence[DopplerProblem], like: Tensor) -> None:
        super().__init__(encoded)
        self._like = like
        self.devices = max(one.devices for one in self.encoded)
        self.first = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)
        self.starts = self.tensor(self.first[:-1])
        counts = np.array([one.devices for one in self.encoded])
        self.exists = self.tensor(np.arange(self.devices) < counts[:, None])
        self.features = self.tensor(np.concatenate([one.features for one in self.encoded]))
        self.problem_of = self.tensor(np.repeat(np.arange(len(self)), self.sizes))
        source = self._joined([one.costs.source for one in self.encoded])
        target = self._joined([one.costs.target for one in self.encoded])
        values = np.concatenate([one.edges for one in self.encoded])
        groups = groups_of(
            np.concatenate([source, target]),
            np.concatenate([target, source]),
            np.concatenate([values, values]),
            int(self.first[-1]),
        )
        self.values, self.value_of, self.source, self.target = map(self.tensor, groups)
        self.to_exit = self._paths([one.to_exit for one in self.encoded])
        self.to_entry = self._paths([one.to_entry for one in self.encoded])

    def tensor(self, column: np.ndarray) -> Tensor:
        """Return an array as a tensor on the batch's torch device, in its precision if real."""
        made = torch.from_numpy(np.ascontiguousarray(column)).to(self._like.device)
        return made.to(self._like.dtype) if made.is_floating_point() else made

    def active(self, step: int) -> int:
        """Return the number of problems that have an operator left at a step."""
        return int(np.searchsorted(-self.sizes, -step))

    def _joined(self, columns: Sequence[Ints]) -> Ints:
        """Return operator indices of each problem as batch indices."""
        return np.concatenate(
            [column + start for column, start in zip(columns, self.first, strict=False)]
        )

    def _paths(self, pairs: Sequence[tuple[Ints, Ints]]) -> tuple[Tensor, Tensor]:
        """Return pairs of operators of each problem as batch indices."""
        owners, others = zip(*pairs, strict=True)
        return self.tensor(self._joined(owners)), self.tensor(self._joined(others))
