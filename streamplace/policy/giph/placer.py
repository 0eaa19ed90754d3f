"""The placer `giph`: relocations by a policy trained on generated problems."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from streamplace.policy.faults import faults_of
from streamplace.policy.giph.pairs import MOVES
from streamplace.policy.improving import ImprovingPlacer, family_of
from streamplace.policy.threads import one_thread
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats, Ints
from streamplace.util.extras import load_learned

if TYPE_CHECKING:
    from streamplace.policy.giph.search import Episodes, Value

SHIPPED = Path(__file__).parents[1] / "shipped"
EPISODES = "streamplace.policy.giph.search:Episodes"
SHORT = 4  # relocations of an episode where every relocation has a price


@dataclass(frozen=True)
class GiphPlacer(ImprovingPlacer):
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

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement of all episodes; it is never worse than the start.

        Parameters
        ----------
        start
            The placement to improve; without one, the best placement of a few fast placers.

        Raises
        ------
        CheckpointError
            If the weights cannot be read.
        UsageError
            If they are those of another kind of policy, or were trained for the other objective.
        PlacementError
            If the placement to start from cannot be repaired.
        """
        row = self._start(problem, rng, start)
        with self._episodes(problem, None, rng) as episodes:
            best = episodes.repeated(row, MOVES * len(row), self._evaluations(row))
        return Placement(problem, best)

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

        row = start.devices
        with self._episodes(problem, value, rng) as episodes:
            best = episodes.best_from(row, min(SHORT, MOVES * len(row)), self._evaluations(row))
        return Placement(problem, best)

    @contextmanager
    def _episodes(
        self, problem: Problem, value: "Value | None", rng: np.random.Generator
    ) -> "Iterator[Episodes]":
        """Provide episodes on a problem, on one thread; without a value, losses count."""
        episodes_of = load_learned(EPISODES, "placer 'giph'")
        policy = self._policy(problem)
        seed = int(rng.integers(2**62))
        with faults_of(policy, "placing"), one_thread():
            policy.check(problem)
            yield episodes_of(policy, policy.encode(problem), value, seed)

    def _evaluations(self, start: Ints) -> int:
        return self.evaluations or MOVES * len(start)

    def _policy(self, problem: Problem) -> Any:
        shipped = SHIPPED / f"giph-{family_of(problem.objective)}.safetensors"
        file = self.file or str(shipped)
        policy = self._read(file)
        self._check_objective(file, problem)
        return policy
