"""Placers that improve a placement by a policy within a number of evaluations."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from streamplace.errors import Fault, StreamplaceError, UsageError
from streamplace.learning.policy.placer import loaded
from streamplace.learning.policy.registry import faults_of, policy_kind
from streamplace.placers.base import MAKESPAN, check_counts
from streamplace.placers.repair import feasible
from streamplace.placers.starting import StartingPlacer
from streamplace.problem.objectives import make_objective
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Ints
from streamplace.util.extras import load_learned
from streamplace.util.plugins import load_ours
from streamplace.util.threads import one_thread

MOST = 10_000_000  # evaluations
REBUILD = "streamplace.learning.policy.rebuild.policy:Rebuild"
SAMPLER = "streamplace.learning.policy.decoding:Sampler"


@dataclass(frozen=True)
class ImprovingPlacer(StartingPlacer):
    """A placer that improves a placement by a policy of one kind, whose name it has.

    Parameters
    ----------
    evaluations
        Number of evaluations; 0: two per operator.
    file
        A weights file of that kind.
    start
        The placer of the placement to improve, where there is none; the best of a few fast placers
        by default.
    untrained
        A seed: random parameters instead of the trained ones, as a reference for what training
        adds.

    Attributes
    ----------
    quadratic_from
        The number of operators from which two evaluations per operator take minutes.

    Raises
    ------
    UsageError
        If `evaluations` is out of range.
    """

    takes_start: ClassVar[bool] = True
    quadratic_from: ClassVar[int]
    evaluations: int = 0
    file: str = ""
    start: str = ""
    untrained: int | None = None

    def __post_init__(self) -> None:
        check_counts(self, (("evaluations", MOST),), 0)

    @property
    def slow_from(self) -> int | None:
        """The number of operators from which two evaluations per operator take minutes."""
        return None if self.evaluations else self.quadratic_from

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement found; it is never worse than the start.

        Parameters
        ----------
        start
            The placement to improve; without one, that of the option `start`.

        Raises
        ------
        CheckpointError
            If the weights cannot be read.
        ObjectiveError
            If the policy does not support the objective.
        UsageError
            If the weights are those of another kind of policy, or were trained for other
            objectives.
        PlacementError
            If the placement to start from cannot be repaired.
        """
        with self._encoded(problem) as (policy, encoded):
            first = self.begun(problem, rng) if start is None else feasible(problem, start.devices)
            best = self._improved(policy, encoded, first.devices, int(rng.integers(2**62)))
        return Placement(problem, best)

    @abstractmethod
    def _policy(self, problem: Problem) -> Any:
        """Return the policy for a problem, which needs torch."""

    @abstractmethod
    def _improved(self, policy: Any, encoded: Any, start: Ints, seed: int) -> Ints:
        """Return the best placement that a policy makes from one, (V,)."""

    @contextmanager
    def _encoded(self, problem: Problem) -> Iterator[tuple[Any, Any]]:
        """Provide the policy and the problem as it reads it, on one thread."""
        load_learned(SAMPLER, f"placer '{self.name}'")  # says what to install without torch
        policy = self._policy(problem)
        with faults_of(policy, "placing"), one_thread():
            policy.check(problem)
            yield policy, policy.encode(problem)

    def _read(self, file: str, quantity: str) -> Any:
        """Return the policy in a weights file, which needs torch.

        Parameters
        ----------
        quantity
            What the objective measures: `policy` is advised only where it can place for it.

        Raises
        ------
        CheckpointError
            If the weights cannot be read.
        UsageError
            If it is not of the placer's kind.
        """
        read = loaded(file, self.untrained)
        if read.kind != self.name:
            supported = load_ours(policy_kind(read.kind).policy).quantities()
            fits = supported is None or quantity in supported
            fault, remedy = f"{file} has a policy of another kind", "use policy:file=…" * fits
            raise UsageError(Fault(fault, place=(self.name,), remedy=remedy))
        return read.policy

    def _check_objective(self, file: str, problem: Problem) -> None:
        """Refuse weights that were trained only for other objectives.

        Raises
        ------
        UsageError
            If they were.
        """
        trained, own = trained_for(loaded(file).card), problem.objective.quantity
        if trained and own not in trained:
            fault = f"was trained for {' and '.join(sorted(trained))}, not for {own}"
            remedy = "policy:file=… uses it all the same"
            raise UsageError(Fault(f"{file} {fault}", place=(self.name,), remedy=remedy))


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
    objectives: ClassVar[frozenset[str]] = MAKESPAN
    quadratic_from: ClassVar[int] = 5_000
    faster: ClassVar[str] = "rebuild:evaluations=N makes fewer evaluations than two per operator"

    def _improved(self, policy: Any, encoded: Any, start: Ints, seed: int) -> Ints:
        steps = self.evaluations or policy.episode(encoded)
        sampler = load_learned(SAMPLER, f"placer '{self.name}'").seeded(seed)
        batch, scored = policy.batch([encoded]), [evaluator(encoded.problem)]
        best: Ints = policy.refine(batch, start[None, None], [steps], sampler, scored).best[0, 0]
        return best

    def _policy(self, problem: Problem) -> Any:
        if self.file:
            return self._read(self.file, problem.objective.quantity)
        if self.untrained is not None:
            raise UsageError("rebuild: untrained: without a file, all choices are equally likely")
        return load_learned(REBUILD, f"placer '{self.name}'").uniform()


def trained_for(card: Mapping[str, Any]) -> set[str]:
    """Return the quantities of the objectives that a policy was trained for, by its card.

    It is empty if the card does not say, or names an objective of a package that is not installed.
    """
    config = card.get("config")
    groups = config.get("problems") if isinstance(config, dict) else None
    if not isinstance(groups, list) or not all(isinstance(one, dict) for one in groups):
        return set()
    names = {str(one.get("objective")) for one in groups}
    try:
        return {make_objective(name, from_file=True).quantity for name in names}
    except StreamplaceError:
        return set()
