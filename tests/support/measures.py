"""Measures that compute running times, count placements, and can fail or interrupt the run."""

import signal
from collections.abc import Callable, Sequence

import numpy as np

from streamplace import Problem
from streamplace.learning.training.measuring.measure import NamedMeasure
from streamplace.learning.training.measuring.measurements import Measurements
from streamplace.util.arrays import Floats, Ints


class Modelled:
    """Takes 1 s per operator and the number of its device, and 0.01 s per operator number.

    Parameters
    ----------
    event
        Called before every measurement with its number, from 1.

    Attributes
    ----------
    rows
        The placements measured so far.
    """

    def __init__(self, event: Callable[[int], None] = lambda number: None) -> None:
        self.rows: list[tuple[str, bytes]] = []
        self.calls = 0
        self._event = event

    def __call__(self, problem: Problem, placements: Ints) -> Floats:
        """Return the seconds of placements, (K,)."""
        self.calls += 1
        self._event(self.calls)
        self.rows += [(problem.graph.name, row.tobytes()) for row in placements]
        return modelled_s(placements)


def modelled_s(placements: Ints) -> Floats:
    """Return the seconds of `Modelled`, (K,)."""
    seconds = 1.0 + placements * (1 + 0.01 * np.arange(placements.shape[1]))
    return np.asarray(seconds.sum(axis=1), np.float64)


FOUR = np.arange(81)[:, None] // 3 ** np.arange(4) % 3  # every placement of 4 operators


def rows_of(numbers: Sequence[int], operators: int) -> Ints:
    """Return placements on 3 devices, (K, V), by numbers up to 80.

    The operators after the fourth one are on device 0.
    """
    rows = np.zeros((len(numbers), operators), np.int32)
    rows[:, :4] = FOUR[np.array(numbers, int)]
    return rows


def interrupts_at(*calls: int) -> Modelled:
    """Return a measure during whose calls with these numbers the run gets Ctrl-C."""

    def event(number: int) -> None:
        if number in calls:
            signal.raise_signal(signal.SIGINT)

    return Modelled(event)


def fails_at(call: int) -> Modelled:
    """Return a measure that fails in its call with this number."""

    def event(number: int) -> None:
        if number == call:
            raise RuntimeError("the system is down")

    return Modelled(event)


def measurements_of(problems: Sequence[Problem], measure: Modelled) -> Measurements:
    """Return measurements in memory."""
    return Measurements(NamedMeasure("modelled", measure), problems)
