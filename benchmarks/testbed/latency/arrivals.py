"""Moments at which tuples arrive at sources, the same as in the simulation of single tuples."""

import numpy as np

from benchmarks.reference.plain_tuples import Generator
from streamplace import Problem
from streamplace.scoring.compiled import compiled
from streamplace.sim.tuples import Arrivals


def births_s(problem: Problem, seed: int, seconds: float) -> dict[int, list[float]]:
    """Return the moments, in seconds from the start, at which tuples arrive at each source.

    They are independent Poisson processes. A run of `streamplace.sim.tuples` with the same seed and
    rate draws the same moments, so that both have the same arrivals.
    """
    rates = compiled(problem).flow.source_tuples
    sources = np.flatnonzero(rates > 0).tolist()
    rng = np.random.default_rng(seed)
    Arrivals("poisson").phases(seconds, rng)
    words = rng.integers(1, 2**63, len(sources) + 2, dtype=np.uint64)[2:].tolist()
    return {
        v: _until(seconds, Generator(word), float(rates[v]))
        for v, word in zip(sources, words, strict=True)
    }


def _until(seconds: float, draws: Generator, rate: float) -> list[float]:
    """Return the arrivals of one source."""
    moments, at_s = [], draws.exponential() / rate
    while at_s < seconds:
        moments.append(at_s)
        at_s += draws.exponential() / rate
    return moments
