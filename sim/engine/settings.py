"""Settings of a simulation."""

from dataclasses import dataclass, fields
from typing import Literal, get_args

import numpy as np

from streamplace.sim.tuples.state import Process

Scheduler = Literal["default", "dynamic"]
Allocation = Literal["uniform", "weighted"]
Service = Literal["exponential", "deterministic"]

MOST_TICKS = 100_000_000  # arrivals are stored by tick, 1.6 GB for each input of a sink
FIRST_TICK_S = 0.1  # as in the comparisons with CEPSim (docs/results/engine.md)
OF_TICKS = ("scheduler", "allocation", "queue", "backpressure", "source_queue", "source_wait")
# Queues start empty, so that the beginning is not typical. The number is a guess.
SETTLING_S = 20.0  # initial seconds that are not measured, or a third of a shorter run
# Seconds after which a run first asks whether it has settled: a minute, of which 41 s count.
UNTOLD_S = 61.0


class SettingError(ValueError):
    """A setting that is out of range, or does not suit the others.

    Attributes
    ----------
    setting
        Its field.
    what
        What is wrong.
    """

    def __init__(self, setting: str, what: str) -> None:
        super().__init__(setting, what)
        self.setting, self.what = setting, what

    def __str__(self) -> str:
        return f"{self.setting}: {self.what}"


@dataclass(frozen=True)
class Settings:
    """The settings of a simulation.

    Parameters
    ----------
    duration_s
        Simulated seconds, in whole ticks. None: 61, and more until throughput no longer changes;
        see `streamplace.sim.engine.metrics`. A simulation of single tuples then takes 61.
    tick_s
        Seconds per tick. The engine uses shorter ticks if twice the tuples of a tick would not fit
        into a bounded queue, or if a window is shorter. None: `Simulation.run` begins with 0.1 s
        and halves the tick until the throughput no longer changes; see
        `streamplace.sim.engine.metrics`.
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
        Second at which measuring begins; None: 20, or a third of a shorter run. A run that goes on
        after 61 seconds is measured in its last third.
    source_wait
        Whether latency includes the time that tuples wait at their source. In CEPSim it does not.
    arrivals, service
        Random arrivals and the distribution of service times, with which single tuples are
        simulated (`streamplace.sim.tuples`) instead of ticks. Queues are then unbounded, and of the
        other settings only `duration_s`, `measure_from_s` and `seed` have an effect; those of ticks
        must have their defaults. None: ticks.
    seed
        Seed of the random numbers of a simulation of single tuples.
    """

    duration_s: float | None = None
    tick_s: float | None = FIRST_TICK_S
    scheduler: Scheduler = "default"
    allocation: Allocation = "weighted"
    queue: float = 2048.0  # a guess; sim/README.md says how it shortens ticks
    backpressure: bool = True
    source_queue: float = 0.0
    measure_from_s: float | None = None
    source_wait: bool = True
    arrivals: Process | None = None
    service: Service | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, allowed in (("scheduler", Scheduler), ("allocation", Allocation)):
            if getattr(self, name) not in get_args(allowed):
                names = " or ".join(get_args(allowed))
                raise SettingError(name, f"must be {names} (got {getattr(self, name)!r})")
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int | float) and not 0 <= value < np.inf:
                raise SettingError(field.name, f"must be finite and at least 0 (got {value:g})")
        self._check_single_tuples()
        if self.duration_s == 0:
            raise SettingError("duration_s", "must be above 0 (got 0)")
        if self.arrivals is None:
            self._check_ticks()
        last = 0.0 if self.arrivals else self.first_tick_s * (self.measure_from_s is not None)
        end_s = self.first_duration_s
        if self.measured_from_s > end_s - last or self.measured_from_s == end_s:
            raise SettingError(
                "measure_from_s",
                f"must be at least one tick before the end, {end_s:g} s "
                f"(got {self.measured_from_s:g})",
            )
        for name in ("queue", "source_queue"):
            if 0 < getattr(self, name) < 1:
                raise SettingError(name, f"must be 0 or at least 1 (got {getattr(self, name):g})")

    def _check_ticks(self) -> None:
        """Refuse ticks that are longer than the run, or too many."""
        tick_s, duration_s = self.first_tick_s, self.first_duration_s
        if not 0 < tick_s <= duration_s:
            raise SettingError(
                "tick_s",
                f"must be above 0 and at most the duration, {duration_s:g} s (got {tick_s:g})",
            )
        if duration_s / tick_s > MOST_TICKS:
            raise SettingError(
                "duration_s",
                f"must be at most {MOST_TICKS:,} ticks of {tick_s:g} s (got {duration_s:g} s)",
            )

    def _check_single_tuples(self) -> None:
        """Refuse half of what single tuples need, and settings of ticks beside it."""
        for name, allowed in (("arrivals", Process), ("service", Service)):
            value = getattr(self, name)
            if value is not None and value not in get_args(allowed):
                names = " or ".join(get_args(allowed))
                raise SettingError(name, f"must be {names} (got {value!r})")
        if (self.arrivals is None) != (self.service is None):
            missing, other = "arrivals", "service"
            if self.service is None:
                missing, other = other, missing
            raise SettingError(missing, f"must be set where {other} is")
        of_ticks = [field for field in fields(self) if field.name in OF_TICKS]
        for field in of_ticks if self.arrivals is not None else ():
            if getattr(self, field.name) != field.default:
                raise SettingError(field.name, "cannot be combined with arrivals")

    @property
    def first_tick_s(self) -> float:
        """Seconds per tick of the first run, before the tick is shortened for queues or windows."""
        return min(FIRST_TICK_S, self.first_duration_s) if self.tick_s is None else self.tick_s

    @property
    def first_duration_s(self) -> float:
        """Seconds of a run before it may go on: the duration, or 61 where none is set."""
        return UNTOLD_S if self.duration_s is None else self.duration_s

    @property
    def measured_from_s(self) -> float:
        """The second at which measuring begins."""
        if self.measure_from_s is not None:
            return self.measure_from_s
        return min(SETTLING_S, self.first_duration_s / 3.0)
