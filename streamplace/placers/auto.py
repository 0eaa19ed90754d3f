"""The default placer: the best of the others."""

from dataclasses import dataclass

import numpy as np

from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placement import Placement
from streamplace.placers.base import Placer
from streamplace.problem import Problem
from streamplace.score import flow, throughput

AS_GOOD = 1e-9  # of the best throughput: within it, fewer devices win


@dataclass(frozen=True)
class Auto:
    """Ask several placers and keep the best answer.

    Among equally good placements it takes the fewest devices, and among those the least traffic
    between devices.
    """

    placers: tuple[Placer, ...]

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement, or raise what the last placer raised if none had any."""
        found: list[Placement] = []
        failure: PlacementError | None = None
        for placer in self.placers:
            try:
                found.append(placer(problem, rng, start))
            except InfeasibleError:
                raise
            except PlacementError as error:
                failure = error
        if failure is not None and not found:
            raise failure
        return found[_best(problem, np.stack([placement.devices for placement in found]))]


def _best(problem: Problem, candidates: np.ndarray[tuple[int, int], np.dtype[np.int32]]) -> int:
    reached = throughput(problem, candidates)
    arrays = flow(problem)
    used = [len(np.unique(devices)) for devices in candidates]
    crossing = candidates[:, arrays.source] != candidates[:, arrays.target]
    traffic = crossing @ arrays.stream_bits
    good = np.flatnonzero(reached >= (1 - AS_GOOD) * reached.max())
    return int(min(good, key=lambda i: (used[i], traffic[i], -reached[i])))
