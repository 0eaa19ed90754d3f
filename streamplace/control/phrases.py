"""Shares, durations and times as words in the reasons of decisions."""

from datetime import UTC, datetime

MINUTE_S, HOUR_S = 60.0, 3600.0


def percent(share: float) -> str:
    """Return a share in percent, without decimals."""
    return f"{share:.0%}"


def lasting(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours, to three significant digits."""
    if seconds < 2 * MINUTE_S:
        return f"{seconds:.3g} s"
    if seconds < 2 * HOUR_S:
        return f"{seconds / MINUTE_S:.3g} min"
    return f"{seconds / HOUR_S:.3g} h"


def clock(at_s: float) -> str:
    """Return a time in UTC, to the second."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
