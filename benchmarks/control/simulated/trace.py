"""Traces: offered rates, lost devices and slow devices over the hours of a simulation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from streamplace.util.arrays import Floats

STEP_S = 10.0  # of the rates; failures begin and end at steps


@dataclass(frozen=True)
class Disturbance:
    """A device that is slow, or is gone, for some time.

    Parameters
    ----------
    begin, end
        The first step, and the first step after it.
    speed
        Factor of its speed; 0: it is gone.
    """

    device: str
    begin: int
    end: int
    speed: float


@dataclass(frozen=True, eq=False)
class Trace:
    """What happens to a job.

    Parameters
    ----------
    kind
        The kind of its rates; see `benchmarks.control.simulated.trace`.
    rates
        (N,) tuples per second that are offered in each step.
    hides
        Whether the sources do not report what waits at them, so that backpressure hides the offered
        rate.
    """

    kind: str
    rates: Floats
    disturbances: tuple[Disturbance, ...] = ()
    hides: bool = False

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.rates)

    def speeds(self, step: int) -> Mapping[str, float]:
        """Return device -> factor of its speed in a step, where it is not 1."""
        now = [each for each in self.disturbances if each.begin <= step < each.end]
        return {each.device: min(o.speed for o in now if o.device == each.device) for each in now}

    def changes(self, begin: int, end: int) -> list[int]:
        """Return the steps between two steps, excluding both, at which a disturbance changes."""
        moments = {at for each in self.disturbances for at in (each.begin, each.end)}
        return sorted(at for at in moments if begin < at < end)

    def mean_rate(self, begin: int, end: int) -> float:
        """Return the mean of the rates from a step to another, excluding that, in tuples/s."""
        return float(np.mean(self.rates[begin:end]))


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
