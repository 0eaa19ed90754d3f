"""The clock of the loop, which tests replace."""

import time
from typing import Protocol


class Clock(Protocol):
    """A source of time."""

    def __call__(self) -> float:
        """Return the time in seconds since 1970."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The clock of this machine, without the steps in which it is set later."""

    def __init__(self) -> None:
        self._ahead_s = time.time() - time.monotonic()

    def __call__(self) -> float:
        """Return the time in seconds since 1970."""
        return time.monotonic() + self._ahead_s

    def sleep(self, seconds: float) -> None:
        """Wait; a negative time is no time."""
        time.sleep(max(seconds, 0.0))
