"""Shares, durations, times and changes as words in the reasons of decisions."""

from datetime import UTC, datetime

from streamplace.control.plans import Deployment
from streamplace.util.text import counted

MINUTE_S, HOUR_S = 60.0, 3600.0
FEW = 100.0  # tuples/s, below which digits after the point are shown
SHOWN = 5


def percent(share: float) -> str:
    """Return a share in percent, without decimals."""
    return f"{share:.0%}"


def rate(tuples_s: float) -> str:
    """Return a rate with its unit."""
    return f"{tuples_s:,.0f} tuples/s" if tuples_s >= FEW else f"{tuples_s:.3g} tuples/s"


def tuples(count: float) -> str:
    """Return a number of tuples, to a whole one."""
    return counted(round(count), "tuple")


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


def change(before: Deployment, after: Deployment) -> str:
    """Return what a plan changes, such as ``decode from 1 to 3 instances, on 2 devices``."""
    old, new = before.parallelism, after.parallelism
    changed = [name for name in sorted(new) if new[name] != old.get(name, 0)]
    parts = [
        f"{name} from {old.get(name, 0)} to {counted(new[name], 'instance')}"
        for name in changed[:SHOWN]
    ]
    if len(changed) > SHOWN:
        parts.append(f"{len(changed) - SHOWN} more operators")
    devices = counted(len(after.devices), "device")
    return f"{', '.join(parts) or 'the same numbers of instances'}, on {devices}"
