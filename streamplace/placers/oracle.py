"""The oracle number of parts: whatever scores best."""

from dataclasses import dataclass

import numpy as np

from streamplace.placement import Placement
from streamplace.placers.base import Partitioner, parts_for
from streamplace.problem import Problem
from streamplace.score import throughput


@dataclass(frozen=True)
class Oracle:
    """Try k = 2 … devices parts with a partitioner and keep the best score; the fewest on a tie."""

    partitioner: Partitioner

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement."""
        most = parts_for(problem, None)
        tried = [
            self.partitioner.with_parts(parts)(problem, rng, start)
            for parts in range(min(2, most), most + 1)
        ]
        reached = throughput(problem, np.stack([placement.devices for placement in tried]))
        return tried[int(reached.argmax())]
