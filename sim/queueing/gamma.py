"""Mixtures of shifted gamma distributions: their tails and quantiles."""

from math import erfc, exp, lgamma, log, sqrt

import numpy as np

from sim.flow import Floats
from sim.jit import bare, kernel

NORMAL_FROM = 1e3  # shape from which Wilson and Hilferty's approximation is used
NO_SHAPE = 1e-12  # shape below which the scale could overflow
STEPS = 100  # of a bisection
TERMS = 10_000
SMALL = 1e-14  # relative change at which sums and fractions end


@bare
def tail(shape: float, x: float) -> float:
    """Return P(X > x) of a gamma distribution of scale 1.

    By its series below shape + 1, else by the continued fraction (Abramowitz and Stegun, 6.5.29 and
    6.5.31), and by the cube root of X, which is nearly normal, for large shapes (Wilson and
    Hilferty 1931).
    """
    if x <= 0.0:
        return 1.0
    if shape > NORMAL_FROM:
        spread = 1.0 / (9.0 * shape)
        return 0.5 * erfc(((x / shape) ** (1.0 / 3.0) - 1.0 + spread) / sqrt(2.0 * spread))
    density = exp(shape * log(x) - x - lgamma(shape))
    if x < shape + 1.0:
        term, total = 1.0 / shape, 1.0 / shape
        for n in range(1, TERMS):
            term *= x / (shape + n)
            total += term
            if term < SMALL * total:
                break
        return 1.0 - density * total
    b = x + 1.0 - shape
    c, d = 1e300, 1.0 / b
    fraction = d
    for n in range(1, TERMS):
        a = n * (shape - n)
        b += 2.0
        d = 1.0 / (a * d + b)
        c = b + a / c
        fraction *= c * d
        if abs(c * d - 1.0) < SMALL:
            break
    return density * fraction


@kernel
def mixture_tail(weight: Floats, least: Floats, mean: Floats, variance: Floats, x: float) -> float:
    """Return P(X > x) of a mixture of M gamma distributions, each shifted by its least value.

    Parameters
    ----------
    weight, least, mean, variance
        (M,) weights of sum 1, and the least value, mean and variance of each distribution, of which
        one without variance is constant.
    """
    total = 0.0
    for i in range(weight.shape[0]):
        above = mean[i] - least[i]
        if above <= 1e-9 * mean[i] or variance[i] <= 1e-18 * mean[i] ** 2:
            total += weight[i] if mean[i] > x else 0.0
        elif above * above <= NO_SHAPE * variance[i]:  # nearly always the least value
            total += weight[i] if least[i] > x else 0.0
        else:
            scale = variance[i] / above
            total += weight[i] * tail(above / scale, (x - least[i]) / scale)
    return total


@kernel
def mixture_quantile(
    weight: Floats, least: Floats, mean: Floats, variance: Floats, share: float
) -> float:
    """Return the value that a share of a mixture does not exceed; see `mixture_tail`."""
    low = float(least.min())
    high: float = (mean + 4.0 * np.sqrt(variance)).max()
    while mixture_tail(weight, least, mean, variance, high) > 1.0 - share:
        low, high = high, 2.0 * high
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        if mixture_tail(weight, least, mean, variance, middle) > 1.0 - share:
            low = middle
        else:
            high = middle
        if high - low <= 1e-9 * high:
            break
    return high
