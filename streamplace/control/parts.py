"""Parts of windows, which show an overload early and a rate that rises on."""

from dataclasses import replace
from itertools import pairwise

from streamplace.control.load import GROWING, is_sure, noise_s
from streamplace.control.observation import Observation

PARTS = 5  # of a window
RISES = 3  # in a row; a step is over after two
LEAST = 0.5  # of the mean rise; below it, the smallest is noise beside a step


class Parts:
    """The offered rates in the last parts of windows.

    Parameters
    ----------
    high
        Utilisation above which a job is overloaded; see `Rules`.
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
