"""The protocol of evaluators, their traces and local searches, and evaluators of another loss."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from streamplace.scoring.score import Score
from streamplace.sim.search import Instance, Schedule, SearchState
from streamplace.util.arrays import Floats

Placements = NDArray[np.integer]

LEAST_LOSS = 1e-30
"""Losses below count as this one in logarithms: a pass without work has a loss of 0."""


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


@dataclass(frozen=True)
class Trace:
    """What K placements do to D devices.

    Parameters
    ----------
    device_loads
        (K, D) utilisations: at the highest source rate, where they may exceed 1, or the busy share
        of the makespan.
    """

    device_loads: Floats


@dataclass(frozen=True)
class LoadTrace(Trace):
    """Loads of devices, links and operators under K placements, relative to usable capacity.

    Parameters
    ----------
    link_loads
        (K, L) utilisations of L links at the highest source rate; they may exceed 1.
    operator_loads
        (K, V) the same for the cores that each operator can use; 0 if it can use all cores of its
        device.
    """

    link_loads: Floats
    operator_loads: Floats


@dataclass(frozen=True)
class ScheduleTrace(Trace):
    """The times of operators under K placements.

    Parameters
    ----------
    start_s, finish_s
        (K, V) seconds.
    """

    start_s: Floats
    finish_s: Floats


class Evaluator(Protocol):
    """Evaluator of the placements of one problem; `scoring.registry.evaluator` returns one.

    K placements of V operators are (K, V) device indices; (V,) counts as K = 1. Every
    method raises GraphError if tuple rates overflow or no tuple ever reaches a sink, and
    SimulationError if a placement has no score.
    """

    def quality(self, devices: Placements) -> Floats:
        """Return the quality of each placement, (K,); higher is better, at most 1."""
        ...

    def loss(self, devices: Placements) -> Floats:
        """Return the loss of each placement, (K,); lower is better, without an upper limit."""
        ...

    def trace(self, devices: Placements) -> Trace:
        """Return the loads of devices, links and operators under each placement."""
        ...

    def score(self, devices: Placements) -> Score:
        """Return the score of one placement, (V,)."""
        ...

    @property
    def best_possible(self) -> float | None:
        """An upper bound on the quality of all placements; None if unknown."""
        ...

    def local_search(self) -> LocalSearch | None:
        """Return the objective's incremental search kernels, or None if it has none."""
        ...


@dataclass(frozen=True)
class OtherLoss(ABC):
    """An evaluator like another one, except for its loss.

    Parameters
    ----------
    of
        The other one.
    """

    of: Evaluator

    @abstractmethod
    def loss(self, devices: Placements) -> Floats:
        """Return the loss of each placement, (K,)."""

    def quality(self, devices: Placements) -> Floats:
        """Return the quality by the other one, (K,)."""
        return self.of.quality(devices)

    def trace(self, devices: Placements) -> Trace:
        """Return the loads, or the schedule, under each placement by the other one."""
        return self.of.trace(devices)

    def score(self, devices: Placements) -> Score:
        """Return the score of one placement, (V,), by the other one."""
        return self.of.score(devices)

    @property
    def best_possible(self) -> float | None:
        """The upper bound on the quality by the other one."""
        return self.of.best_possible

    def local_search(self) -> LocalSearch | None:
        """Return None: no kernels search for this loss."""
        return None
