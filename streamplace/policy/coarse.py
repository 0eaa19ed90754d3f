"""Groups of operators that a policy places as wholes, and the refinement of what it placed."""

from dataclasses import dataclass

import numpy as np

from streamplace.placers.search.annealing import Annealer
from streamplace.placers.search.coarsening import levels_of, refined, refined_below
from streamplace.problem.grouping import Grouping
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.problem_of_groups import problem_of_groups
from streamplace.scoring.quality import qualities
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Ints

SHARE = 0.4  # maximum work of one group, as a share of the mean work per device
PER_DEVICE = 3  # groups per device of the coarsest level


@dataclass(frozen=True)
class Part:
    """A problem that a policy places: a whole one, or that of the groups of its operators."""

    problem: Problem
    grouping: Grouping | None = None

    def expanded(self, rows: Ints) -> Ints:
        """Return the devices of operators, (N, V), for those of this problem's operators."""
        return rows if self.grouping is None else rows[:, self.grouping.group_of]


class Coarsening:
    """The levels of a problem: its units, and successively larger groups of them.

    Groups are joined along heavy streams; see `placers.search.coarsening`.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._levels = levels_of(problem, SHARE, per_device=PER_DEVICE)
        self._group_of = [problem.feasibility.unit_of]
        for group in self._levels.groups:
            self._group_of.append(group[self._group_of[-1]])

    def parts(self, largest: int) -> list["Part"]:
        """Return the problems of groups that a policy can place, the one with most groups first.

        Parameters
        ----------
        largest
            The largest number of groups; if every level has more, the coarsest is returned.
        """
        sizes = [int(group.max()) + 1 for group in self._group_of]
        wanted = [
            problem_of_groups(self._problem, Grouping(self._problem.graph, group))
            for group, size in zip(self._group_of[1:], sizes[1:], strict=True)
            if size <= max(largest, sizes[-1])
        ]
        return [Part(*made) for made in wanted if made is not None]

    def refined(self, placement: Placement, rng: np.random.Generator, changes: int) -> Placement:
        """Return the better of a feasible placement and of the one that short chains make of it.

        The chains begin on the coarsest level whose groups the placement keeps together.

        Parameters
        ----------
        changes
            Changes tried per group or unit on every level.
        """
        problem, devices = self._problem, placement.devices
        annealer = Annealer(problem, rng, headroom=True)
        level = max(
            (n for n, group in enumerate(self._group_of) if _keeps(group, devices)), default=0
        )
        on = np.empty(self._group_of[level].max() + 1, np.int32)
        on[self._group_of[level]] = devices
        chain = refined(annealer, self._levels.instances[level], on, changes)
        chain = refined_below(annealer, self._levels, level, chain, changes)
        candidate = Placement(problem, chain.on[problem.feasibility.unit_of])
        before, after = qualities(problem, [placement, candidate])
        return candidate if after >= before else placement


def supports_search(problem: Problem) -> bool:
    """Return whether the problem's objective supports local search."""
    return evaluator(problem).local_search() is not None


def _keeps(group_of: Ints, devices: Ints) -> bool:
    """Return whether operators of one group, (V,), are on one device."""
    on = np.empty(int(group_of.max()) + 1, np.int32)
    on[group_of] = devices
    return bool((on[group_of] == devices).all())
