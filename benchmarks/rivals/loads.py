"""Families of offered loads, drawn by seed, and when each number of a load falls due."""

import random
from collections.abc import Callable, Sequence

import numpy as np

from streamplace.util.arrays import Floats

WATCH, AUTOSCALER = "watch", "autoscaler"
LENGTH_S = 180.0
QUIET_S = 40.0  # of the first rate, in which both controllers measure the job
PIECE_S = 5.0  # of loads that change all the time
LOW, HIGH = (80.0, 120.0), (400.0, 550.0)  # tuples/s
AUCTIONS, KEPT = 1009, 4  # as in `BidsJob`
Pieces = list[tuple[float, float]]
"""Seconds since the begin, and the tuples/s from then on."""


def step(rng: np.random.Generator) -> Pieces:
    """Return a load that rises at once, and falls at once later."""
    low, high = rng.uniform(*LOW), rng.uniform(*HIGH)
    up_s, down_s = QUIET_S + rng.uniform(0.0, 10.0), rng.uniform(105.0, 115.0)
    return [(0.0, low), (up_s, high), (down_s, low)]


def ramp(rng: np.random.Generator) -> Pieces:
    """Return a load that rises steadily, and stays."""
    low, high = rng.uniform(*LOW), rng.uniform(*HIGH)
    full_s = rng.uniform(110.0, 140.0)
    return _pieces(lambda at: low + (high - low) * min((at - QUIET_S) / (full_s - QUIET_S), 1.0))


def sine(rng: np.random.Generator) -> Pieces:
    """Return a load that swings between a low and a high rate, beginning with the low one."""
    low, high = rng.uniform(*LOW), rng.uniform(*HIGH)
    period_s, half = rng.uniform(100.0, 130.0), (high - low) / 2
    return _pieces(lambda at: low + half * (1 - np.cos(2 * np.pi * (at - QUIET_S) / period_s)))


def spike(rng: np.random.Generator) -> Pieces:
    """Return a load with one short spike, after which no more capacity is needed."""
    low, high = rng.uniform(*LOW), rng.uniform(*HIGH)
    at_s = rng.uniform(60.0, 90.0)
    return [(0.0, low), (at_s, high), (at_s + rng.uniform(12.0, 20.0), low)]


def _pieces(rate: Callable[[float], float]) -> Pieces:
    starts = np.arange(QUIET_S, LENGTH_S, PIECE_S)
    return [(0.0, float(rate(QUIET_S))), *((float(at), float(rate(at))) for at in starts)]


FAMILIES: dict[str, Callable[[np.random.Generator], Pieces]] = {
    "step": step,
    "sine": sine,
    "ramp": ramp,
    "spike": spike,
}


def drawn(family: str, seed: int) -> Pieces:
    """Return a load of a family, in whole milliseconds and whole tuples per second."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(family)])
    return [(round(at, 3), float(round(rate))) for at, rate in FAMILIES[family](rng)]


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


def results_of(query: str, count: int) -> dict[int, int]:
    """Return number -> value of each result of `BidsJob`.

    Parameters
    ----------
    query
        "filter", or "counts", whose values are those that the counts of the auctions reach if bids
        come in order.
    count
        Number of bids.
    """
    if query == "filter":
        kept = (number for number in range(count) if number * 7 % AUCTIONS % KEPT == 0)
        return {number: (100 + number * 7919 % 10_000) * 908 // 1000 for number in kept}
    return {number: number // AUCTIONS + 1 for number in range(count)}
