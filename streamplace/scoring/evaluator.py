"""The protocol of evaluators: the worth of placements of one problem under its objective."""

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
    """What each of K placements asks of devices and links, as a share of what may be used of them.

    Parameters
    ----------
    device_loads, link_loads
        (K, D) and (K, L): utilisations at the highest source rate; they may exceed 1.
    """

    device_loads: Floats
    link_loads: Floats


class Evaluator(Protocol):
    """What placements of one problem are worth; `evaluator` in `scoring.registry` makes it.

    Placements are (K, V) device indices; (V,) counts as K = 1. Every method raises GraphError where
    tuple rates overflow or no tuple ever reaches a sink, and SimulationError where a placement has
    no score.
    """

    def quality(self, devices: Placements) -> Floats:
        """Return how good each placement is, (K,): higher is better, at most 1."""
        ...

    def loss(self, devices: Placements) -> Floats:
        """Return how bad each placement is, (K,): lower is better, without an upper limit."""
        ...

    def trace(self, devices: Placements) -> Trace:
        """Return what each placement asks of devices and links."""
        ...

    def score(self, devices: Placements) -> Score:
        """Return the score of one placement, (V,)."""
        ...

    @property
    def best_possible(self) -> float | None:
        """The quality that no placement exceeds; None where that is unknown."""
        ...

    def local_search(self) -> LocalSearch | None:
        """Return the objective's incremental kernels; None where it has none."""
        ...
