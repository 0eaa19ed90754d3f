"""Time limits for reading one file."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from types import MappingProxyType


@dataclass(frozen=True)
class Limits:
    """Time limits for reading one file, in seconds.

    Parameters
    ----------
    hang_s
        CPU time, or time asleep, beyond which a reader counts as hanging even if it finishes.
    stop_s
        CPU time after which the reader is stopped.
    blocked_s
        Wall time after which the reader is stopped.
    silent_s
        Wall time after which the process is killed, since it hangs in code that handles no signal.
    """

    hang_s: float = 1.0
    stop_s: float = 3.0
    blocked_s: float = 20.0
    silent_s: float = 90.0


STRICT, GENEROUS = "strict", "generous"
LIMITS: Mapping[str, Limits] = MappingProxyType(
    {
        STRICT: Limits(),
        GENEROUS: Limits(hang_s=inf, stop_s=120.0, blocked_s=600.0, silent_s=900.0),
    }
)
"""Name -> limits: strict ones for the campaign, generous ones for tests, which measure no time."""
