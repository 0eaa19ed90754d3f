"""Kinds of offered rates over time, with which controllers are compared."""

from collections.abc import Callable

import numpy as np

from streamplace.util.arrays import Floats

LEAST = 0.05  # of the mean rate
Draw = Callable[[np.random.Generator, int], Floats]


def steps(rng: np.random.Generator, count: int) -> Floats:
    """Return factors that jump to another level a few times, (count,)."""
    jumps = np.sort(rng.integers(1, count, size=int(rng.integers(2, 7))))
    levels = rng.uniform(0.3, 1.8, size=len(jumps) + 1)
    return np.asarray(levels[np.searchsorted(jumps, np.arange(count), side="right")])


def wave(rng: np.random.Generator, count: int) -> Floats:
    """Return factors of a part of a daily wave, of a quarter of a day to a day, (count,)."""
    turns, height = rng.uniform(0.25, 1.0) * count / 2160.0, rng.uniform(0.3, 0.8)
    phase = rng.uniform(0.0, 2.0 * np.pi)
    return np.asarray(1.0 + height * np.sin(phase + 2.0 * np.pi * turns * np.arange(count) / count))


def bursts(rng: np.random.Generator, count: int) -> Floats:
    """Return factors of 1 with bursts of one to twenty minutes at up to three times, (count,)."""
    factor = np.ones(count)
    for _ in range(int(rng.integers(3, 12))):
        begin, length = int(rng.integers(count)), int(rng.integers(6, 121))
        factor[begin : begin + length] = rng.uniform(1.5, 3.0)
    return 0.7 * factor


def walk(rng: np.random.Generator, count: int) -> Floats:
    """Return factors of a geometric random walk, pulled back to 1, (count,)."""
    logs, level = np.empty(count), 0.0
    for k, move in enumerate(rng.normal(0.0, 0.04, size=count)):
        level += move - 0.005 * level
        logs[k] = level
    return np.asarray(np.exp(logs))


KINDS: dict[str, Draw] = {"steps": steps, "wave": wave, "bursts": bursts, "walk": walk}


def rates(kind: str, mean_s: float, count: int, rng: np.random.Generator) -> Floats:
    """Return the rates of a kind around a rate, (count,) tuples/s, with noise of 3% in each step.

    Parameters
    ----------
    kind
        One of `KINDS`.
    """
    noise = np.exp(rng.normal(0.0, 0.03, size=count))
    return np.maximum(KINDS[kind](rng, count), LEAST) * noise * mean_s
