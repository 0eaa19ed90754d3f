"""Checks that a policy can be trained: its gradients, and teachers that it imitates."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.teachers import Teacher
from streamplace.problem.problem import Problem
from streamplace.testing.case import PolicyCase, Scored, batch_of, generator, scored_again
from streamplace.util.arrays import Bools, Ints

SAMPLES = 3
WEIGHTS = 3  # random initialisations; a parameter fails the check if it fails with all of them
RETRY_SCALE = 0.75  # of the parameters from the second on: those of the first may saturate choices
DIRECTIONS = 3  # random directions per parameter
CHANGE = 1e-2  # intended change of the log-probability by a step along the gradient
RANDOM_CHANGE = 3e-2  # the same along a random direction, where curvature matters less
MAX_STEP = 0.02  # maximum length of a step, relative to the parameter's norm
STEPS = (1.0, 0.3, 0.1)  # factors: shorter steps may avoid the kinks of activations
TOLERANCE = 0.1  # of slopes along the gradient, relative
RANDOM_TOLERANCE = 0.2  # of slopes along random directions, relative to the typical slope
NOISE = 2e-4  # rounding error of a difference of log-probabilities in single precision
TEACHING_TOLERANCE = 1e-3  # of log-probabilities of the devices that an expert names


def check_gradients(case: PolicyCase) -> None:
    """Check each parameter's gradient of log-probabilities against finite differences.

    Along its gradient g, a parameter's slope must be the length of g; this fails if a part of the
    computation is detached from differentiation. Along a random direction u, the slope must be g·u;
    only this shows entries that are missing from g. A parameter without a gradient must have no
    effect.

    Finite differences also disagree with a correct gradient if an activation has a kink within the
    steps, or if large parameters saturate choices, so that gradients almost vanish. A parameter
    therefore fails only if it fails with several random initialisations, all but the first of which
    are smaller.
    """
    faults = _faults(case, None)
    for number in range(1, WEIGHTS):
        if faults:
            seed, scale = case.seed + 1000 * number, RETRY_SCALE * case.scale
            faults = _faults(replace(case, seed=seed, scale=scale), set(faults))
    for name, fault in faults.items():
        case.require(False, "gradients", f"{name}: {fault}")


def _faults(case: PolicyCase, only: set[str] | None) -> dict[str, str]:
    """Return the faults of gradients by parameter; if `only` is None, check all parameters."""
    policy = case.policy()
    scored = scored_again(policy, case.problems(), SAMPLES)
    policy.zero_grad()
    _total(scored).backward()  # type: ignore[no-untyped-call]
    faults = {}
    for name, parameter in policy.named_parameters():
        checked = parameter.requires_grad and (only is None or name in only)
        if checked and (fault := _fault(scored, parameter)):
            faults[name] = fault
    return faults


def _fault(scored: Scored, parameter: Tensor) -> str:
    """Return the fault of a parameter's gradient; empty if it is correct."""
    gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    if not torch.isfinite(gradient).all():
        return "the gradient is not finite"
    for direction, full_step, tolerance in _directions(parameter.detach(), gradient):
        expected = float((gradient * direction).sum())
        slopes = []
        for share in STEPS:
            step = full_step * share
            slopes.append(_rise(scored, parameter, direction * step) / step)
            if abs(slopes[-1] - expected) <= tolerance:
                break
        else:
            slope = f"a slope of {slopes[-1]:.4g}, the gradient {expected:.4g}"
            return f"finite differences give {slope}"
    return ""


def _total(scored: Scored) -> Tensor:
    return scored().double().sum()


def _directions(parameter: Tensor, gradient: Tensor) -> Iterator[tuple[Tensor, float, float]]:
    """Yield directions of length 1, each with its step and the tolerance of its slope."""
    length = float(gradient.norm())
    if length:
        step = _step(parameter, CHANGE, length)
        yield gradient / length, step, TOLERANCE * length + _noise(step)
    typical = length / parameter.numel() ** 0.5  # the root mean square of g·u
    step = _step(parameter, RANDOM_CHANGE, typical)
    random = generator(1)
    for _ in range(DIRECTIONS):
        direction = torch.randn(parameter.shape, generator=random).to(parameter)
        direction /= direction.norm().clamp(min=1e-30)
        yield direction, step, RANDOM_TOLERANCE * typical + _noise(step)


def _step(parameter: Tensor, change: float, slope: float) -> float:
    """Return a step that changes the log-probability measurably but the parameter only a little."""
    limit = MAX_STEP * float(parameter.norm()) + 1e-3
    return min(change / slope, limit) if slope else limit


def _noise(step: float) -> float:
    """Return the rounding error of slopes at the shortest step."""
    return NOISE / (2 * STEPS[-1] * step)


def _rise(scored: Scored, parameter: Tensor, step: Tensor) -> float:
    """Return half the difference of the log-probability between a forward and a backward step."""
    before = parameter.detach().clone()
    values = []
    with torch.no_grad():
        for moved in (before + step, before - step):
            parameter.copy_(moved)
            values.append(float(_total(scored)))
        parameter.copy_(before)
    return (values[0] - values[1]) / 2


@dataclass
class _Expert:
    """An expert that names the devices of known placements as the best.

    Attributes
    ----------
    best
        Placements, (P, S, V) each, whose devices are the best.
    forced
        (P, S, V) the devices that the policy must report as chosen.
    devices
        The number of devices.
    misled
        Whether the policy reported devices other than `forced`.
    """

    best: Sequence[Ints]
    forced: Ints
    devices: int
    misled: bool = False

    def __call__(self, problems: Sequence[Problem], samples: int) -> "_Expert":
        return self

    def judge(self, operators: Ints, devices: Ints) -> Bools:
        """Return the best devices of a step; see `learning.policy.teachers.Expert`."""
        row = np.arange(len(operators))
        at = (row // SAMPLES, row % SAMPLES, operators)
        self.misled |= not np.array_equal(self.forced[at], devices)
        named = np.zeros((len(operators), self.devices), dtype=np.bool_)
        for placements in self.best:
            named[row, placements[at]] = True
        return named


def check_teacher(case: PolicyCase) -> None:
    """Check `agreement` against the log-probabilities of the devices that an expert names.

    The check is skipped for policies that choose no devices.

    Two placements of every problem differ only in the operator that is placed last, so that both
    pass through the same states. The expert names the devices of one placement, or of both.
    """
    policy = Constructive.of(case.policy())
    if not policy.places:
        return
    problems = case.problems()[1:3]  # unequal devices, all of which are offered
    batch = batch_of(policy, *problems)

    def rollout(forced: Ints, *best: Ints, ties: Literal["any", "each"] = "any") -> Tensor:
        """Return the agreement of each step, (P, S, T)."""
        expert = _Expert(best, forced, case.devices)
        teacher = Teacher(expert, ties)
        with torch.no_grad():
            made = policy.rollout(batch, SAMPLES, Sampler(), as_forced(forced), teacher)
        if made.agreement is None:
            fault = "a rollout with a teacher has no agreement; use teacher.agreement(logs, best)"
            raise AssertionError(f"{case.kind}: teacher: {fault}")
        fault = "judge() receives operators or devices that differ from those of the rollout"
        case.require(not expert.misled, "teacher", fault)
        return made.agreement.sum(dim=3)

    def as_forced(chosen: Ints) -> Ints:
        """Return placements in the order of the free rollout."""
        if not policy.selects:
            return chosen
        order = free.actions[..., 0].cpu().numpy()
        devices = np.take_along_axis(chosen, np.maximum(order, 0), axis=2)
        return np.stack([order, np.where(order >= 0, devices, -1)], axis=3)

    with torch.no_grad():
        free = policy.rollout(batch, SAMPLES, Sampler(generator()))
        one = free.placements
        other = _another_end(one, free.actions, free.mask, case.devices)
        of_one, of_other = (
            policy.rollout(batch, SAMPLES, Sampler(), as_forced(placed)).log_prob[..., 1]
            for placed in (one, other)
        )
    last = _last(free.mask)
    joint = {"any": torch.logaddexp(of_one, of_other), "each": of_one + of_other}
    for forced, best, ties, expected in (
        (one, (one,), "any", of_one),
        (other, (one,), "any", of_one),
        (one, (one,), "each", of_one),
        (other, (one, other), "any", torch.where(last, joint["any"], of_one)),
        (other, (one, other), "each", torch.where(last, joint["each"], of_one)),
    ):
        agreement = rollout(forced, *best, ties=ties)  # type: ignore[arg-type]
        shape, needed = tuple(agreement.shape), tuple(expected.shape)
        fault = (
            f"agreement summed over parts must have shape {needed}, as log_prob has (got {shape})"
        )
        case.require(agreement.shape == expected.shape, "teacher", fault)
        worst = float((agreement - expected)[free.mask].abs().max())
        fault = (
            f"agreement differs by {worst:.2g} from the log-probability of the devices that the "
            f"expert names, with ties={ties!r}"
        )
        case.require(worst <= TEACHING_TOLERANCE, "teacher", fault)


def _last(mask: Tensor) -> Tensor:
    """Return whether each step is the last, (P, S, T) bool."""
    after = torch.zeros_like(mask)
    after[:, :, :-1] = mask[:, :, 1:]
    return mask & ~after


def _another_end(placements: Ints, actions: Tensor, mask: Tensor, devices: int) -> Ints:
    """Return placements, (P, S, V), with a different device for the operator placed last."""
    operators = actions[..., 0][_last(mask)].view(placements.shape[:2]).cpu().numpy()
    ends = placements.copy()
    at = (*np.indices(operators.shape), operators)
    ends[at] = (placements[at] + 1) % devices
    return ends
