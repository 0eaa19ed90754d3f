"""The base of placers that improve a placement within a number of evaluations, by a policy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from streamplace.errors import UsageError
from streamplace.placers.repair import feasible
from streamplace.placers.starting import fast_placement
from streamplace.policy.placer import loaded
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints

MOST = 10_000_000  # evaluations


@dataclass(frozen=True)
class ImprovingPlacer:
    """A placer that improves a placement by a policy of one kind, whose name it has.

    Parameters
    ----------
    evaluations
        Number of evaluations; 0: two per operator.
    file
        A weights file of that kind.

    Raises
    ------
    UsageError
        If `evaluations` is out of range.
    """

    name: ClassVar[str]
    evaluations: int = 0
    file: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.evaluations <= MOST:
            raise UsageError(
                f"{self.name}: evaluations must be 0 to {MOST} (got {self.evaluations})"
            )

    def _read(self, file: str) -> Any:
        """Return the policy in a weights file, which needs torch.

        Raises
        ------
        CheckpointError
            If the weights cannot be read.
        UsageError
            If it is not of the placer's kind.
        """
        read = loaded(file)
        if read.kind != self.name:
            fault = "has a policy of another kind; use policy:file=…"
            raise UsageError(f"{self.name}: {file} {fault}")
        return read.policy

    def _check_objective(self, file: str, problem: Problem) -> None:
        """Refuse weights that were trained only for the other objective.

        Raises
        ------
        UsageError
            If they were.
        """
        trained, own = trained_for(loaded(file).card), family_of(problem.objective)
        if trained and own not in trained:
            fault = f"was trained for {' and '.join(sorted(trained))}, not for {own}"
            raise UsageError(f"{self.name}: {file} {fault}; policy:file=… uses it all the same")

    def _start(self, problem: Problem, rng: np.random.Generator, start: Placement | None) -> Ints:
        """Return the devices to start from, (V,), repaired where they violate a constraint.

        Parameters
        ----------
        start
            The placement to improve; without one, the best placement of a few fast placers.

        Raises
        ------
        PlacementError
            If it cannot be repaired.
        """
        first = fast_placement(problem, rng) if start is None else start
        return feasible(problem, first.devices).devices


def family_of(objective: object) -> str:
    """Return ``makespan`` for makespans and what derives from them, else ``throughput``."""
    return "makespan" if isinstance(objective, Makespan) else "throughput"


def trained_for(card: Mapping[str, Any]) -> set[str]:
    """Return the families of the objectives that a policy was trained for, by the card.

    It is empty if the card does not say, or names an objective of a package.
    """
    config = card.get("config")
    groups = config.get("problems") if isinstance(config, dict) else None
    if not isinstance(groups, list) or not all(isinstance(one, dict) for one in groups):
        return set()
    names = {str(one.get("objective")).partition(":")[0] for one in groups}
    return names if names <= {"makespan", "throughput"} else set()
