"""Local search with the incremental kernels of an objective."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.flow import Flow
from sim.search import Instance, Schedule, SearchState, anneal, anneal_path_average

ROUNDING = 1e-12  # relative distance within which a limit counts as reached


class Annealed(NamedTuple):
    """The result of one annealing chain; its best placement is in the search state."""

    quality: float  # relative throughput; above 1 if more than the source rate is sustained
    enough: bool  # whether the wanted quality, or the best possible one, is reached
    changes: int  # number of changes tried


@dataclass(frozen=True)
class LocalSearch(ABC):
    """Kernels that anneal placements of one problem.

    Parameters
    ----------
    instance
        The problem's units, their streams and the devices they may run on.
    least
        Lower bound on the load of every placement, relative to the instance's reference.
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
            `self.instance`, or one derived from it.
        state
            Current and best placement, updated in place.
        rng_state
            (1,) state of the random generator, advanced in place.
        schedule
            Temperatures and number of changes.
        wanted
            Quality at which to stop; None: the best possible one.
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
    """Annealing on ``path-average`` throughput; solves the links' equations after every change.

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
