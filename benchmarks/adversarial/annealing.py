"""Annealing over problems for the largest ratio of the makespans of two placers."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.adversarial.problems import Instance, Sizes, chain, perturbed
from benchmarks.adversarial.scores import Score, ratios

HOTTEST, COLDEST = 0.1, 0.003  # temperatures as relative losses of the ratio
STEPS = 200


@dataclass(frozen=True)
class Worst:
    """The largest ratio of two makespans that was found, with its problem."""

    ratio: float
    instance: Instance


def anneal(
    placer: Score,
    rival: Score,
    sizes: Sizes,
    rng: np.random.Generator,
    steps: int,
    seeds: Iterable[int] = (0,),
) -> Worst:
    """Return the worst problem that one run of annealing finds, by the median over seeds."""
    current = chain(sizes, rng)
    worth = median(ratios(placer, rival, current, seeds))
    worst = Worst(worth, current)
    for temperature in np.geomspace(HOTTEST, COLDEST, steps):
        tried = perturbed(current, rng)
        found = median(ratios(placer, rival, tried, seeds))
        if found >= worth or rng.random() < np.exp((found / worth - 1.0) / temperature):
            current, worth = tried, found
        if worth > worst.ratio:
            worst = Worst(worth, current)
    return worst
