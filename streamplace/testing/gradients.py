"""The check of gradients against finite differences."""

import torch
from torch import Tensor

from streamplace.policy.base import AnyPolicy
from streamplace.policy.decoding import Sampler
from streamplace.policy.encoded import Batch
from streamplace.testing.case import PolicyCase, batch_of, generator
from streamplace.util.arrays import Ints

SAMPLES = 3
CHANGE = 1e-2  # that a step is to make in the log-probability
LONGEST = 0.02  # step, over the parameter's norm
STEPS = (1.0, 0.3, 0.1)  # activations have kinks, which the shorter steps may miss
TOLERANCE = 0.1  # relative
NOISE = 2e-4  # of a difference of log-probabilities in single precision


def check_gradients(case: PolicyCase) -> None:
    """Check every parameter's gradient of log-probabilities along its own direction.

    Along its gradient g a parameter's derivative is the length of g; a part of the computation that
    is cut off from differentiation changes that. A parameter without a gradient must not matter.
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
        length = float(gradient.norm())
        direction = (
            gradient / length
            if length
            else torch.randn(parameter.shape, generator=generator(1)).to(parameter)
        )
        direction = direction / direction.norm().clamp(min=1e-30)
        slope = _closest(policy, batch, placements, parameter, direction, length)
        fault = f"{name}: finite differences give a slope of {slope:.4g}, its gradient {length:.4g}"
        case.require(_agrees(slope, length, parameter), "gradients", fault)


def _total(policy: AnyPolicy, batch: Batch, placements: Ints) -> Tensor:
    made = policy.rollout(batch, SAMPLES, Sampler(), placements)
    return made.log_probability.double().sum()


def _closest(
    policy: AnyPolicy,
    batch: Batch,
    placements: Ints,
    parameter: Tensor,
    direction: Tensor,
    expected: float,
) -> float:
    """Return the slope along a direction, of several step lengths the one nearest to expected."""
    longest = _step(parameter, expected)
    slopes = []
    for share in STEPS:
        step = longest * share
        values = []
        for sign in (1.0, -1.0):
            with torch.no_grad():
                parameter.add_(direction, alpha=sign * step)
                values.append(float(_total(policy, batch, placements)))
                parameter.sub_(direction, alpha=sign * step)
        slopes.append((values[0] - values[1]) / (2 * step))
    return min(slopes, key=lambda slope: abs(slope - expected))


def _step(parameter: Tensor, slope: float) -> float:
    """Return the length of a step that changes the log-probability visibly, but moves little."""
    most = LONGEST * float(parameter.detach().norm()) + 1e-3
    return min(CHANGE / slope, most) if slope else most


def _agrees(slope: float, length: float, parameter: Tensor) -> bool:
    noise = NOISE / (2 * STEPS[-1] * _step(parameter, length))
    return abs(slope - length) <= TOLERANCE * length + noise
