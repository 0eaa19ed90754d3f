"""The check of gradients against finite differences."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from streamplace.testing.case import PolicyCase, Scored, generator, scored_again

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
