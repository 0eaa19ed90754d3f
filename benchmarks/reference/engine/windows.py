"""Windowed operators."""

from collections import deque

from benchmarks.reference.engine.sets import EventSet, merged
from streamplace.sim.engine.scene import Window


def mean_output(window: Window, rate: float) -> float:
    """Return the tuples/s that a windowed operator emits at this input rate (tuples/s)."""
    if window.count is None:
        return rate * window.ratio * window.size_s / window.advance_s
    return window.count / window.advance_s if rate > 0 else 0.0


class OpenWindow:
    """The slots of a windowed operator, and its output that is not sent yet."""

    def __init__(self, window: Window, tick_s: float) -> None:
        self.window = window
        self.advance = window.advance_s / tick_s
        self.closed = 1
        self.due = round(self.advance)
        self.slots: deque[list[EventSet]] = deque([[]], maxlen=window.slots)
        self.out: EventSet | None = None

    def close(self) -> None:
        """Close the window: its result becomes the output to send."""
        everything = merged([one for slot in self.slots for one in slot])
        newest = merged(self.slots[-1])
        if everything.size > 0:
            count = self.window.count
            size = self.window.ratio * everything.size if count is None else count
            self.out = EventSet(size, everything.birth, newest.totals) if size > 0 else None
        self.slots.append([])
        self.closed += 1
        self.due = round(self.closed * self.advance)
