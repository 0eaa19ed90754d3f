"""Local search on an objective's own incremental kernels."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.flow import Flow
from sim.search import Instance, Schedule, SearchState, anneal, anneal_path_average

ROUNDING = 1e-12  # relative: how close to the best possible counts as reaching it


class Annealed(NamedTuple):
    """What one chain of annealing came to; its best placement is in the search state."""

    quality: float  # relative throughput; above 1 where there is room to spare
    enough: bool  # whether nothing can be better, or the quality asked for is reached
    changes: int  # tried


@dataclass(frozen=True)
class LocalSearch(ABC):
    """The kernels that anneal placements of one problem.

    Parameters
    ----------
    instance
        The problem's units, their streams and what may run where.
    least
        Load, over the instance's reference, that no placement stays below.
    """

    instance: Instance
    least: float

    @abstractmethod
    def anneal(
        self,
        instance: Instance,
        state: SearchState,
        rng_state: NDArray[np.uint64],
        schedule: Schedule,
        wanted: float | None = None,
    ) -> Annealed:
        """Anneal one chain in place.

        Parameters
        ----------
        instance
            `self.instance`, or one made from it.
        rng_state
            (1,) state of the generator, advanced in place.
        wanted
            Quality at which to stop; None: where nothing can be better.
        """


class UtilisationSearch(LocalSearch):
    """Annealing on the largest utilisation of any device or link."""

    def anneal(
        self,
        instance: Instance,
        state: SearchState,
        rng_state: NDArray[np.uint64],
        schedule: Schedule,
        wanted: float | None = None,
    ) -> Annealed:
        """Anneal one chain in place."""
        limit = 1.0 / (wanted * instance.reference) if wanted else self.least
        limit *= 1.0 + ROUNDING
        top, changes = anneal(instance, state, rng_state, schedule, limit)
        reached = 1.0 / (top * instance.reference) if top > 0.0 else inf
        return Annealed(reached, top <= limit, changes)


@dataclass(frozen=True)
class PathAverageSearch(LocalSearch):
    """Annealing on throughput under ``path-average``: links' equations are solved change by change.

    Parameters
    ----------
    flow
        The problem's arrays.
    """

    flow: Flow

    def anneal(
        self,
        instance: Instance,
        state: SearchState,
        rng_state: NDArray[np.uint64],
        schedule: Schedule,
        wanted: float | None = None,
    ) -> Annealed:
        """Anneal one chain in place."""
        limit = (1.0 - ROUNDING) * (wanted or 1.0 / (self.least * instance.reference))
        reached, changes = anneal_path_average(
            instance, self.flow.columns, self.flow.sinks, state, rng_state, schedule, limit
        )
        return Annealed(reached, reached >= limit, changes)
