"""Faults of the server's answers, from a certain request on."""

import re
from dataclasses import dataclass
from enum import StrEnum


class Effect(StrEnum):
    """What happens to a request."""

    SLOW = "slow"
    """It has no effect and no answer."""
    ERROR = "error"
    """It has no effect, and the answer is a fault of the server (500)."""
    HIDDEN = "hidden"
    """It has no effect, and a proxy answers that it has no such path (404)."""
    REFUSED = "refused"
    """It has no effect, and the connection is closed."""
    LOST = "lost"
    """It has its effect, but no answer."""
    LATE = "late"
    """A proxy answers with a fault (504), and its effect comes a few requests later."""
    GARBLED = "garbled"
    """It has its effect, but the answer is not JSON."""


@dataclass
class Fault:
    """A fault of some requests.

    Parameters
    ----------
    pattern
        Regular expression for method and path.
    after
        Number of matching requests before the first one that is affected.
    times
        Number of requests that are affected.
    """

    effect: Effect
    pattern: str = ".*"
    after: int = 0
    times: int = 10**9

    def hits(self, request: str) -> bool:
        """Count a request, and return whether it is affected."""
        if not re.fullmatch(self.pattern, request):
            return False
        if self.after > 0:
            self.after -= 1
            return False
        self.times -= 1
        return self.times >= 0
