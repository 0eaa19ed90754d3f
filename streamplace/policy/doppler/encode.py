"""What DOPPLER reads of a problem: features, messages between operators, and longest paths."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from sim.schedule.rules import Rules
from streamplace.policy.config import SourcesFirst
from streamplace.policy.partial.costs import Costs, mean_messages, partial_costs
from streamplace.problem.problem import Problem
from streamplace.scoring.orders import traversal_order
from streamplace.scoring.rules import rules_of
from streamplace.util.arrays import Floats, Ints

Single = NDArray[np.float32]

OF_OPERATOR = 5
TINY = 1e-6  # differences that count as none, relative to the largest value


@dataclass(frozen=True, eq=False)
class EncodedProblem:
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


def encode(problem: Problem, order: SourcesFirst = "longest-path") -> EncodedProblem:
    """Return what DOPPLER reads of a problem; see `Policy.encode`."""
    costs = partial_costs(problem)
    messages, operators = mean_messages(costs), len(costs.mean)
    to_exit, after = longest_paths(costs, messages, range(len(messages) - 1, -1, -1), "exit")
    to_entry, before = longest_paths(costs, messages, range(len(messages)), "entry")
    columns = [
        costs.mean,
        np.bincount(costs.target, messages, operators),
        np.bincount(costs.source, messages, operators),
        to_entry,
        to_exit,
    ]
    return EncodedProblem(
        problem=problem,
        costs=costs,
        rules=rules_of(problem.feasibility, problem.cluster),
        features=np.stack([z_scores(np.asarray(column, np.float64)) for column in columns], axis=1),
        edges=z_scores(messages),
        to_exit=paths_of(after),
        to_entry=paths_of(before),
        order=_ordered(problem, costs, to_exit, order),
    )


def _ordered(problem: Problem, costs: Costs, to_exit: Floats, order: SourcesFirst) -> Ints:
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
