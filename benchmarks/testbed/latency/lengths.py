"""Lengths of measurements: until a percentile of their tuples means something."""

from dataclasses import dataclass

import numpy as np

from benchmarks.testbed.latency.simulated import QUANTITIES, Service, simulated, values
from streamplace import Problem
from streamplace.util.arrays import Ints

SHORTEST_S, LONGEST_S = 8.0, 14.0
TRIED_S = 10.0
SPREAD = 0.08
"""Standard deviation of the 99th percentile over runs, relative to its mean, that is aimed at."""
RUNS = 40
SEED = 2_000


@dataclass(frozen=True)
class Length:
    """The length of a measurement, and what simulations of this length reach.

    Parameters
    ----------
    seconds
        Length after the warm-up.
    short_s
        Quantity -> values of `RUNS` simulations of this length, in seconds. They show by how much a
        measurement may differ from a long run only because it is short.
    """

    seconds: float
    short_s: dict[str, list[float]]


def length_for(problem: Problem, devices: Ints, service: Service, warm_s: float) -> Length:
    """Return the length of a measurement of a placement, (V,).

    The variance of a percentile is about inversely proportional to the length.
    """
    tried = np.array(_short(problem, devices, service, warm_s, TRIED_S)["p99"])
    needed = TRIED_S * (tried.std() / tried.mean() / SPREAD) ** 2
    seconds = round(float(np.clip(needed, SHORTEST_S, LONGEST_S)), 1)
    return Length(seconds, _short(problem, devices, service, warm_s, seconds))


def _short(
    problem: Problem, devices: Ints, service: Service, warm_s: float, seconds: float
) -> dict[str, list[float]]:
    """Return the values of simulations of a certain length, by quantity."""
    runs = [
        values(simulated(problem, devices, service, SEED + k, warm_s, seconds)) for k in range(RUNS)
    ]
    return {quantity: [run[quantity] for run in runs] for quantity in QUANTITIES}
