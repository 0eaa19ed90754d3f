"""Lines about progress and time left, for long runs whose stderr is a log."""

import sys
import time

from streamplace.execution.progress import is_quiet
from streamplace.util.text import counted

EVERY_S = 60.0
HOUR_S, MINUTE_S = 3600, 60


class TimeLeft:
    """Progress over the units of a study; on a terminal, a progress bar shows it instead.

    Parameters
    ----------
    waiting, total
        The number of units to run, and of all units; the others have results already.
    """

    def __init__(self, waiting: int, total: int) -> None:
        self._waiting, self._total, self._done = waiting, total, 0
        self._start = self._printed = time.monotonic()
        if waiting < total:
            self._print(f"resuming: {total - waiting:,} of {counted(total, 'unit')} are done")

    def advance(self) -> None:
        """Count one unit; print a line if the last one is a minute old."""
        self._done += 1
        now = time.monotonic()
        if now - self._printed < EVERY_S or sys.stderr.isatty():
            return
        self._printed = now
        left = (now - self._start) / self._done * (self._waiting - self._done)
        done = self._total - self._waiting + self._done
        self._print(f"{done:,} of {counted(self._total, 'unit')}, about {duration(left)} left")

    def _print(self, text: str) -> None:
        if not is_quiet():
            sys.stderr.write(f"streamplace: {text}\n")
            sys.stderr.flush()


def duration(seconds: float) -> str:
    """Return a duration as text, in hours and minutes, or in seconds."""
    whole = round(seconds)
    if whole < MINUTE_S:
        return f"{whole} s"
    hours, minutes = divmod(round(whole / MINUTE_S), MINUTE_S)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
