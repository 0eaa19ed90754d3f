"""The load of a job in one window: overloaded, underused, or neither."""

from typing import NamedTuple

from streamplace.control.decisions import State
from streamplace.control.observation import Observation
from streamplace.control.phrases import percent, rate
from streamplace.control.rules import Rules

BACKPRESSURED = 0.05  # share of time under backpressure, from which on rates are held back
GROWING = 0.05  # share of the offered rate that waits on top; less is noise


class Load(NamedTuple):
    """The load in a window.

    Attributes
    ----------
    state
        ``overloaded``, ``underused`` or ``steady``.
    reason
        Why, in words.
    """

    state: State
    reason: str


def load_of(observation: Observation, served_s: float | None, rules: Rules) -> Load:
    """Return the load of a window that suffices for a decision.

    Parameters
    ----------
    served_s
        Tuples per second that the job carries; None if unknown.
    """
    name, busiest = observation.busiest_operator, observation.busiest
    busy = f"the busiest instance, of {name}, is busy {percent(busiest)} of the time"
    if busiest > rules.high:
        return Load(State.OVERLOADED, f"{busy}, above {percent(rules.high)}")
    held = min(
        observation.readings, key=lambda each: (-observation.readings[each].backpressured, each)
    )
    backpressured = observation.readings[held].backpressured
    if backpressured > BACKPRESSURED:
        what = f"{held} is under backpressure {percent(backpressured)} of the time"
        return Load(State.OVERLOADED, f"{busy}, but {what}")
    offered_s = observation.offered_s or 0.0
    if (
        busiest > rules.target  # otherwise the sources hold themselves back
        and served_s is not None
        and offered_s - served_s > GROWING * offered_s
    ):
        what = f"{rate(served_s)} of {rate(offered_s)} are carried, so more and more wait"
        return Load(State.OVERLOADED, f"{busy}, but {what}")
    if busiest < rules.low:
        return Load(State.UNDERUSED, f"{busy}, below {percent(rules.low)}")
    return Load(State.STEADY, f"{busy}, within {percent(rules.low)} to {percent(rules.high)}")
