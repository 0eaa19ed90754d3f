"""The oracle: the best placement over all numbers of parts."""

from dataclasses import dataclass

import numpy as np

from streamplace.placers.base import run_placers
from streamplace.placers.partition.base import Partitioner, parts_for
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.quality import qualities


@dataclass(frozen=True)
class Oracle:
    """Run a partitioner for 2 … D parts (D devices) and keep the best; ties go to fewer parts."""

    partitioner: Partitioner

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement, or raise the partitioner's last error if it found none."""
        max_parts = parts_for(problem, None)
        numbers = range(min(2, max_parts), max_parts + 1)
        tries = [self.partitioner.with_parts(parts) for parts in numbers]
        placements = run_placers(tries, problem, rng, start)
        return placements[int(qualities(problem, placements).argmax())]
