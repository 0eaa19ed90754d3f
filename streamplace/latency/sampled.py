"""Placements scored under draws of uncertain costs, and the share of each cost in the variance."""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from statistics import NormalDist

import numpy as np

from streamplace.problem.problem import Problem
from streamplace.problem.uncertainty import Uncertainty
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.sampled import Draws, draws_of, sampled_utilisation
from streamplace.sim.flow import Flow
from streamplace.util.arrays import Floats, Ints

ROUNDING = 1.0 + 1e-9  # largest utilisation at which everything offered counts as carried
BLOCK = 4_000_000  # draws x (operators + streams) held at a time
MAX_LOADS = 200_000_000  # draws x (operators + streams) of one placement, which take seconds
MAX_NORMALS = 40_000_000  # draws x uncertain numbers
FEWEST = 200  # draws, however large the graph
BINS = 32  # of equal probability
MOST = 64  # inputs whose shares are computed; the others have a weaker correlation
CHANCE = 0.01  # probability with which any input without effect has a share


@dataclass(frozen=True, eq=False)
class CostDraws:
    """S draws of the costs of a problem; see `Uncertainty` for their distribution.

    Draws are made in blocks, so that memory does not grow with S, and are the same whenever they
    are made. Utilisations are those of ``bottleneck`` at the highest source rate. At most 1 means
    that the rate is carried under either closed form, since ``path-average`` throttles nothing
    where no device or link is full.

    Parameters
    ----------
    seed
        Words that seed the random generator.
    count
        The number of draws, S.
    """

    problem: Problem
    uncertainty: Uncertainty
    seed: tuple[int, ...]
    count: int

    @cached_property
    def normals(self) -> Floats:
        """Standard normal z of the N uncertain numbers, (S, N)."""
        return self.uncertainty.normals(np.random.default_rng(self.seed), self.count)

    def loads(self, first: int = 0, last: int | None = None) -> Draws:
        """Return the loads at the offered rate in the draws from `first` until before `last`."""
        return draws_of(self._flow, *self.uncertainty.factors(self.normals[first:last]))

    def utilisation(self, rows: Ints) -> Floats:
        """Return the largest utilisation of K placements, (K, V), in all draws: (K, S)."""
        elements = len(self._flow.instructions) + len(self._flow.source)
        step = max(1, BLOCK // elements)
        blocks = [
            sampled_utilisation(self._flow, self.loads(first, first + step), rows)
            for first in range(0, self.count, step)
        ]
        return np.concatenate(blocks, axis=1)

    @property
    def _flow(self) -> Flow:
        return flow(self.problem)


def draws_within(problem: Problem, uncertainty: Uncertainty, most: int) -> int:
    """Return a number of draws, at most `most`; fewer for large graphs, which take longer."""
    elements = len(problem.graph.names) + len(problem.graph.stream_source)
    limits = most, MAX_LOADS // elements, MAX_NORMALS // max(1, len(uncertainty))
    return max(FEWEST, min(limits))


def carried_share(utilisation: Floats) -> Floats:
    """Return the share of draws in which everything offered is carried, (K,) for (K, S)."""
    shares: Floats = np.mean(utilisation <= ROUNDING, axis=-1)
    return shares


def utilisation_at(utilisation: Floats, probability: float) -> Floats:
    """Return the utilisation that at least this share of draws does not exceed, (K,) for (K, S)."""
    ordered = np.sort(utilisation, axis=-1)
    count = ordered.shape[-1]
    rank = int(np.ceil(probability * count - 1e-9))  # the product is rounded
    found: Floats = ordered[..., min(count, max(1, rank)) - 1]
    return found


def first_order_shares(normals: Floats, result: Floats) -> Floats:
    """Return the first-order Sobol index of each of N standard normal inputs, (N,).

    It is Var(E[result | z]) / Var(result) for the input z: the share by which the variance of the
    result is expected to fall once z is known (Sobol 1993; Saltelli et al. 2008, section 4.5). The
    conditional means are lines fitted to the draws in each of 32 bins of z, and the share is
    corrected for the variance that such fits explain by chance (ε², Kelley 1935).

    Shares that could be due to chance are 0: the level grows with the number of inputs, so that
    with a probability of about 99% no input without effect has a share. With more than 64 inputs,
    those whose correlation with the result could be due to chance have none either.

    Parameters
    ----------
    normals
        (S, N) draws of the inputs.
    result
        (S,) result of each draw.
    """
    shares = np.zeros(normals.shape[1])
    spread = result - result.mean()
    total = float(spread @ spread)
    if total <= 0.0 or len(result) <= BINS:
        return shares
    # For an input without effect, this is standard normal whatever the distribution of the result.
    strength = np.abs(spread @ normals) / sqrt(total)
    tested = np.argsort(-strength, kind="stable")[:MOST]
    if len(strength) > MOST:
        tested = tested[strength[tested] > _quantile(2 * len(strength))]
    least = _chance_level(len(result), min(MOST, len(strength)))
    for i in tested:
        share = 1.0 - _variance_around_lines(normals[:, i], spread) * (len(result) - 1) / total
        shares[i] = share if share > least else 0.0
    return shares


def _quantile(tests: int) -> float:
    """Return the standard normal deviation that any of several tests exceeds in 1 of 100 cases."""
    return NormalDist().inv_cdf(1.0 - CHANCE / tests)


def _chance_level(draws: int, inputs: int) -> float:
    """Return the share of `draws` that any of several inputs without effect rarely exceeds.

    The variance that lines in bins explain by chance has a χ² distribution, whose quantile is that
    of Wilson and Hilferty (1931).
    """
    freedom = min(2 * BINS, draws // 2) - 1
    part = 2.0 / (9.0 * freedom)
    excess = (1.0 - part + _quantile(inputs) * sqrt(part)) ** 3 - 1.0
    return excess * freedom / (draws - 1 - freedom)


def _variance_around_lines(z: Floats, spread: Floats) -> float:
    """Return the variance of a result around lines fitted in bins of one input."""
    edges = [NormalDist().inv_cdf(i / BINS) for i in range(1, BINS)]
    bins = np.searchsorted(edges, z)
    count, of_z, of_result, squares, both = (
        np.bincount(bins, weights=weights, minlength=BINS)
        for weights in (None, z, spread, z * z, z * spread)
    )
    used = count > 2  # noqa: PLR2004 - a line through two points explains everything
    of_z, of_result, count = of_z[used], of_result[used], count[used]
    across = squares[used] - of_z * of_z / count
    slope = (both[used] - of_z * of_result / count) / across
    between = float(np.sum(of_result * of_result / count + slope * slope * across))
    return (float(spread @ spread) - between) / max(1, len(z) - 2 * int(used.sum()))
