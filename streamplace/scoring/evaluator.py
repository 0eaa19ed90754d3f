"""The evaluator protocol: scoring placements of one problem under its objective."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from streamplace.scoring.local_search import LocalSearch
from streamplace.scoring.score import Score
from streamplace.util.arrays import Floats

Placements = NDArray[np.integer]

LEAST_LOSS = 1e-30
"""Losses below count as this one in logarithms: a pass without work has a loss of 0."""


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
