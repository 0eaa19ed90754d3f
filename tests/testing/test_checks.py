"""The conformance kit: shipped policies pass every check, and each kind of defect fails its own."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from streamplace.errors import UsageError
from streamplace.policy.config import DeviceScorerSizes
from streamplace.policy.decoding import Sampler
from streamplace.policy.device_scorer.features import EncodedProblem, ScorerBatch
from streamplace.policy.device_scorer.network import DeviceScorer
from streamplace.policy.registry import KINDS, PolicyKind
from streamplace.policy.teachers import Teacher
from streamplace.policy.trajectories import Trajectories
from streamplace.problem.problem import Problem
from streamplace.scoring.throughput import throughput
from streamplace.testing import CHECKS, PolicyCase, check_policy
from streamplace.testing.counting import counted_evaluations
from streamplace.util.arrays import Ints

SCRIPTING = "ignore:.torch.jit.script. is deprecated:DeprecationWarning"

pytestmark = pytest.mark.filterwarnings(SCRIPTING)

SCORER: dict[str, Any] = {"hidden": 12, "hops": 1}
PUBLISHED: dict[str, Any] = {"length": 12, "device_length": 4, "devices": 3}
SHIPPED = {
    "device-scorer": PolicyCase("device-scorer", SCORER),
    "device-scorer, two orders": PolicyCase("device-scorer", SCORER | {"orders": [0, 1]}),
    "b": PolicyCase(
        "encoder-decoder",
        PUBLISHED | {"encoder": "sequence", "upstream": False},
        ordered_devices=True,
        repaired=True,
    ),
    "b+f1": PolicyCase(
        "encoder-decoder", PUBLISHED | {"upstream": False}, ordered_devices=True, repaired=True
    ),
    "b+f1&f2": PolicyCase("encoder-decoder", PUBLISHED, ordered_devices=True, repaired=True),
    "b+f1&f2, one name": PolicyCase(
        "encoder-decoder",
        PUBLISHED | {"breaks_symmetry": True},
        ordered_devices=True,
        repaired=True,
    ),
}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_policies_pass(name: str, check: str) -> None:
    CHECKS[check](SHIPPED[name])


def test_all_checks_in_one_call() -> None:
    check_policy(SHIPPED["device-scorer"])


class ReadsNames(DeviceScorer):
    """A policy whose features depend on an operator's name."""

    def encode(self, problem: Problem) -> EncodedProblem:
        """Add the place of each name in the alphabet to a feature."""
        encoded = super().encode(problem)
        rank = np.argsort(np.argsort(problem.graph.names)).astype(np.float32)
        operators = encoded.operators.copy()
        operators[:, 0] += rank
        return replace(encoded, operators=operators)


class ReadsNumbers(DeviceScorer):
    """A policy whose features depend on an operator's position in the file."""

    def encode(self, problem: Problem) -> EncodedProblem:
        """Add each operator's number to a feature."""
        encoded = super().encode(problem)
        operators = encoded.operators.copy()
        operators[:, 0] += np.arange(len(operators))
        return replace(encoded, operators=operators)


class OrdersDevices(DeviceScorer):
    """A policy that prefers devices listed first."""

    def logits(
        self, operator: torch.Tensor, resident: torch.Tensor, seen: torch.Tensor, offered: Any
    ) -> torch.Tensor:
        """Add a bonus by position."""
        made = super().logits(operator, resident, seen, offered)
        return made - torch.arange(made.shape[1])


class SeesItsCompanions(DeviceScorer):
    """A policy whose embeddings depend on the other problems of the batch."""

    def embed(self, batch: ScorerBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Normalise over the batch."""
        operator, left = super().embed(batch)
        return operator - operator.mean(dim=0), left


class Detached(DeviceScorer):
    """A policy that cuts a part of its computation off from gradients."""

    def embed(self, batch: ScorerBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return embeddings without gradients for what operators leave on devices."""
        operator, left = super().embed(batch)
        return operator, left.detach()


class Forgetful(DeviceScorer):
    """A policy that ignores forced devices."""

    def rollout(
        self,
        batch: ScorerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Leave `forced` out."""
        return super().rollout(batch, samples, sampler, None, teacher)


class Unrepeatable(DeviceScorer):
    """A policy that draws from a generator of its own."""

    def sample(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        """Sample from torch's global generator."""
        return super().sample(batch, samples, Sampler(torch.default_generator))


class Unlikely(DeviceScorer):
    """A policy whose probabilities do not add up to 1."""

    def rollout(self, *arguments: Any, **named: Any) -> Trajectories:
        """Halve every log-probability."""
        made = super().rollout(*arguments, **named)
        return replace(made, log_prob=made.log_prob / 2)


class Hidden(DeviceScorer):
    """A policy with state that is no parameter, and so in no file."""

    def __init__(self, sizes: DeviceScorerSizes) -> None:
        super().__init__(sizes)
        self.bias = torch.randn(64, generator=None) * 5

    def logits(
        self, operator: torch.Tensor, resident: torch.Tensor, seen: torch.Tensor, offered: Any
    ) -> torch.Tensor:
        """Add the state."""
        made = super().logits(operator, resident, seen, offered)
        return made + self.bias[: made.shape[1]]


class Scores(DeviceScorer):
    """A policy that scores placements without counting them."""

    def rollout(
        self,
        batch: ScorerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Score what was made."""
        made = super().rollout(batch, samples, sampler, forced, teacher)
        for one, rows in zip(batch.encoded, made.placements, strict=True):
            throughput(one.problem, rows[:, : one.size])
        return made


class Drifting(DeviceScorer):
    """A policy that counts its rollouts, so that a resumed run differs."""

    def __init__(self, sizes: DeviceScorerSizes) -> None:
        super().__init__(sizes)
        self.rollouts = 0

    def embed(self, batch: ScorerBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Shrink embeddings with every call in training mode."""
        operator, left = super().embed(batch)
        if self.training:
            self.rollouts += 1
        return operator / (1 + self.rollouts), left


class OutOfRange(DeviceScorer):
    """A policy that places on a device that the cluster lacks."""

    def sample(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        """Count devices from 1."""
        made = super().sample(batch, samples, sampler)
        return np.where(made >= 0, made + 1, made)


class SamplesOtherwise(DeviceScorer):
    """A policy whose samples are not those of its rollouts."""

    def sample(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        """Place everything on one device."""
        return np.minimum(super().sample(batch, samples, sampler), 0)


DEFECTS: Sequence[tuple[type[nn.Module], str, str]] = [
    (ReadsNames, "names", "differ by"),
    (ReadsNumbers, "numbering", "differ by"),
    (OrdersDevices, "device order", "differ by"),
    (SeesItsCompanions, "batches", "alone and in a batch"),
    (Detached, "gradients", "finite differences"),
    (Forgetful, "batches", "comes out as another"),
    (Unrepeatable, "samples", "the same seed"),
    (Unlikely, "probabilities", "add up to"),
    (Hidden, "weights", "places otherwise"),
    (Scores, "evaluations", "which nobody counts"),
    (Drifting, "resuming", "ends with other parameters"),
    (SamplesOtherwise, "samples", "place otherwise"),
    (OutOfRange, "samples", "not one of 0 to 2"),
]


@pytest.mark.parametrize(
    ("policy", "check", "fault"), DEFECTS, ids=lambda x: getattr(x, "__name__", None)
)
def test_defects_are_found(
    policy: type[nn.Module], check: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"{__name__}:{policy.__name__}"
    monkeypatch.setitem(KINDS, "defective", PolicyKind(DeviceScorerSizes, where))
    monkeypatch.setattr("streamplace.policy.registry.load_ours", lambda path: policy)
    with pytest.raises(AssertionError, match=f"^defective: {check}: .*{fault}"):
        CHECKS[check](PolicyCase("defective", SCORER))


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no policy is called 'device-scorr'"):
        PolicyCase("device-scorr").policy()


def test_a_policy_that_cannot_place_the_problems_says_so() -> None:
    case = PolicyCase("encoder-decoder", PUBLISHED | {"devices": 4}, ordered_devices=True)
    with pytest.raises(UsageError, match="places on 4 devices only"):
        CHECKS["samples"](case)


def test_evaluations_are_counted_by_placement() -> None:
    problem = PolicyCase("device-scorer").problems()[0]
    rows = np.zeros((5, len(problem.graph.names)), dtype=np.int32)
    with counted_evaluations() as count:
        throughput(problem, rows)
        throughput(problem, rows[0])
    throughput(problem, rows)
    assert count.placements == 6
