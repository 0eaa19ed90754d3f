"""The placer `rebuild`: parts of a placement built anew, chosen at random or by a policy."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from streamplace.policy.faults import faults_of
from streamplace.policy.improving import ImprovingPlacer
from streamplace.policy.threads import one_thread
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.extras import load_learned

POLICY = "streamplace.policy.rebuild.policy:Rebuild"
SAMPLER = "streamplace.policy.decoding:Sampler"
NEEDING = "placer 'rebuild'"


@dataclass(frozen=True)
class RebuildPlacer(ImprovingPlacer):
    """Improve a placement by building parts of it anew with list scheduling.

    The parts and the rule of each list schedule are random, or chosen by a trained policy. A part
    is kept unless the makespan rises.

    Parameters
    ----------
    evaluations
        Number of parts to build, each of which is one evaluation; 0: two per operator.
    file
        A weights file of the kind `rebuild`; without one, all choices are equally likely.

    Raises
    ------
    UsageError
        If `evaluations` is out of range.
    """

    name: ClassVar[str] = "rebuild"

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement found; it is never worse than the start.

        Parameters
        ----------
        start
            The placement to improve; without one, the best placement of a few fast placers.

        Raises
        ------
        CheckpointError
            If the weights cannot be read.
        ObjectiveError
            If the objective is not the makespan.
        UsageError
            If the weights are those of another kind of policy.
        PlacementError
            If the placement to start from cannot be repaired.
        """
        policy = self._policy()
        with faults_of(policy, "placing"), one_thread():
            encoded = policy.encode(problem)
            row = self._start(problem, rng, start)
            steps = self.evaluations or policy.episode(encoded)
            sampler = load_learned(SAMPLER, NEEDING).seeded(int(rng.integers(2**62)))
            batch = policy.batch([encoded])
            made = policy.refine(batch, row[None, None], [steps], sampler, [evaluator(problem)])
        assert made.best is not None, "refiners return the best placements"
        return Placement(problem, made.best[0, 0])

    def _policy(self) -> Any:
        return self._read(self.file) if self.file else load_learned(POLICY, NEEDING).uniform()
