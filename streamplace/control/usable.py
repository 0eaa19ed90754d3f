"""Checks whether a window of measurements suffices for a decision."""

from collections.abc import Iterator
from dataclasses import astuple
from math import isfinite

from streamplace.control.observation import Observation
from streamplace.control.phrases import clock
from streamplace.display.text import quoted, several
from streamplace.util.text import counted

SHOWN = 3


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
    if observation.offered_s is None:
        yield "the offered rate is unknown"
    times = (observation.seconds, observation.started_s, observation.at_s)
    rates = (observation.offered_s, observation.waiting, observation.read_s)
    values = (*times, *(rate for rate in rates if rate is not None))
    if not all(isfinite(value) and value >= 0 for value in values) or observation.seconds <= 0:
        yield "rates or times of the window are not numbers of at least 0"
