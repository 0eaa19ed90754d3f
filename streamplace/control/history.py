"""The windows so far: how many agree, and the largest rate while less would have been enough."""

from collections.abc import Iterator, Mapping
from dataclasses import astuple
from math import isfinite
from typing import Any

from streamplace.control.decisions import State, clock
from streamplace.control.load import Load, load_of
from streamplace.control.observation import ALWAYS, Observation
from streamplace.control.plans import Deployment
from streamplace.control.settings import ControllerSettings
from streamplace.display.text import quoted, several
from streamplace.util.text import counted

SHOWN = 3  # operators that a reason names, so that it stays a line


def fault_of(observation: Observation, last_s: float | None) -> str:
    """Return why no decision can be based on an observation, in words; empty if one can.

    Parameters
    ----------
    last_s
        The end of the window before, in seconds since 1970; None: there was none.
    """
    return next(_faults(observation, last_s), "")


def not_running(observation: Observation) -> str:
    """Return which instances do not run, in words; empty if all do."""
    for name, on in sorted(observation.hosts.items()):
        if gone := sorted({*on} - observation.devices):
            return f"{quoted(gone[0])} is gone, where instances of {name} ran"
    for name, reading in sorted(observation.readings.items()):
        running = len(observation.hosts.get(name, ()))
        if running < reading.instances:
            return f"only {running} of {counted(reading.instances, 'instance')} of {name} run"
    return ""


def _faults(observation: Observation, last_s: float | None) -> Iterator[str]:
    if last_s is not None and observation.at_s <= last_s:
        yield f"the measurements are stale: those of {clock(last_s)} are known already"
    if observation.missing:
        yield "; ".join(observation.missing)
    if not observation.readings:
        yield "no operator was measured"
    if unmeasured := sorted(observation.hosts.keys() - observation.readings.keys()):
        yield f"nothing was measured of {several(unmeasured, SHOWN)}"
    for name, reading in sorted(observation.readings.items()):
        *others, shares = astuple(reading)
        numbers = (number for number in (*others, *shares) if number is not None)
        if not all(isfinite(number) and number >= 0 for number in numbers):
            yield f"the measurements of {name} are not numbers of at least 0"
    if observation.hidden and (observation.offered_s is None or observation.busiest <= ALWAYS):
        yield observation.hidden
    if observation.offered_s is None:
        yield "the offered rate is unknown"
    times = (observation.seconds, observation.started_s, observation.at_s)
    rates = (observation.offered_s, observation.waiting, observation.read_s)
    values = (*times, *(rate for rate in rates if rate is not None))
    if not all(isfinite(value) and value >= 0 for value in values) or observation.seconds <= 0:
        yield "rates or times of the window are not numbers of at least 0"


class History:
    """Windows in a row of one run of the job. All times are seconds since 1970.

    A row ends where a window is missing or cannot be used, where the job has started anew or runs
    elsewhere, and where the load changes.

    Attributes
    ----------
    last_s
        The end of the last window, whether it could be used or not; None before the first.
    state
        The load in all windows of the row.
    count
        The number of windows of the row.
    since_s
        The beginning of the first window of the row.
    served_s
        Tuples per second that the job carried in the last window that could be used, counted at
        the sources: what they read, without what piled up in buffers. None if unknown.
    """

    def __init__(self, settings: ControllerSettings) -> None:
        self._settings = settings
        self._run = ""
        self._waiting: tuple[float, float] | None = None
        self._rates: list[tuple[float, float]] = []
        self.last_s: float | None = None
        self.state = State.STEADY
        self.count = 0
        self.since_s = 0.0
        self.served_s: float | None = None

    @property
    def largest_rate_s(self) -> float:
        """The largest offered rate of the row, at most `scale_down_after_s` ago; tuples/s."""
        return max((rate for _, rate in self._rates), default=0.0)

    def skip(self, observation: Observation) -> None:
        """Take note of a window that cannot be used, which ends the row."""
        if self.last_s is None or observation.at_s > self.last_s:
            self.last_s = observation.at_s
            self._waiting = _tuples_at_end(observation)
        self._begin_row(observation)

    def add(self, observation: Observation) -> Load:
        """Add a window that can be used, and return its load."""
        read_s = self._read(observation)
        self.served_s = None if read_s is None else read_s * observation.processed
        load = load_of(observation, self.served_s, self._settings)
        run = f"{observation.started_s!r} {Deployment(observation.hosts).key}"
        gap_s = 0.0 if self.last_s is None else observation.begin_s - self.last_s
        # Windows agree only about one run of the job, and if none is missing between them.
        if run != self._run or load.state != self.state or gap_s >= observation.seconds:
            self._begin_row(observation)
        self._run, self.state = run, load.state
        self.count += 1
        at_s = self.last_s = observation.at_s
        self._waiting = _tuples_at_end(observation)
        oldest_s = at_s - self._settings.scale_down_after_s
        self._rates.append((at_s, observation.offered_s or 0.0))
        self._rates = [(at, rate) for at, rate in self._rates if at > oldest_s]
        return load

    def to_dict(self) -> dict[str, Any]:
        """Return the state as a JSON value."""
        return {
            "run": self._run,
            "waiting": None if self._waiting is None else list(self._waiting),
            "rates": [list(each) for each in self._rates],
            "last": self.last_s,
            "state": str(self.state),
            "count": self.count,
            "since": self.since_s,
            "served": self.served_s,
        }

    def restore(self, value: Mapping[str, Any]) -> None:
        """Go on from a state; see `to_dict`."""
        self._run = str(value["run"])
        waiting = value["waiting"]
        self._waiting = None if waiting is None else (float(waiting[0]), float(waiting[1]))
        self._rates = [(float(at), float(rate)) for at, rate in value["rates"]]
        self.last_s = None if value["last"] is None else float(value["last"])
        self.state = State(value["state"])
        self.count = int(value["count"])
        self.since_s = float(value["since"])
        self.served_s = None if value["served"] is None else float(value["served"])

    def _begin_row(self, observation: Observation) -> None:
        self._run, self.state, self.count = "", State.STEADY, 0
        self.since_s = observation.begin_s
        self._rates = []

    def _read(self, observation: Observation) -> float | None:
        """Return the tuples per second that the sources read: those offered that do not wait.

        Where it is known how many wait, it must also be known how many waited before.
        """
        if observation.read_s is not None or observation.waiting is None:
            offered_s = observation.offered_s or 0.0
            return offered_s if observation.read_s is None else observation.read_s
        if self._waiting is None:
            return None
        before_s, before = self._waiting
        growth_s = (observation.waiting - before) / (observation.at_s - before_s)
        return max((observation.offered_s or 0.0) - growth_s, 0.0)


def _tuples_at_end(observation: Observation) -> tuple[float, float] | None:
    """Return when a window ended and how many tuples waited then; None if that is unknown."""
    if observation.waiting is None or not isfinite(observation.waiting):
        return None
    return observation.at_s, observation.waiting
