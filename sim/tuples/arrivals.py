"""Arrivals of tuples at sources: Poisson processes, also with bursts."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from sim.flow import Floats

Process = Literal["poisson", "bursts"]
BURST, CALM = 1.5, 0.5  # factors of the source rate in a burst and between two
PHASE_S = 1.0  # mean seconds of a burst, and of the time between two


class Phases(NamedTuple):
    """Phases of constant rates; the last one has no end."""

    begin_s: Floats  # (P,) increasing from 0
    factor: Floats  # (P,) of every source's rate


@dataclass(frozen=True)
class Arrivals:
    """A process of arrivals, the same for all sources.

    Parameters
    ----------
    process
        ``poisson``: independent exponential times between the tuples of a source. ``bursts``: a
        Markov-modulated Poisson process of two states, which change for all sources together. Rates
        are 1.5 times and half the mean; times in a state are exponential with mean 1 s.

    Raises
    ------
    ValueError
        On an unknown process.
    """

    process: Process = "poisson"

    def __post_init__(self) -> None:
        if self.process not in get_args(Process):
            names = " or ".join(get_args(Process))
            raise ValueError(f"arrivals: must be {names} (got {self.process!r})")

    @property
    def factors(self) -> tuple[float, ...]:
        """The factors of the source rates in the states, which are equally frequent."""
        return (BURST, CALM) if self.process == "bursts" else (1.0,)

    def phases(self, duration_s: float, rng: np.random.Generator) -> Phases:
        """Return the phases of a run."""
        if self.process == "poisson":
            return Phases(np.zeros(1), np.ones(1))
        begin, factor = [0.0], [self.factors[int(rng.integers(2))]]
        while begin[-1] < duration_s:
            begin.append(begin[-1] + float(rng.exponential(PHASE_S)))
            factor.append(BURST + CALM - factor[-1])
        return Phases(np.array(begin), np.array(factor))
