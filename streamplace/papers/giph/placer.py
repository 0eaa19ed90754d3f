"""The placer `giph`, which improves a placement by relocations."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from streamplace.learning.policy.improving import ImprovingPlacer
from streamplace.papers.giph.features import MOVES
from streamplace.placers.base import Improver
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats, Ints
from streamplace.util.extras import load_learned

WEIGHTS = Path(__file__).parent / "weights"
EPISODES = "streamplace.papers.giph.search:Episodes"
SHORT = 4  # relocations of an episode where every relocation has a price


@dataclass(frozen=True)
class GiphPlacer(ImprovingPlacer, Improver):
    """Improve a placement by relocations that a policy chooses.

    Every relocation is scored, and the best placement is returned. Episodes of two relocations per
    operator start from the best placement so far. The policy is GiPH (Hu et al., MLSys 2023).

    Parameters
    ----------
    evaluations
        Number of relocations; 0: two per operator.
    file
        A weights file of the kind `giph`; the shipped weights for the objective by default.

    Raises
    ------
    UsageError
        If `evaluations` is out of range.
    """

    name: ClassVar[str] = "giph"
    quadratic_from: ClassVar[int] = 1_000
    faster: ClassVar[str] = "giph:evaluations=N makes fewer evaluations than two per operator"

    def best_by(
        self,
        problem: Problem,
        start: Placement,
        worth: Callable[[Ints], Floats],
        rng: np.random.Generator,
    ) -> Placement:
        """Return the placement of most worth among those of short episodes from one placement.

        Parameters
        ----------
        start
            A feasible placement, such as the one after the fewest necessary moves.
        worth
            Returns the worth of placements, (K,) for (K, V), such as what they gain less the price
            of their moves.
        """

        def value(rows: Ints, _losses: Floats) -> Floats:
            return worth(rows)

        row, episodes_of = start.devices, load_learned(EPISODES, f"placer '{self.name}'")
        steps, evaluations = min(SHORT, MOVES * len(row)), self._evaluations(row)
        with self._encoded(problem) as (policy, encoded):
            episodes = episodes_of(policy, encoded, value, int(rng.integers(2**62)))
            best = episodes.best_from(row, steps, evaluations)
        return Placement(problem, best)

    def _improved(self, policy: Any, encoded: Any, start: Ints, seed: int) -> Ints:
        episodes = load_learned(EPISODES, f"placer '{self.name}'")(policy, encoded, None, seed)
        best: Ints = episodes.repeated(start, MOVES * len(start), self._evaluations(start))
        return best

    def _evaluations(self, start: Ints) -> int:
        return self.evaluations or MOVES * len(start)

    def _policy(self, problem: Problem) -> Any:
        quantity = problem.objective.quantity
        if not self.file:  # those of makespans improve any objective of a pass
            trained = "throughput" if problem.objective.has_rates else "makespan"
            return self._read(str(WEIGHTS / f"giph-{trained}.safetensors"), quantity)
        policy = self._read(self.file, quantity)
        self._check_objective(self.file, problem)
        return policy
