"""The placer `hsdag`, which trains a network anew for every problem."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from streamplace.errors import Fault, PlacementError, UnsuitableError, UsageError
from streamplace.learning.policy.registry import PolicySection, policy_section
from streamplace.learning.training.config import read_config
from streamplace.papers.hsdag.sizes import MAX_TYPES
from streamplace.papers.hsdag.stage import HsdagStage
from streamplace.placers.base import BasePlacer, check_counts
from streamplace.placers.repair import feasible
from streamplace.placers.starting import placement_of
from streamplace.placers.trivial import Single
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.extras import load_learned
from streamplace.util.threads import one_thread

LIMITS = (
    ("episodes", 1_000_000),
    ("steps", 100_000),
    ("samples", 1_000_000),
    ("levels", 64),
)


@dataclass(frozen=True)
class HsdagPlacer(BasePlacer):
    """Train HSDAG on the problem, and return the best placement that it has made.

    It makes ``episodes * samples * (steps + 1)`` evaluations, about 2,100 by default. The first of
    each episode is of the best single device, with which rewards compare; where no device may run
    all operators, it is of the placement of `round-robin`. `papers.hsdag` has the network; its
    README says what follows the paper, what its code, and what was mended. Sizes and training are
    those of the config `hsdag`, or of `hsdag-stream` unless the objective is the makespan, with the
    devices and the types of operators of the problem.

    Parameters
    ----------
    episodes
        Number of training steps, each of which is an episode for each sample; 0: the config's.
    steps
        Number of placements of an episode; 0: the config's.
    samples
        Number of episodes of a training step; 0: the config's.
    rate
        Adam's learning rate; 0: the config's.
    levels
        How often groups are grouped; 0: the config's, once.
    start
        The placer of the placement that begins each episode; the best single device by default.

    Raises
    ------
    UsageError
        If a number is out of range.
    """

    name: ClassVar[str] = "hsdag"
    trains: ClassVar[bool] = True
    episodes: int = 0
    steps: int = 0
    samples: int = 0
    rate: float = 0.0
    levels: int = 0
    start: str = ""

    def __post_init__(self) -> None:
        check_counts(self, LIMITS, 0)
        if not 0 <= self.rate <= 1:
            fault = f"rate must be 0 to 1 (got {self.rate:g})"
            raise UsageError(Fault(fault, place=(self.name,)))

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement found, repaired where it violates a constraint.

        Raises
        ------
        UnsuitableError
            If the graph has too many types of operators.
        PlacementError
            If no placement on few devices can be repaired.
        TrainingError
            If gradients stop being finite.
        """
        fit_each = load_learned(
            "streamplace.learning.training.in_memory:fit_each", "placer 'hsdag'"
        )
        section, stage = self.section(problem), self.stage(problem)
        stage = stage.model_copy(update={"start": self._first(problem)})
        if stage.start != "single":
            # It fails here where it cannot be placed, since the error of fit_each names a stage.
            placement_of(stage.start, problem, np.random.default_rng(0))
        with one_thread():
            ((fitted,),) = fit_each(section, [problem], [stage], rng)
        (best,) = fitted.best
        assert best is not None, "a memory of refiners has no threshold"
        return feasible(problem, best.devices)

    @property
    def begins_from(self) -> str:
        """What each episode begins from, in words."""
        return self.start or "one device"

    def begun(self, problem: Problem, rng: np.random.Generator) -> Placement:
        """Return the placement that begins each episode, or one like those that training draws."""
        return placement_of(self._first(problem), problem, rng)

    def _first(self, problem: Problem) -> str:
        return self.start or ("single" if _fits_one_device(problem) else "round-robin")

    def stage(self, problem: Problem) -> HsdagStage:
        """Return how the network is trained."""
        (stage,) = read_config(_config(problem)).stage
        assert isinstance(stage, HsdagStage), "the configs of HSDAG have its algorithm"
        assert stage.optimiser is not None, "their stages have optimisers"
        samples = self.samples or stage.samples
        changes = {
            "epochs": self.episodes or stage.epochs,
            "samples": samples,
            "baseline": stage.baseline if samples > 1 else "episodes",
            "optimiser": stage.optimiser.model_copy(
                update={"rate": self.rate or stage.optimiser.rate}
            ),
        }
        return stage.model_copy(update=changes)

    def evaluations(self, problem: Problem) -> int:
        """Return the number of placements that the training on a problem scores."""
        stage, sizes = self.stage(problem), self.section(problem).sizes.model_dump()
        return int(stage.epochs * stage.samples * (sizes["steps"] + 1))

    def section(self, problem: Problem) -> PolicySection:
        """Return the kind and sizes of a network for one problem.

        Raises
        ------
        UnsuitableError
            If the graph has too many types of operators.
        """
        policy = read_config(_config(problem)).policy
        sizes: dict[str, Any] = policy.sizes.model_dump()
        types = sorted(set(problem.graph.type.values())) if "type" in sizes["features"] else []
        if len(types) > MAX_TYPES:
            raise UnsuitableError(
                f"placer 'hsdag' supports up to {MAX_TYPES:,} types of operators under the "
                f"makespan objective (the graph has {len(types):,})"
            )
        sizes |= {
            "devices": len(problem.cluster.devices),
            "types": types,
            "steps": self.steps or sizes["steps"],
            "levels": self.levels or sizes["levels"],
        }
        return policy_section({"kind": policy.kind, "sizes": sizes})


def _fits_one_device(problem: Problem) -> bool:
    """Return whether a device may run all operators, so that there is a best single device."""
    try:
        Single()(problem, np.random.default_rng(0))
    except PlacementError:
        return False
    return True


def _config(problem: Problem) -> str:
    """Return the name of the config for a problem's objective."""
    return "hsdag-stream" if problem.objective.has_rates else "hsdag"
