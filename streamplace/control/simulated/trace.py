"""Traces: offered rates, lost devices and slow devices over the hours of a simulation."""

from collections.abc import Mapping
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
        The kind of its rates; see `streamplace.control.simulated.rates`.
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
