"""What GiPH reads of a problem, and batches of problems."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from sim.schedule.rules import Rules
from streamplace.policy.config import GiphSizes
from streamplace.policy.encoded import SortedBatch
from streamplace.policy.giph.kernels.gp_net import Pairs
from streamplace.policy.giph.pairs import pairs_of
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.rules import rules_of
from streamplace.util.arrays import Ints

MOVES = 2  # steps of an episode per operator


@dataclass(frozen=True, eq=False)
class EncodedProblem:
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

    @property
    def is_pass(self) -> bool:
        """Whether the objective is the makespan."""
        return isinstance(self.problem.objective, Makespan)

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


GiphBatch: TypeAlias = SortedBatch[EncodedProblem]


def encode(problem: Problem, sizes: GiphSizes) -> EncodedProblem:
    """Return the pairs of a problem; see `Policy.encode`."""
    return EncodedProblem(
        problem=problem,
        pairs=pairs_of(problem),
        rules=rules_of(problem.feasibility, problem.cluster),
        kind=interchangeable(problem),
        sizes=sizes,
    )
