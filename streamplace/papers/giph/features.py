"""The (operator, device) pairs of a problem and what they cost, under both objectives."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from streamplace.learning.policy.costs import DeviceCosts
from streamplace.learning.policy.encoded import SortedBatch
from streamplace.papers.giph.gp_net import Pairs
from streamplace.papers.giph.sizes import GiphSizes
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.rules import rules_of
from streamplace.sim.rules import Rules
from streamplace.util.arrays import Bools, Floats, Ints

MOVES = 2  # steps of an episode per operator


@dataclass(frozen=True, eq=False)
class GiphProblem:
    """A problem as GiPH reads it.

    Attributes
    ----------
    pairs
        Its (operator, device) pairs and their costs.
    rules
        The constraints.
    kind
        (D,) devices of one kind are interchangeable.
    sizes
        What the policy reads and offers.
    """

    problem: Problem
    pairs: Pairs
    rules: Rules
    kind: Ints
    sizes: GiphSizes

    @property
    def size(self) -> int:
        """The number of operators."""
        return len(self.pairs.order)

    def pair(self, operator: int, device: int) -> int:
        """Return the pair of an operator and a device; -1 if there is none."""
        first, end = self.pairs.first[operator : operator + 2]
        found = np.flatnonzero(self.pairs.device[first:end] == device)
        return int(first + found[0]) if len(found) else -1

    def on_pairs(self, devices: Ints) -> Ints:
        """Return a placement, (V,), with the first pair of each operator whose pair is missing."""
        placed = np.array(devices, dtype=np.int32)
        for v, d in enumerate(placed.tolist()):
            if self.pair(v, d) < 0:
                placed[v] = self.pairs.device[self.pairs.first[v]]
        return placed

    def members(self, unit: int) -> Ints:
        """Return the operators of a unit."""
        return self._members[unit]

    @cached_property
    def _members(self) -> list[Ints]:
        order = np.argsort(self.rules.unit_of, kind="stable")
        counts = np.bincount(self.rules.unit_of, minlength=len(self.rules.row_of))
        return np.split(order, np.cumsum(counts)[:-1])


GiphBatch: TypeAlias = SortedBatch[GiphProblem]


def encode(problem: Problem, sizes: GiphSizes) -> GiphProblem:
    """Return the pairs of a problem; see `Policy.encode`."""
    return GiphProblem(
        problem=problem,
        pairs=pairs_of(problem),
        rules=rules_of(problem.feasibility, problem.cluster),
        kind=interchangeable(problem),
        sizes=sizes,
    )


def pairs_of(problem: Problem) -> Pairs:
    """Return the pairs of a problem: those that its constraints and device kinds allow.

    Raises
    ------
    GraphError
        If loads overflow, or no tuple ever reaches a sink.
    """
    costs = DeviceCosts.of(problem)
    is_pair = allowed_devices(problem) & np.isfinite(costs.weight)
    operator, device = (part.astype(np.int32) for part in np.nonzero(is_pair))
    numbers = is_pair.sum(axis=1)
    source, target, data = _join_parallel_streams(costs, len(numbers))
    by_target, by_source = (np.argsort(end, kind="stable") for end in (target, source))
    every = np.arange(len(numbers) + 1)
    return Pairs(
        order=problem.graph.order.astype(np.int32),
        first=_starts(numbers),
        operator=operator,
        device=device,
        source=source,
        target=target,
        first_in=np.searchsorted(target[by_target], every).astype(np.int32),
        inward=by_target.astype(np.int32),
        first_out=np.searchsorted(source[by_source], every).astype(np.int32),
        outward=by_source.astype(np.int32),
        block=_starts(numbers[source] + numbers[target] - 1),
        size=costs.size,
        speed=costs.speed,
        weight=costs.weight[operator, device],
        data=data,
        bandwidth=costs.bandwidth,
        delay=costs.delay,
        counts_delay=costs.counts_delay,
    )


def allowed_devices(problem: Problem) -> Bools:
    """Return whether the constraints allow each device for each operator alone, (V, D)."""
    masks, row_of = problem.feasibility.unit_masks
    allowed: Bools = np.asarray(masks)[row_of[problem.feasibility.unit_of]]
    return allowed


def _join_parallel_streams(costs: DeviceCosts, operators: int) -> tuple[Ints, Ints, Floats]:
    """Return the streams with those between the same operators joined, sorted by their ends."""
    key = costs.source.astype(np.int64) * operators + costs.target
    keys, which = np.unique(key, return_inverse=True)
    data = np.bincount(which.reshape(-1), costs.data, len(keys))
    source, target = (part.astype(np.int32) for part in np.divmod(keys, operators))
    return source, target, np.asarray(data, dtype=np.float64)


def _starts(lengths: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
