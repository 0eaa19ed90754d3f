"""A clock that tests set."""

from dataclasses import dataclass

NOON = 1_795_280_000.0


@dataclass
class ManualClock:
    """Seconds since 1970, which grow only while somebody sleeps."""

    now: float = NOON

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += max(seconds, 0.0)
