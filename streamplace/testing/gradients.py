"""The check of gradients against finite differences."""

from collections.abc import Iterator

import torch
from torch import Tensor

from streamplace.policy.base import AnyPolicy
from streamplace.policy.decoding import Sampler
from streamplace.policy.encoded import Batch
from streamplace.testing.case import PolicyCase, batch_of, generator
from streamplace.util.arrays import Ints

SAMPLES = 3
DIRECTIONS = 3  # random ones for each parameter
CHANGE = 1e-2  # that a step along the gradient is to make in the log-probability
RANDOM_CHANGE = 3e-2  # the same along a random direction, on which curvature matters less
LONGEST = 0.02  # step, over the parameter's norm
STEPS = (1.0, 0.3, 0.1)  # activations have kinks, which the shorter steps may miss
TOLERANCE = 0.1  # relative, along the gradient
RANDOM_TOLERANCE = 0.2  # over the slope that is usual along a random direction
NOISE = 2e-4  # of a difference of log-probabilities in single precision


def check_gradients(case: PolicyCase) -> None:
    """Check every parameter's gradient of log-probabilities, along itself and random directions.

    Along its gradient g a parameter's derivative is the length of g; a part of the computation that
    is cut off from differentiation changes that. Along any direction u it is g·u: entries that g
    lacks show there alone. A parameter without a gradient must not matter.
    """
    policy = case.policy()
    batch = batch_of(policy, *case.problems())
    placements = policy.sample(batch, SAMPLES, Sampler(generator()))
    policy.zero_grad()
    _total(policy, batch, placements).backward()  # type: ignore[no-untyped-call]
    for name, parameter in policy.named_parameters():
        if not parameter.requires_grad:
            continue
        gradient = parameter.grad
        if gradient is None:
            gradient = torch.zeros_like(parameter)
        finite = bool(torch.isfinite(gradient).all())
        case.require(finite, "gradients", f"the gradient of {name} is not finite")
        for direction, longest, tolerance in _directions(parameter.detach(), gradient):
            expected = float((gradient * direction).sum())
            for share in STEPS:
                step = longest * share
                slope = _rise(policy, batch, placements, parameter, direction * step) / step
                if agrees := abs(slope - expected) <= tolerance:
                    break
            fault = f"a slope of {slope:.4g}, its gradient {expected:.4g}"
            case.require(agrees, "gradients", f"{name}: finite differences give {fault}")


def _total(policy: AnyPolicy, batch: Batch, placements: Ints) -> Tensor:
    made = policy.rollout(batch, SAMPLES, Sampler(), placements)
    return made.log_probability.double().sum()


def _directions(parameter: Tensor, gradient: Tensor) -> Iterator[tuple[Tensor, float, float]]:
    """Yield directions of length 1, each with its longest step and the tolerance of its slope."""
    length = float(gradient.norm())
    if length:
        step = _step(parameter, CHANGE, length)
        yield gradient / length, step, TOLERANCE * length + _noise(step)
    usual = length / parameter.numel() ** 0.5  # the root mean square of g·u
    step = _step(parameter, RANDOM_CHANGE, usual)
    random = generator(1)
    for _ in range(DIRECTIONS):
        direction = torch.randn(parameter.shape, generator=random).to(parameter)
        direction /= direction.norm().clamp(min=1e-30)
        yield direction, step, RANDOM_TOLERANCE * usual + _noise(step)


def _step(parameter: Tensor, change: float, slope: float) -> float:
    """Return the length of a step that changes the log-probability visibly, but moves little."""
    most = LONGEST * float(parameter.norm()) + 1e-3
    return min(change / slope, most) if slope else most


def _noise(step: float) -> float:
    """Return the error of slopes by rounding, at the shortest of the steps."""
    return NOISE / (2 * STEPS[-1] * step)


def _rise(
    policy: AnyPolicy, batch: Batch, placements: Ints, parameter: Tensor, step: Tensor
) -> float:
    """Return half the difference of the log-probability between a step forwards and backwards."""
    before = parameter.detach().clone()
    values = []
    with torch.no_grad():
        for moved in (before + step, before - step):
            parameter.copy_(moved)
            values.append(float(_total(policy, batch, placements)))
        parameter.copy_(before)
    return (values[0] - values[1]) / 2
