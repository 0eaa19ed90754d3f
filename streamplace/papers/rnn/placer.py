"""The placer `rnn`, which trains a network anew for every problem."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamplace.errors import Fault, UnsuitableError, UsageError
from streamplace.learning.policy.registry import PolicySection, policy_section
from streamplace.learning.training.stages import Stage
from streamplace.placers.base import BasePlacer, check_counts
from streamplace.placers.repair import feasible
from streamplace.problem.objectives import check_order
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.extras import load_learned
from streamplace.util.threads import one_thread

FEATURES, NEEDING = "streamplace.papers.rnn.features", "placer 'rnn'"
LIMITS = (("steps", 1_000_000), ("samples", 1_000_000))


@dataclass(frozen=True)
class RnnPlacer(BasePlacer):
    """Train an RNN placer on the problem, and return the best placement that it has sampled.

    It makes ``steps * samples`` evaluations. `papers.rnn` has the network; its README says what
    follows the paper of GiPH and what its code.

    Parameters
    ----------
    steps
        Number of training steps.
    samples
        Number of placements that are sampled and scored in each step.
    rate
        Adam's learning rate: 0.01 in the paper, 0.1 in the released code.
    order
        The traversal order in which operators are read and placed, see `scoring.orders`.
    frozen_attention
        Whether to leave the attention's weights untrained, as the released code does by mistake.

    Raises
    ------
    UsageError
        If a number is out of range, or there is no such order.
    """

    name: ClassVar[str] = "rnn"
    trains: ClassVar[bool] = True
    steps: int = 100
    samples: int = 4
    rate: float = 0.01
    order: str = "topo-level"
    frozen_attention: bool = False

    def __post_init__(self) -> None:
        check_counts(self, LIMITS, 1)
        if not 0 < self.rate <= 1:
            fault = f"rate must be above 0 and at most 1 (got {self.rate:g})"
            raise UsageError(Fault(fault, place=(self.name,)))
        check_order(self.order)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement found, repaired where it violates a constraint.

        Raises
        ------
        UnsuitableError
            If the graph or the cluster is too large.
        PlacementError
            If none of the network's placements can be repaired.
        TrainingError
            If gradients stop being finite.
        """
        fit_each = load_learned("streamplace.learning.training.in_memory:fit_each", NEEDING)
        section = self._section(problem)
        with one_thread():
            ((fitted,),) = fit_each(section, [problem], [self.stage], rng)
        best: Placement | None = fitted.best[0]
        if best is None:  # nothing could be repaired: an error that says why
            return feasible(problem, np.zeros(len(problem.graph.names), np.int32))
        return best

    @property
    def stage(self) -> Stage:
        """How the network is trained."""
        return Stage.of(
            {
                "algorithm": "reinforce",
                "epochs": self.steps,
                "samples": self.samples,
                "reward": "sqrt-loss",
                "baseline": "running",
                "window": self.steps,
                "memory": {"size": 1, "samples": 0},
                "optimiser": {"rate": self.rate},
            }
        )

    def _section(self, problem: Problem) -> PolicySection:
        """Return the kind and sizes of a network for one problem.

        Raises
        ------
        UnsuitableError
            If the problem is larger than sizes may be.
        """
        sizes = {
            "devices": len(problem.cluster.devices),
            "operators": len(problem.graph.names),
            "out_streams": load_learned(f"{FEATURES}:most_outputs", NEEDING)(problem),
            "labels": load_learned(f"{FEATURES}:labels_of", NEEDING)(problem),
            "order": self.order,
            "frozen_attention": self.frozen_attention,
        }
        try:
            return policy_section({"kind": "rnn", "sizes": sizes})
        except ValueError as error:
            raise UnsuitableError(
                f"placer 'rnn' cannot place so large a problem: {error}"
            ) from None
