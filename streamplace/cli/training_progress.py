"""Progress of a training run on stderr."""

import time

from streamplace.cli.options import tell

EVERY_S = 10.0  # seconds between lines
FIGURES = ("loss", "reward", "entropy", "gap", "validation")


class TrainingProgress:
    """A line every few seconds, and one after each epoch, with the time that is left.

    Parameters
    ----------
    epochs
        The epochs of the whole run.
    """

    def __init__(self, epochs: int) -> None:
        self._epochs = epochs
        self._started = self._last = time.monotonic()
        self._first: float | None = None

    def __call__(self, record: dict[str, float | int]) -> None:
        """Note the figures of a step; see `training.loop`."""
        now, done = time.monotonic(), float(record["progress"])
        if self._first is None:  # a resumed run has not done its first part in this time
            self._first = done
        if now - self._last < EVERY_S and "validation" not in record:
            return
        self._last = now
        epoch = f"epoch {int(record['epoch']) + 1} of {self._epochs}"
        where = [f"{now - self._started:6.0f} s", epoch, f"step {record['step']}"]
        figures = [f"{name} {record[name]:.4f}" for name in FIGURES if name in record]
        tell("  ".join([*where, *figures, *self._left(now, done)]))

    def _left(self, now: float, done: float) -> list[str]:
        """Return the time left, estimated from the share of the run that this process has done."""
        share = done - (self._first or 0.0)
        if share <= 0 or done >= 1:
            return []
        seconds = (now - self._started) * (1 - done) / share
        return [f"{_duration(seconds)} left"]


def _duration(seconds: float) -> str:
    """Return a duration in words, as ``2 h 05 min``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
