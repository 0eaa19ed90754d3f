"""The default placer: the best of the others."""

from dataclasses import dataclass

import numpy as np

from streamplace.flows import flow
from streamplace.placement import Placement
from streamplace.placers.base import Placer, answers, throughputs
from streamplace.problem import Problem

AS_GOOD = 1e-9  # of the best throughput: within it, fewer devices win
LARGE = 5_000  # operators x devices


@dataclass(frozen=True)
class Auto:
    """Ask several placers and keep the best answer.

    Among equally good placements it takes the fewest devices, and among those the least traffic
    between devices.

    Parameters
    ----------
    placers
        Whom to ask.
    of_large
        Whom to ask where operators x devices is above 5,000: partitioners that try every number
        of parts, and the fuser, whose time grows with the square of the graph, take too long there.
    """

    placers: tuple[Placer, ...]
    of_large: tuple[Placer, ...]

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement, or raise what the last placer raised if none had any."""
        size = len(problem.graph.names) * len(problem.cluster.devices)
        found = answers(self.of_large if size > LARGE else self.placers, problem, rng, start)
        reached, arrays = throughputs(problem, found), flow(problem)
        good = np.flatnonzero(reached >= (1 - AS_GOOD) * reached.max())

        def cost(i: int) -> tuple[int, float, float]:
            devices = found[i].devices
            crossing = devices[arrays.source] != devices[arrays.target]
            used = len(np.unique(devices))
            return used, float(arrays.stream_bits[crossing].sum()), -float(reached[i])

        return found[min(good.tolist(), key=cost)]
