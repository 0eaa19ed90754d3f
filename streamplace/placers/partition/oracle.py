"""The oracle number of parts: the one that scores best."""

from dataclasses import dataclass

import numpy as np

from streamplace.placers.base import answers
from streamplace.placers.partition.base import Partitioner, parts_for
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.quality import qualities


@dataclass(frozen=True)
class Oracle:
    """Try k = 2 … devices parts with a partitioner and keep the best score; the fewest on a tie."""

    partitioner: Partitioner

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement, or raise what the partitioner raised if it had none."""
        most = parts_for(problem, None)
        numbers = range(min(2, most), most + 1)
        tries = [self.partitioner.with_parts(parts) for parts in numbers]
        found = answers(tries, problem, rng, start)
        return found[int(qualities(problem, found).argmax())]
