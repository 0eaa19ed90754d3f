"""The conformance kit: shipped policies pass every check, and each kind of defect fails its own."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
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
from streamplace.problem.constraints import Constraints
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.scoring.throughput import throughput
from streamplace.testing import CHECKS, PolicyCase, check_policy
from streamplace.testing.counting import counted_evaluations
from streamplace.util.arrays import Ints

SCRIPTING = "ignore:.torch.jit.script. is deprecated:DeprecationWarning"

pytestmark = pytest.mark.filterwarnings(SCRIPTING)

SCORER: dict[str, Any] = {"hidden": 12, "hops": 1}
PUBLISHED: dict[str, Any] = {"length": 12, "device_length": 4, "devices": 3}
NI2020 = PolicyCase("encoder-decoder", PUBLISHED, ordered_devices=True, repaired=True)
SHIPPED = {
    "device-scorer": PolicyCase("device-scorer", SCORER),
    "device-scorer, two orders": PolicyCase("device-scorer", SCORER | {"orders": [0, 1]}),
    "b": replace(NI2020, sizes=PUBLISHED | {"encoder": "sequence", "upstream": False}),
    "b+f1": replace(NI2020, sizes=PUBLISHED | {"upstream": False}),
    "b+f1&f2": NI2020,
    "b+f1&f2, one name": replace(NI2020, sizes=PUBLISHED | {"breaks_symmetry": True}),
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

    made = count()

    def __init__(self, sizes: DeviceScorerSizes) -> None:
        super().__init__(sizes)
        self.bias = torch.zeros(64)
        self.bias[next(self.made) % 3] = 50.0  # reading a file makes two: the second differs

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


class HalfTheGradient(DeviceScorer):
    """A policy that loses every second entry of each gradient."""

    def __init__(self, sizes: DeviceScorerSizes) -> None:
        super().__init__(sizes)
        for parameter in self.parameters():
            parameter.register_hook(_every_second)  # type: ignore[no-untyped-call]


def _every_second(gradient: torch.Tensor) -> torch.Tensor:
    kept = torch.arange(gradient.numel()).view(gradient.shape) % 2
    return gradient * kept


class AgreesWithItself(DeviceScorer):
    """A policy whose agreement is the log-probability of its own actions."""

    def rollout(self, *arguments: Any, **named: Any) -> Trajectories:
        """Put `log_prob` for the agreement."""
        made = super().rollout(*arguments, **named)
        return replace(made, agreement=None if made.agreement is None else made.log_prob)


class IgnoresTies(DeviceScorer):
    """A policy that knows one rule for ties."""

    def rollout(
        self,
        batch: ScorerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Take any of the best devices, whatever the teacher says."""
        any_of = None if teacher is None else replace(teacher, ties="any")
        return super().rollout(batch, samples, sampler, forced, any_of)


class MisleadsTheTeacher(DeviceScorer):
    """A policy that does not tell the expert what was forced."""

    def rollout(
        self,
        batch: ScorerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Take the agreement from a rollout of its own."""
        made = super().rollout(batch, samples, sampler, forced)
        own = super().rollout(batch, samples, sampler, None, teacher)
        return replace(made, agreement=own.agreement)


class Untaught(DeviceScorer):
    """A policy that ignores teachers."""

    def rollout(
        self,
        batch: ScorerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Leave `teacher` out."""
        return super().rollout(batch, samples, sampler, forced)


class Greedy(DeviceScorer):
    """A policy that ignores the sampler."""

    def sample(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        """Take the likeliest devices."""
        return super().sample(batch, samples, Sampler())

    def rollout(
        self,
        batch: ScorerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Take the likeliest devices."""
        return super().rollout(batch, samples, Sampler(), forced, teacher)


class _Resampling(DeviceScorer):
    """A policy that samples by a sampler of its own."""

    def own(self, sampler: Sampler) -> Sampler:
        """Return the sampler to use instead."""
        raise NotImplementedError

    def sample(self, batch: ScorerBatch, samples: int, sampler: Sampler) -> Ints:
        """Sample otherwise."""
        return super().sample(batch, samples, self.own(sampler))

    def rollout(
        self,
        batch: ScorerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Sample otherwise."""
        return super().rollout(batch, samples, self.own(sampler), forced, teacher)


class IgnoresSeeds(_Resampling):
    """A policy that samples from the same seed every time."""

    def own(self, sampler: Sampler) -> Sampler:
        """Begin a generator again."""
        return replace(sampler, generator=sampler.generator and torch.Generator().manual_seed(0))


class IgnoresTemperature(_Resampling):
    """A policy that samples at one temperature."""

    def own(self, sampler: Sampler) -> Sampler:
        """Leave the temperature out."""
        return replace(sampler, temperature=1.0)


class NeverExplores(_Resampling):
    """A policy that does not explore."""

    def own(self, sampler: Sampler) -> Sampler:
        """Leave the exploration out."""
        return replace(sampler, exploration=0.0)


class ConstantEntropy(DeviceScorer):
    """A policy that reports an entropy of 1 everywhere."""

    def rollout(self, *arguments: Any, **named: Any) -> Trajectories:
        """Put 1 for every entropy."""
        made = super().rollout(*arguments, **named)
        return replace(made, entropy=torch.ones_like(made.entropy))


class NoActions(DeviceScorer):
    """A policy whose actions are all 0."""

    def rollout(self, *arguments: Any, **named: Any) -> Trajectories:
        """Put 0 for every action."""
        made = super().rollout(*arguments, **named)
        return replace(made, actions=torch.zeros_like(made.actions))


class OtherDevices(DeviceScorer):
    """A policy whose actions name other devices than its placements."""

    def rollout(self, *arguments: Any, **named: Any) -> Trajectories:
        """Swap two devices."""
        made = super().rollout(*arguments, **named)
        return replace(made, placements=np.where(made.placements < 0, -1, 2 - made.placements))


class FewSteps(DeviceScorer):
    """A policy whose mask lacks the last step."""

    def rollout(self, *arguments: Any, **named: Any) -> Trajectories:
        """Take the last step off the mask."""
        made = super().rollout(*arguments, **named)
        mask = made.mask.clone()
        mask[:, :, -1] = False
        return replace(made, mask=mask)


class Judges(DeviceScorer):
    """A policy that scores what it made by a method of the evaluator."""

    method = "trace"

    def rollout(self, *arguments: Any, **named: Any) -> Trajectories:
        """Score the first sample of each problem."""
        made = super().rollout(*arguments, **named)
        for one, rows in zip(arguments[0].encoded, made.placements, strict=True):
            getattr(evaluator(one.problem), self.method)(rows[0, : one.size])
        return made


class Losing(Judges):
    """A policy that looks at the loss."""

    method = "loss"


class Scoring(Judges):
    """A policy that looks at the score."""

    method = "score"


class Qualifying(Judges):
    """A policy that looks at the quality."""

    method = "quality"


class Ignorant(DeviceScorer):
    """A policy that does not look at constraints."""

    def encode(self, problem: Problem) -> EncodedProblem:
        """Encode the problem without its constraints."""
        return super().encode(problem.with_constraints(Constraints()))


class ReadsItsParameters(DeviceScorer):
    """A policy whose constructor reads a number from a parameter."""

    def __init__(self, sizes: DeviceScorerSizes) -> None:
        super().__init__(sizes)
        self.start = float(self.score.bias.detach().sum())


class ScoresOtherwise(DeviceScorer):
    """A policy that evaluates actions by half their log-probabilities."""

    def evaluate(self, batch: ScorerBatch, trajectories: Trajectories) -> Trajectories:
        """Halve every log-probability."""
        made = super().evaluate(batch, trajectories)
        return replace(made, log_prob=made.log_prob / 2)


DEFECTS: Sequence[tuple[type[nn.Module], str, str]] = [
    (Unrepeatable, "samples", "the same seed"),
    (SamplesOtherwise, "samples", "place otherwise"),
    (OutOfRange, "samples", "not one of 0 to 2"),
    (NoActions, "actions", "are not each operator once"),
    (OtherDevices, "actions", "are not those of the placement"),
    (FewSteps, "actions", "steps for"),
    (SeesItsCompanions, "batches", "alone and in a batch"),
    (Forgetful, "batches", "comes out as another"),
    (ScoresOtherwise, "evaluate", "log-probabilities of steps differ"),
    (Unlikely, "probabilities", "add up to"),
    (ConstantEntropy, "entropy", "nats on average"),
    (Greedy, "sampling", "times of 1000"),
    (IgnoresSeeds, "sampling", "different seeds are the same"),
    (IgnoresTemperature, "sampling", "at temperature"),
    (NeverExplores, "sampling", "with exploration=1"),
    (AgreesWithItself, "teacher", "agreement differs by"),
    (IgnoresTies, "teacher", "ties='each'"),
    (MisleadsTheTeacher, "teacher", "is told other"),
    (Untaught, "teacher", "has no agreement"),
    (ReadsNames, "names", "differ by"),
    (ReadsNumbers, "numbering", "differ by"),
    (OrdersDevices, "device order", "differ by"),
    (Ignorant, "constraints", "where it may not run"),
    (Detached, "gradients", "finite differences"),
    (HalfTheGradient, "gradients", "finite differences"),
    (Hidden, "weights", "places otherwise"),
    (ReadsItsParameters, "weights", "cannot be read"),
    (Scores, "evaluations", "which nobody counts"),
    (Judges, "evaluations", "which nobody counts"),
    (Losing, "evaluations", "which nobody counts"),
    (Scoring, "evaluations", "which nobody counts"),
    (Qualifying, "evaluations", "which nobody counts"),
    (Drifting, "resuming", "ends with other parameters"),
]


def test_every_check_finds_a_defect() -> None:
    assert {check for _, check, _ in DEFECTS} == set(CHECKS)


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
    with counted_evaluations() as counted:
        throughput(problem, rows)
        throughput(problem, rows[0])
    throughput(problem, rows)
    assert counted.placements == 6


class DropsOut(DeviceScorer):
    """A policy with dropout, whose chance is not that of the sampler."""

    def embed(self, batch: ScorerBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Drop a fifth of the embeddings while training."""
        operator, left = super().embed(batch)
        return nn.functional.dropout(operator, 0.2, self.training), left


@pytest.mark.parametrize("check", ["resuming", "samples", "weights"])
def test_a_policy_with_dropout_passes(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Training draws it from the seed of each step; placing and validation leave it out."""
    kind = PolicyKind(DeviceScorerSizes, f"{__name__}:DropsOut")
    monkeypatch.setitem(KINDS, "drops-out", kind)
    monkeypatch.setattr("streamplace.policy.registry.load_ours", lambda path: DropsOut)
    CHECKS[check](PolicyCase("drops-out", SCORER))
