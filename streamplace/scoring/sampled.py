"""Placements scored under many draws of uncertain costs."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sim.closed_form.sampled import Draws, draws_of, sampled_utilisation
from sim.flow import Flow
from streamplace.problem.problem import Problem
from streamplace.problem.uncertainty import Uncertainty
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats, Ints

ROUNDING = 1.0 + 1e-9  # largest utilisation at which everything offered counts as carried
BLOCK = 4_000_000  # draws x (operators + streams) held at a time
MAX_LOADS = 200_000_000  # draws x (operators + streams) of one placement, which take seconds
MAX_NORMALS = 40_000_000  # draws x uncertain numbers
FEWEST = 200  # draws, however large the graph


@dataclass(frozen=True, eq=False)
class CostDraws:
    """S draws of the costs of a problem; see `Uncertainty` for their distribution.

    Draws are made in blocks, so that memory does not grow with S, and are the same whenever they
    are made. Utilisations are those of ``bottleneck`` at the highest source rate. At most 1 means
    that the rate is carried under either closed form, since ``path-average`` throttles nothing
    where no device or link is full.

    Parameters
    ----------
    seed
        Words that seed the random generator.
    count
        The number of draws, S.
    """

    problem: Problem
    uncertainty: Uncertainty
    seed: tuple[int, ...]
    count: int

    @cached_property
    def normals(self) -> Floats:
        """Standard normal z of the N uncertain numbers, (S, N)."""
        return self.uncertainty.normals(np.random.default_rng(self.seed), self.count)

    def loads(self, first: int = 0, last: int | None = None) -> Draws:
        """Return the loads at the offered rate in the draws from `first` until before `last`."""
        return draws_of(self._flow, *self.uncertainty.factors(self.normals[first:last]))

    def utilisation(self, rows: Ints) -> Floats:
        """Return the largest utilisation of K placements, (K, V), in all draws: (K, S)."""
        elements = len(self._flow.instructions) + len(self._flow.source)
        step = max(1, BLOCK // elements)
        blocks = [
            sampled_utilisation(self._flow, self.loads(first, first + step), rows)
            for first in range(0, self.count, step)
        ]
        return np.concatenate(blocks, axis=1)

    @property
    def _flow(self) -> Flow:
        return flow(self.problem)


def draws_within(problem: Problem, uncertainty: Uncertainty, most: int) -> int:
    """Return a number of draws, at most `most`; fewer for large graphs, which take longer."""
    elements = len(problem.graph.names) + len(problem.graph.stream_source)
    limits = most, MAX_LOADS // elements, MAX_NORMALS // max(1, len(uncertainty))
    return max(FEWEST, min(limits))


def carried(utilisation: Floats) -> Floats:
    """Return the share of draws in which everything offered is carried, (K,) for (K, S)."""
    shares: Floats = np.mean(utilisation <= ROUNDING, axis=-1)
    return shares


def utilisation_at(utilisation: Floats, probability: float) -> Floats:
    """Return the utilisation that at least this share of draws does not exceed, (K,) for (K, S)."""
    ordered = np.sort(utilisation, axis=-1)
    count = ordered.shape[-1]
    rank = int(np.ceil(probability * count - 1e-9))  # the product is rounded
    found: Floats = ordered[..., min(count, max(1, rank)) - 1]
    return found
