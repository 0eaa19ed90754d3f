"""The load of a job in a window and in its parts: overloaded, behind, underused, or none."""

from dataclasses import replace
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

from streamplace.control.decisions import State, percent, rate
from streamplace.control.observation import ALWAYS, Observation
from streamplace.control.settings import ControllerSettings

# Share of time under backpressure, from which on rates are held back; less is noise. A guess.
BACKPRESSURED = 0.05
# With a hundredth, noise in what waits was an overload.
GROWING = 0.05  # share of the offered rate that waits on top; less is noise
# Likewise, from which on one window is enough: twice as much, since nothing confirms it. A guess.
SURE = 0.1
# A guess; two are exceeded by chance in one of 44 parts of windows.
NOISE = 3.0  # standard deviations of a count of arrivals, up to which what waits is noise
# Of a window: short enough to be early, long enough for counts beyond noise; a guess, not tuned.
PARTS = 5
# Four were tried before each rise had to be beyond noise.
RISES = 3  # in a row; a step is over after two
LEAST = 0.5  # of the mean rise; below it, the smallest is noise beside a step


class Load(NamedTuple):
    """The load in a window.

    Attributes
    ----------
    state
        ``overloaded``, ``lagging``, ``underused`` or ``steady``.
    reason
        Why, in words.
    is_sure
        Whether one window is enough; see `is_sure`.
    """

    state: State
    reason: str
    is_sure: bool = False


def load_of(observation: Observation, served_s: float | None, settings: ControllerSettings) -> Load:
    """Return the load of a window that suffices for a decision.

    Parameters
    ----------
    served_s
        Tuples per second that the job carries; None if unknown.
    """
    name, busiest = observation.busiest_operator, observation.busiest
    busy = f"the busiest instance, of {name}, is busy {percent(busiest)} of the time"
    skew = _skew(observation)
    # An overload of a full instance comes first, since more instances mend it, whatever else holds.
    if busiest > settings.high:
        sure = _sure(observation)
        enough = f", and {sure}, for which one window is enough" if sure else ""
        above = f"{busy}, above {percent(settings.high)}{skew}{enough}"
        return Load(State.OVERLOADED, above, is_sure=bool(sure))
    if held := _under_backpressure(observation):
        return Load(State.OVERLOADED, f"{busy}{skew}, but {held}")
    offered_s, lag = observation.offered_s or 0.0, _lag(observation)
    if not lag and served_s is not None and offered_s - served_s > GROWING * offered_s:
        if busiest > settings.target:  # otherwise nothing is too slow for what it gets
            what = f"{rate(served_s)} of {rate(offered_s)} are carried, so more and more wait"
            return Load(State.OVERLOADED, f"{busy}{skew}, but {what}")
        lag = _with_growing_buffers(observation)
    if lag:
        return Load(State.LAGGING, f"{lag}; {busy}")
    if busiest < settings.low:
        return Load(State.UNDERUSED, f"{busy}, below {percent(settings.low)}")
    return Load(State.STEADY, f"{busy}, within {percent(settings.low)} to {percent(settings.high)}")


def is_sure(observation: Observation, high: float) -> bool:
    """Return whether one window, or a part of one, is enough to call a job overloaded.

    It is where tuples pile up, and where they will because the rate rises on.

    Parameters
    ----------
    high
        Utilisation above which a job is overloaded.
    """
    return observation.busiest > high and bool(_sure(observation))


def _sure(observation: Observation) -> str:
    """Return why one window of an overload is enough, in words; empty if it is not."""
    if more_s := surge(observation):
        return f"{rate(more_s)} more wait"
    return "the rate rises on" if observation.rise_s2 else ""


def surge(observation: Observation) -> float:
    """Return the tuples per second that pile up since an instance is full; 0 if none do for sure.

    They pile up at the sources or in buffers. One window of any length is enough for this: it takes
    an instance that is busy all the time, and more tuples than noise or a short stop explains.
    """
    offered_s, read_s = observation.offered_s, observation.read_s
    if offered_s is None or read_s is None or observation.busiest <= ALWAYS:
        return 0.0
    growth_s = offered_s - read_s * observation.processed
    return growth_s if growth_s > noise_s(offered_s, SURE, observation.seconds) else 0.0


def noise_s(offered_s: float, share: float, seconds: float) -> float:
    """Return the tuples per second, at least a share of the rate, up to which growth is noise."""
    by_chance_s = NOISE * sqrt(offered_s / seconds)  # arrivals vary as by Poisson's law
    return max(share * offered_s, by_chance_s)


def _under_backpressure(observation: Observation) -> str:
    """Return which operator is under backpressure most, in words; empty if none is."""
    readings = observation.readings
    held = min(readings, key=lambda each: (-readings[each].backpressured, each))
    share = readings[held].backpressured
    if share <= BACKPRESSURED:
        return ""
    return f"{held} is under backpressure {percent(share)} of the time"


def _skew(observation: Observation) -> str:
    """Return the share of the busiest instance if it is uneven, in words that follow others."""
    shares = observation.readings[observation.busiest_operator].shares
    if not shares:
        return ""
    return f", with {percent(max(shares))} of the tuples of its {len(shares)} instances"


def _lag(observation: Observation) -> str:
    """Return at which sources more and more tuples wait, in words; empty if at none.

    A source that operators after it hold back is under backpressure, so these sources are not.
    """
    parts, counts = [], []
    for name, growth_s in sorted(observation.growth_s.items()):
        reading = observation.readings[name]
        offered_s = reading.tuples_s + growth_s
        if growth_s > noise_s(offered_s, GROWING, observation.seconds):
            counts.append(f"{name} (now {reading.instances})")
            parts.append(
                f"{name} falls behind: {rate(offered_s)} arrive and {rate(reading.tuples_s)} are "
                f"read, so {rate(growth_s)} more wait"
            )
    if not parts:
        return ""
    return (
        f"{'; '.join(parts)}; no other operator holds a source back, so more instances of others "
        f"do not help, and more of {' or '.join(counts)} only if each has partitions of its own"
    )


def _with_growing_buffers(observation: Observation) -> str:
    """Return at which operator more and more tuples wait in buffers, in words; empty if at none."""
    slow = observation.slowest
    if not slow or observation.processed == 1.0:
        return ""
    reading = observation.readings[slow]
    return (
        f"{slow} falls behind: {rate(reading.received_s)} are sent to it and "
        f"{rate(reading.tuples_s)} are processed, so the others wait in buffers, although it is "
        f"not busy; more instances of {slow} help only if what it waits for serves each of them"
    )


class Parts:
    """The offered rates in the last parts of windows.

    Parameters
    ----------
    high
        Utilisation above which a job is overloaded; see `ControllerSettings`.
    """

    def __init__(self, high: float) -> None:
        self._high = high
        self._rates: list[tuple[float, float]] = []

    def add(self, part: Observation) -> bool:
        """Add a part, and return whether it is enough for a decision, so that its window ends.

        It is if tuples pile up in it, or will since the rate rises on; see `is_sure`. Where
        backpressure hides the rate, more is read before the buffers are full than later, so that
        a part of a window knows more of it than the windows that follow.
        """
        if part.missing or part.offered_s is None:
            self._rates = []
            return False
        known = [] if part.hidden else [*self._rates, (part.at_s, part.offered_s)]
        self._rates = known[-RISES - 1 :]
        return is_sure(replace(part, rise_s2=self.rise_s2), self._high)

    @property
    def rise_s2(self) -> float:
        """The rise of the rate over the last parts, in tuples/s per second; 0 if one is noise."""
        if len(self._rates) <= RISES:
            return 0.0
        rows = list(pairwise(self._rates))
        if any(b - a <= noise_s(b, GROWING, until - at) for (at, a), (until, b) in rows):
            return 0.0
        (first_s, first), *_, (last_s, last) = self._rates
        mean = (last - first) / RISES
        is_trend = min(b - a for (_, a), (_, b) in rows) >= LEAST * mean
        return (last - first) / (last_s - first_s) if is_trend else 0.0
