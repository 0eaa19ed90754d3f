"""Progress of a training run on stderr."""

import time
from collections.abc import Sequence

from streamplace.cli.printing import print_note

INTERVAL_S = 10.0  # seconds between lines
FIGURES = ("loss", "reward", "entropy", "gap", "validation")


class TrainingProgress:
    """A line every 10 s and one after each epoch, with the estimated time left.

    Parameters
    ----------
    stages
        Algorithm and number of epochs of each stage.
    """

    def __init__(self, stages: Sequence[tuple[str, int]]) -> None:
        self._algorithms = [name for name, epochs in stages for _ in range(epochs)]
        self._started = self._last = time.monotonic()
        self._first: tuple[float, float] | None = None

    def __call__(self, record: dict[str, float | int]) -> None:
        """Report the record of a step, as `training.loop` makes it."""
        now, done = time.monotonic(), float(record["progress"])
        if self._first is None:  # do not count the time for reading graphs and for a teacher
            self._first = now, done
        if now - self._last < INTERVAL_S and "validation" not in record:
            return
        self._last = now
        number = int(record["epoch"])
        algorithm = self._algorithms[number]
        epoch = f"{algorithm}, epoch {number + 1} of {len(self._algorithms)}"
        where = [f"{now - self._started:6.0f} s", epoch, f"step {record['step']}"]
        figures = [f"{name} {record[name]:.4f}" for name in FIGURES if name in record]
        print_note("  ".join([*where, *figures, *self._left(now, done)]))

    def _left(self, now: float, done: float) -> list[str]:
        """Return the time left, estimated from the steps since this process's first one."""
        if self._first is None or done >= 1 or done <= self._first[1]:
            return []
        started, before = self._first
        seconds = (now - started) * (1 - done) / (done - before)
        return [f"{_duration(seconds)} left"]


def _duration(seconds: float) -> str:
    """Return a duration as text, such as ``2 h 05 min``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
