"""Families of offered loads, drawn by seed, and when each number of a load falls due."""

import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.rivals.recorded import read, shape
from streamplace.util.arrays import Floats

WATCH, AUTOSCALER = "watch", "autoscaler"
SLOWER = float(os.environ.get("SLOWER", "1"))  # all times but BEGIN_S, as a multiple
SCALE = SLOWER / 15  # of all durations of the controllers
BEGIN_S = 60.0  # of the controllers; the busy times that the autoscaler reads are means of 60 s


def slowed_s(at_s: float) -> float:
    """Return when something happens that is drawn for a time after `BEGIN_S`."""
    return BEGIN_S + SLOWER * (at_s - BEGIN_S)


_LENGTH_S, _QUIET_S = 230.0, 115.0  # as drawn
LENGTH_S = slowed_s(_LENGTH_S)
QUIET_S = slowed_s(_QUIET_S)  # of the first rate, in which both controllers measure the job
PIECE_S = 5.0  # of loads that change all the time, as drawn
LOW, HIGH = (80.0, 120.0), (400.0, 550.0)  # tuples/s
MIDDLE = (120.0, 180.0)  # tuples/s of noise
LEAST = 20  # tuples/s
NOISE = 0.4  # standard deviation of the logarithm of a rate
Pieces = list[tuple[float, float]]
"""Seconds since the begin, and the tuples/s from then on."""


def step(rng: np.random.Generator) -> Pieces:
    """Return a load that rises at once, and falls at once later."""
    low, high = rng.uniform(*LOW), rng.uniform(*HIGH)
    up_s, down_s = rng.uniform(0.0, 10.0), rng.uniform(55.0, 65.0)
    return [(0.0, low), (_QUIET_S + up_s, high), (_QUIET_S + down_s, low)]


def ramp(rng: np.random.Generator) -> Pieces:
    """Return a load that rises steadily, and stays."""
    low, high = rng.uniform(*LOW), rng.uniform(*HIGH)
    full_s = rng.uniform(55.0, 85.0)
    return _pieces(lambda at: low + (high - low) * min((at - _QUIET_S) / full_s, 1.0))


def sine(rng: np.random.Generator) -> Pieces:
    """Return a load that swings between a low and a high rate, beginning with the low one."""
    low, high = rng.uniform(*LOW), rng.uniform(*HIGH)
    period_s, half = rng.uniform(80.0, 110.0), (high - low) / 2
    return _pieces(lambda at: low + half * (1 - np.cos(2 * np.pi * (at - _QUIET_S) / period_s)))


def spike(rng: np.random.Generator) -> Pieces:
    """Return a load with one short spike, after which no more capacity is needed."""
    low, high = rng.uniform(*LOW), rng.uniform(*HIGH)
    at_s = _QUIET_S + rng.uniform(15.0, 40.0)
    return [(0.0, low), (at_s, high), (at_s + rng.uniform(12.0, 20.0), low)]


def noise(rng: np.random.Generator) -> Pieces:
    """Return a load that varies without a trend."""
    middle = rng.uniform(*MIDDLE)
    return _pieces(lambda at: middle * (rng.lognormal(0.0, NOISE) if at > _QUIET_S else 1.0))


def recorded(rng: np.random.Generator, path: Path) -> Pieces:
    """Return a load that is low, and then has the shape of a recorded one, up to a high rate."""
    low, high = rng.uniform(*LOW), rng.uniform(*HIGH)
    part = shape(read(path), rng, round((_LENGTH_S - _QUIET_S) / PIECE_S))
    whole = _pieces(lambda at: low + (high - low) * part[round((at - _QUIET_S) / PIECE_S)])
    return [(0.0, low), *whole[1:]]


def _pieces(rate: Callable[[float], float]) -> Pieces:
    starts = np.arange(_QUIET_S, _LENGTH_S, PIECE_S)
    return [(0.0, float(rate(_QUIET_S))), *((float(at), float(rate(at))) for at in starts)]


FAMILIES: dict[str, Callable[[np.random.Generator], Pieces]] = {
    "step": step,
    "sine": sine,
    "ramp": ramp,
    "spike": spike,
    "noise": noise,
}
RECORDED = "recorded"


def drawn(family: str, seed: int, trace: Path | None = None) -> Pieces:
    """Return a load of a family, in whole milliseconds and whole tuples per second.

    Parameters
    ----------
    trace
        The file of a recorded load; None for the other families.
    """
    rng = np.random.default_rng([seed, [*FAMILIES, RECORDED].index(family)])
    found = FAMILIES[family](rng) if trace is None else recorded(rng, trace)
    times = [0.0, *(slowed_s(at) for at, _ in found[1:])]
    rates = [float(max(round(rate), LEAST)) for _, rate in found]
    return [(round(at, 3), rate) for at, rate in zip(times, rates, strict=True)]


def order(query: str, family: str, seed: int) -> list[str]:
    """Return the two controllers in the order of a pair: at random, and the reverse for the next.

    So of the seeds 2k and 2k + 1, each controller is first once.
    """
    both = [WATCH, AUTOSCALER]
    random.Random(f"{query} {family} {seed // 2}").shuffle(both)
    return both if seed % 2 == 0 else both[::-1]


def offered(pieces: Sequence[tuple[float, float]], at_s: Floats) -> Floats:
    """Return how many tuples are due at each of some times, before rounding; the last rate stays.

    Parameters
    ----------
    at_s
        Seconds since the begin, at most `LENGTH_S`, at which the load ends.
    """
    begins, sums = _sums(pieces)
    return np.asarray(np.interp(at_s, begins, sums))


def due_s(pieces: Sequence[tuple[float, float]]) -> Floats:
    """Return when each number falls due, in seconds since the begin; as `Clocked` does it.

    Rates must be above 0. The count is that of the same operations on the same numbers.
    """
    begins, sums = _sums(pieces)
    spans = zip(np.diff(begins), pieces, strict=True)
    count = int(sum(round(span * 1e3) / 1e3 * rate for span, (_, rate) in spans))
    return np.asarray(np.interp(np.arange(1, count + 1), sums, begins))


def _sums(pieces: Sequence[tuple[float, float]]) -> tuple[Floats, Floats]:
    """Return the begins of the pieces and the end, and the tuples that are due by each."""
    begins = np.array([at for at, _ in pieces] + [LENGTH_S])
    rates = np.array([rate for _, rate in pieces])
    return begins, np.concatenate([[0.0], np.cumsum(np.diff(begins) * rates)])
