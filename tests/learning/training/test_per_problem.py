"""Training of a separate policy for each problem, stacked or one after another."""

import numpy as np
import pytest
import torch

from streamplace import Makespan, Problem, Recipe
from streamplace.errors import ObjectiveError, TrainingError, UnsuitableError
from streamplace.learning.policy.base import AnyPolicy
from streamplace.learning.policy.registry import (
    KINDS,
    PolicyKind,
    PolicySection,
    make_stack,
    policy_section,
)
from streamplace.learning.policy.weights import new_policy, parameter_hash
from streamplace.learning.training import Fitted, fit_each
from streamplace.learning.training.learner import BAD_STEPS, Optimiser
from streamplace.learning.training.stages import (
    DaggerStage,
    MemorySection,
    OptimiserSection,
    ReinforceStage,
    Stage,
    StepReinforceStage,
)

EPOCHS = 12
SECTION = policy_section({"kind": "device-scorer", "sizes": {"hidden": 8, "hops": 1}})
REINFORCE = ReinforceStage(
    algorithm="reinforce",
    epochs=EPOCHS,
    samples=6,
    reward="log",
    memory=MemorySection(size=1, samples=1, threshold=-1e9),
    optimiser=OptimiserSection(rate=1e-2, largest_gradient=1.0),
)


def problems(devices: tuple[int, ...] = (3, 3, 4)) -> list[Problem]:
    """Return problems of 7 to 9 operators on some numbers of devices."""
    recipe = Recipe("layered", len(devices), range(7, 10), seed=2)
    return [
        Problem(recipe.graph(i), f"{count}x2500", source_rate=2e4)
        for i, count in enumerate(devices)
    ]


def fitted(
    section: PolicySection = SECTION, stages: list[Stage] | None = None, **options: int
) -> list[list[Fitted]]:
    """Train two policies for each problem."""
    chosen_stages = [REINFORCE] if stages is None else stages
    return fit_each(
        section, problems(), chosen_stages, np.random.default_rng(3), repeats=2, **options
    )


def test_every_problem_and_repeat_has_its_own_policy() -> None:
    found = fitted()
    assert [len(repeats) for repeats in found] == [2, 2, 2]
    hashes = {parameter_hash(one.policy) for repeats in found for one in repeats}
    assert len(hashes) == 6
    for problem, repeats in zip(problems(), found, strict=True):
        for one in repeats:
            (best,) = one.best
            assert best is not None
            assert best.problem.graph.sha256 == problem.graph.sha256
            assert one.best_rewards.shape == (EPOCHS, 1)
            assert (np.diff(one.best_rewards[:, 0]) >= 0).all()
            assert len(one.evaluations) == 1


@pytest.mark.long
def test_the_same_seed_gives_the_same_policies() -> None:
    hashes = [
        [parameter_hash(one.policy) for repeats in fitted() for one in repeats] for _ in range(2)
    ]
    assert hashes[0] == hashes[1]


@pytest.mark.long
@pytest.mark.parametrize("at_once", [1, 2, 64])
def test_the_stack_size_does_not_change_the_number_of_evaluations(at_once: int) -> None:
    """Six samples in each epoch, and one remembered placement from the second epoch on."""
    found = fitted(at_once=at_once)
    expected = 6 * EPOCHS + (EPOCHS - 1)
    assert {one.evaluations for repeats in found for one in repeats} == {(expected,)}


def test_stages_run_in_order() -> None:
    expert = DaggerStage(algorithm="dagger", epochs=EPOCHS, optimiser=OptimiserSection(rate=1e-2))
    found = fitted(stages=[expert, REINFORCE])
    records = found[0][0].records
    assert len(records) == 2 * EPOCHS
    assert records[EPOCHS - 1]["loss"] < records[0]["loss"]


def test_a_stack_starts_with_the_losses_of_separate_members() -> None:
    """With an expert and one sample, only placements are random; the first losses agree."""
    stage = DaggerStage(algorithm="dagger", epochs=1, optimiser=OptimiserSection(rate=1e-2))
    separate, stacked = (
        fit_each(SECTION, problems((3, 3, 3)), [stage], np.random.default_rng(0), at_once=n)
        for n in (1, 3)
    )
    losses = sum(float(repeats[0].records[0]["loss"]) for repeats in separate)
    assert float(stacked[0][0].records[0]["loss"]) == pytest.approx(losses, rel=0.3)


def test_kinds_without_a_stack_are_trained_one_after_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = KINDS["device-scorer"]
    monkeypatch.setitem(KINDS, "device-scorer", PolicyKind(kind.sizes, kind.policy))
    found = fitted()
    assert len({parameter_hash(one.policy) for repeats in found for one in repeats}) == 6


def test_a_new_policy_does_not_change_torch_s_generator() -> None:
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    new_policy(SECTION, 0)
    assert torch.equal(torch.rand(1), expected)


def test_gradients_of_members_are_clipped_separately() -> None:
    """A member whose gradient is not finite is not updated in the step."""
    policies = [new_policy(SECTION, seed) for seed in range(3)]
    stack = make_stack("device-scorer", policies)
    assert stack is not None
    optimiser = Optimiser(stack, OptimiserSection(rate=1e-2, largest_gradient=2.0), (0, 1))
    for parameter in stack.parameters():
        parameter.grad = torch.ones_like(parameter)
    first = next(iter(stack.parameters()))
    assert first.grad is not None
    first.grad[1].view(-1)[0] = torch.nan
    before = [x.clone() for x in stack.parameters()]
    optimiser.update()
    for member, norm in ((0, 2.0), (1, 0.0), (2, 2.0)):
        gradients = [p.grad[member] for p in stack.parameters() if p.grad is not None]
        length = torch.stack([g.pow(2).sum() for g in gradients]).sum().sqrt()
        assert float(length) == pytest.approx(norm, rel=1e-4)
    moved = [
        [not torch.equal(a[k], b[k]) for a, b in zip(before, stack.parameters(), strict=True)]
        for k in range(3)
    ]
    assert [any(one) for one in moved] == [True, False, True]


def test_a_member_whose_gradient_is_not_finite_is_unchanged() -> None:
    """Not even momentum from earlier steps moves it, while the others continue."""
    stack = make_stack("device-scorer", [new_policy(SECTION, seed) for seed in range(2)])
    assert stack is not None
    optimiser = Optimiser(stack, OptimiserSection(rate=1e-2), (0, 1))
    for parameter in stack.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimiser.update()
    before = [x.detach().clone() for x in stack.parameters()]
    for _ in range(2 * BAD_STEPS):
        _make_gradients_infinite(stack)
        optimiser.update()
    after = list(stack.parameters())
    assert all(torch.equal(a[1], b[1]) for a, b in zip(before, after, strict=True))
    assert not any(torch.equal(a[0], b[0]) for a, b in zip(before, after, strict=True))


def test_training_fails_when_no_member_has_a_finite_gradient() -> None:
    policies = [new_policy(SECTION, seed) for seed in range(2)]
    stack = make_stack("device-scorer", policies)
    assert stack is not None
    optimiser = Optimiser(stack, OptimiserSection(), (0, 1))
    for parameter in stack.parameters():
        parameter.grad = torch.ones_like(parameter)
    for _ in range(BAD_STEPS - 1):
        _make_gradients_infinite(stack, 0, 1)
        optimiser.update()
    _make_gradients_infinite(stack, 0, 1)
    with pytest.raises(TrainingError, match="were not finite"):
        optimiser.update()


def _make_gradients_infinite(stack: AnyPolicy, *members: int) -> None:
    """Make the gradients of some members infinite, by default the second member's."""
    for parameter in stack.parameters():
        assert parameter.grad is not None
        parameter.grad[list(members or (1,))] = torch.inf


def test_what_the_kind_does_not_support_is_refused_by_its_name() -> None:
    rng = np.random.default_rng(0)
    stage = ReinforceStage(algorithm="reinforce", epochs=1)
    passes = [problem.with_objective(Makespan()) for problem in problems()]
    with pytest.raises(ObjectiveError, match="policy 'device-scorer' supports only throughput"):
        fit_each(SECTION, passes, [stage], rng)
    steps = StepReinforceStage(algorithm="reinforce-steps", epochs=1)
    with pytest.raises(UnsuitableError, match=r"^DeviceScorer builds placements and cannot refine"):
        fit_each(SECTION, problems(), [steps], rng)
