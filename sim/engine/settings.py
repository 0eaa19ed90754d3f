"""Settings of a simulation."""

from dataclasses import dataclass, fields
from typing import Literal, get_args

import numpy as np

Scheduler = Literal["default", "dynamic"]
Allocation = Literal["uniform", "weighted"]

MOST_TICKS = 100_000_000
SETTLING_S = 20.0  # initial seconds that are not measured; a third of the run, if less


@dataclass(frozen=True)
class Settings:
    """The settings of a simulation.

    Parameters
    ----------
    duration_s, tick_s
        Simulated seconds, a whole number of ticks, and seconds per tick. The engine uses shorter
        ticks if twice the tuples of a tick would not fit into a bounded queue, or if a window is
        shorter.
    scheduler
        ``default``: an operator has its fixed share of its device in every tick, used or not.
        ``dynamic``: operators that have work share what others leave unused.
    allocation
        Shares of a device: ``uniform``, or ``weighted`` by the work offered to each operator.
    queue
        Largest number of tuples that wait on a stream; 0: unbounded.
    backpressure
        Whether tuples between devices count towards `queue`. Without it, as in CEPSim, a full
        queue stops its senders but an overloaded link never does.
    source_queue
        Largest number of tuples that wait at a source from one tick to the next; the rest is
        dropped. 0: unbounded.
    measure_from_s
        Time in seconds at which measuring begins; None: 20, or a third of a run shorter than 60 s.
    """

    duration_s: float = 61.0
    tick_s: float = 0.1
    scheduler: Scheduler = "default"
    allocation: Allocation = "weighted"
    queue: float = 2048.0
    backpressure: bool = True
    source_queue: float = 0.0
    measure_from_s: float | None = None

    def __post_init__(self) -> None:
        for name, allowed in (("scheduler", Scheduler), ("allocation", Allocation)):
            if getattr(self, name) not in get_args(allowed):
                names = " or ".join(get_args(allowed))
                raise ValueError(f"{name}: must be {names} (got {getattr(self, name)!r})")
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int | float) and not 0 <= value < np.inf:
                raise ValueError(f"{field.name}: must be finite and at least 0 (got {value:g})")
        if self.duration_s == 0:
            raise ValueError("duration_s: must be above 0 (got 0)")
        if not 0 < self.tick_s <= self.duration_s:
            raise ValueError(
                f"tick_s: must be above 0 and at most the duration, {self.duration_s:g} s "
                f"(got {self.tick_s:g})"
            )
        if self.measured_from_s > self.duration_s - self.tick_s * (self.measure_from_s is not None):
            raise ValueError(
                f"measure_from_s: must be at least one tick before the end, {self.duration_s:g} s "
                f"(got {self.measured_from_s:g})"
            )
        for name in ("queue", "source_queue"):
            if 0 < getattr(self, name) < 1:
                raise ValueError(f"{name}: must be 0 or at least 1 (got {getattr(self, name):g})")
        if self.duration_s / self.tick_s > MOST_TICKS:
            raise ValueError(
                f"duration_s: must be at most {MOST_TICKS:,} ticks of {self.tick_s:g} s "
                f"(got {self.duration_s:g} s)"
            )

    @property
    def measured_from_s(self) -> float:
        """The second at which measuring begins."""
        if self.measure_from_s is not None:
            return self.measure_from_s
        return min(SETTLING_S, self.duration_s / 3.0)
