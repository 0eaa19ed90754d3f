"""The evaluator protocol: scoring placements of one problem under its objective."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from streamplace.scoring.local_search import LocalSearch
from streamplace.scoring.score import Score
from streamplace.util.arrays import Floats

Placements = NDArray[np.integer]


@dataclass(frozen=True)
class Trace:
    """Loads of devices, links and operators under K placements, relative to usable capacity.

    Parameters
    ----------
    device_loads, link_loads
        (K, D) and (K, L) utilisations of D devices and L links at the highest source rate; they may
        exceed 1.
    operator_loads
        (K, V) the same for the cores that each operator can use; 0 if it can use all cores of its
        device.
    """

    device_loads: Floats
    link_loads: Floats
    operator_loads: Floats


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
