"""Tests that the checks of refiners find the defects they are meant to find."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from streamplace.learning.policy.registry import KINDS, PolicyKind
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.papers.placeto.policy import Placeto
from streamplace.papers.placeto.sizes import PlacetoSizes
from streamplace.testing import REFINER_CHECKS, PolicyCase

Change = Callable[[Trajectories], Trajectories]


class Altered(Placeto):
    """Placeto with altered trajectories."""

    of_rollouts: Change = staticmethod(lambda made: made)
    of_evaluations: Change = staticmethod(lambda made: made)

    def rollout(self, *arguments: Any, **named: Any) -> Trajectories:
        return self.of_rollouts(super().rollout(*arguments, **named))

    def evaluate(self, *arguments: Any) -> Trajectories:
        return self.of_evaluations(super().evaluate(*arguments))


class WrongLosses(Altered):
    of_rollouts = staticmethod(lambda made: replace(made, losses=2.0 * made.losses))


class LastIsBest(Altered):
    of_rollouts = staticmethod(lambda made: replace(made, best=made.placements))


class DoubledProbabilities(Altered):
    of_rollouts = staticmethod(lambda made: replace(made, log_prob=2.0 * made.log_prob))
    of_evaluations = of_rollouts


class ForgetsToEvaluate(Altered):
    of_evaluations = staticmethod(lambda made: replace(made, log_prob=made.log_prob - 0.1))


class Detached(Altered):
    of_evaluations = staticmethod(
        lambda made: replace(made, log_prob=0.5 * made.log_prob + 0.5 * made.log_prob.detach())
    )


class IgnoresForced(Altered):
    def rollout(self, *arguments: Any, **named: Any) -> Trajectories:
        return super().rollout(*arguments[:5])


class LongEpisodes(Altered):
    def episode(self, encoded: Any) -> int:
        return 2 * int(encoded.size)

    def rollout(self, batch: Any, start: Any, steps: Any, *rest: Any) -> Trajectories:
        return super().rollout(batch, start, [n // 2 for n in steps], *rest)


class SeesNumbers(Altered):
    def encode(self, problem: Any) -> Any:
        made = super().encode(problem)
        numbers = made.arrays.numbers + np.arange(made.size, dtype=np.float32)[:, None]
        return replace(made, arrays=made.arrays._replace(numbers=numbers))


@pytest.mark.parametrize(
    ("policy", "check", "fault"),
    [
        (WrongLosses, "losses", "a loss is not that"),
        (LastIsBest, "losses", "the best placement has a loss of"),
        (DoubledProbabilities, "probabilities", "add up to"),
        (ForgetsToEvaluate, "evaluate", "log-probabilities differ by"),
        (IgnoresForced, "batches", "does not take the forced actions"),
        (LongEpisodes, "episodes", r"but episode\(\) returns"),
        (SeesNumbers, "numbering", "equivalent problems differ by"),
        pytest.param(Detached, "gradients", "finite differences give", marks=pytest.mark.long),
    ],
)
def test_defects_are_found(
    policy: type[Altered], check: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{policy.__module__}:{policy.__name__}"
    monkeypatch.setitem(KINDS, "tested", PolicyKind(PlacetoSizes, path, refines=True))
    case = PolicyCase("tested", {"devices": 3}, ordered_devices=True, scale=1.0)
    with pytest.raises(AssertionError, match=f"^tested: {check}: .*{fault}"):
        REFINER_CHECKS[check](case)
