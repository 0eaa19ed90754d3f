"""A lower bound on the price of any set of devices that carries everything offered."""

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, gcd, lcm
from typing import NamedTuple

import numpy as np

from streamplace.capacity.subset.conditions import Conditions, Kinds
from streamplace.util.arrays import Floats

COOLED = 0.3  # factor of the smoothing from one round to the next
ROUNDS = 16
STEPS = 12  # of Newton's method per round, at most
SETTLED = 1e-6  # increase of the bound, relative to the smoothing, below which a round ends
SHORTEST = 1e-6  # part of a Newton step below which a round ends
ROUNDING = 1e-9
ROUNDOFF = 1e-12  # of the terms of a bound, which nearly cancel where multipliers grow without end
MAX_STEPS_OF_PRICE = 10**12  # largest number of price steps for which the bound is rounded up
MAX_SUMS = 1_000_000  # of price steps of all devices, up to which the sums of prices are listed


class PriceBound(NamedTuple):
    """A lower bound on a price, with the value of each kind of device for the conditions.

    Attributes
    ----------
    price
        No set of a lower price meets the conditions.
    value
        (K,) price at which one more device of each kind is as good as others: what the conditions
        are worth (their multipliers) times its amounts.
    """

    price: float
    value: Floats


def price_bound(conditions: Conditions, kinds: Kinds, survive: int, known: float) -> PriceBound:
    """Return a lower bound on the price of a set that meets all conditions after any loss.

    It is the Lagrangian relaxation of the conditions (Fisher 1981), rounded up to a sum of prices.
    Any multipliers give a bound; a barrier method finds good ones (Boyd and Vandenberghe 2004,
    section 11.3).

    Parameters
    ----------
    known
        The price of a set that is known to carry everything.
    """
    amounts = _strengthened(conditions, kinds, survive)
    total, price = kinds.total.astype(np.float64), kinds.price
    smoothing = float(price.max())
    best, value = 0.0, np.zeros(len(price))
    multipliers = np.full(len(amounts), smoothing / len(amounts))
    for _ in range(ROUNDS if smoothing > 0 else 0):
        multipliers = _smoothed_optimum(multipliers, amounts, price, total, smoothing)
        saved = -np.minimum(price - multipliers @ amounts, 0.0) @ total
        gross = float(multipliers.sum())
        reached = gross - float(saved) - ROUNDOFF * (gross + float(saved))
        if reached > best:
            best, value = reached, multipliers @ amounts
        smoothing *= COOLED
    return PriceBound(min(known, _rounded_up(best * (1.0 - ROUNDING), kinds)), value)


def _smoothed_optimum(
    multipliers: Floats, amounts: Floats, price: Floats, total: Floats, smoothing: float
) -> Floats:
    """Return the multipliers, (R,), that maximise a smoothed bound, by damped Newton steps."""

    def smoothed(at: Floats) -> float:
        gains = np.logaddexp(0.0, (at @ amounts - price) / smoothing)
        return float(at.sum() + smoothing * (np.log(at).sum() - total @ gains))

    now, largest = smoothed(multipliers), float(price @ total) / ROUNDOFF
    for _ in range(STEPS):
        if multipliers.sum() > largest:  # roundoff alone exceeds the price of all devices
            break
        excess = (multipliers @ amounts - price) / smoothing
        taken = 0.5 * (1.0 + np.tanh(0.5 * excess))  # the logistic function, without overflow
        slope = 1.0 - amounts @ (total * taken) + smoothing / multipliers
        weight = total * taken * (1.0 - taken) / smoothing
        curvature = (amounts * weight) @ amounts.T + np.diag(smoothing / multipliers**2)
        step = np.linalg.solve(curvature, slope)
        length = min(1.0, 0.9 / max(float((-step / multipliers).max()), 1e-9))
        while length > SHORTEST and smoothed(multipliers + length * step) < now:
            length *= 0.5
        if length <= SHORTEST:
            break
        multipliers = multipliers + length * step
        before, now = now, smoothed(multipliers)
        if now - before < SETTLED * smoothing:
            break
    return multipliers


def _strengthened(conditions: Conditions, kinds: Kinds, survive: int) -> Floats:
    """Return amounts, (R, K), that a whole set must bring to 1, so that any loss leaves enough.

    What is lost has at least the smallest amounts of the devices that count, unless the devices
    that are not lost, which every set contains, have enough.
    """
    amounts, kept = conditions
    least = np.where((amounts > 0) & ~kept, amounts, np.inf).min(axis=1, initial=np.inf)
    needs_others = amounts @ (kinds.total * kept) < 1.0 - ROUNDING
    needs = 1.0 + survive * np.where(np.isfinite(least) & needs_others, least, 0.0)
    stronger: Floats = amounts / needs[:, None]
    return stronger


def _rounded_up(bound: float, kinds: Kinds) -> float:
    """Return the lowest price of any set of devices that is not lower.

    Prices are counted in steps, their greatest common divisor. If there are too many steps to list
    the sums of prices, the result is the smallest multiple of the step.
    """
    pairs = zip(kinds.price.tolist(), kinds.total.tolist(), strict=True)
    exact = [(Fraction(repr(price)), int(total)) for price, total in pairs if price > 0]
    if not exact:
        return 0.0
    bottom = lcm(*(price.denominator for price, _ in exact))
    step = Fraction(gcd(*(int(price * bottom) for price, _ in exact)), bottom)
    if bound > step * MAX_STEPS_OF_PRICE:
        return bound
    least = ceil(Fraction(bound) / step)
    if sum(price / step * total for price, total in exact) <= MAX_SUMS:
        above = _sums([(int(price / step), total) for price, total in exact]) >> least
        least += max((above & -above).bit_length() - 1, 0)
    return float(least * step)


def _sums(amounts: Iterable[tuple[int, int]]) -> int:
    """Return the sums of amounts, each of which can be taken up to so many times, as set bits."""
    found = 1
    for amount, times in amounts:
        left, taken = times, 1
        while left > 0:
            part = min(taken, left)
            found |= found << (amount * part)
            left, taken = left - part, taken * 2
    return found


def fluid_bound(conditions: Conditions, kinds: Kinds, survive: int) -> float:
    """Return a lower bound on the price of any set of devices, with instances divided at will.

    A set that survives the loss of any one device is at least one device dearer than what carries
    everything without the strongest one.
    """
    known = kinds.cost(kinds.everything)
    bound = price_bound(conditions, kinds, survive, known).price
    if survive:
        strongest = int(conditions.amounts.sum(axis=0).argmax())
        rest = fluid_bound(conditions, kinds.with_one_less(strongest), survive - 1)
        bound = max(bound, min(known, rest + float(kinds.price.min())))
    return bound
