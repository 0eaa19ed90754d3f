"""CPU work at the speed of a device: a fixed share of a core, evenly over time."""

import time
from collections.abc import Callable

from benchmarks.testbed.worker.burning import Burner, clock

SLICE_NS = 300_000


def sleep(seconds: float) -> int:
    """Rest without doing anything; return 0, the CPU nanoseconds of other things than work."""
    time.sleep(seconds)
    return 0


class Pacer:
    """Works like a core of a certain speed.

    A quota alone lets an operator use its CPU time at once at the beginning of a period, so that a
    short operator would take no longer on a slow device. The pacer rests after every slice of
    work until the slice would have ended on a core of this speed. Where it is late, since
    other processes had the core, it works without rests until it has caught up.

    Parameters
    ----------
    speed
        CPU seconds per second.
    rest
        Waits for so many seconds, and returns the CPU nanoseconds that it used for something else.
    """

    def __init__(self, speed: float, rest: Callable[[float], int] = sleep) -> None:
        self.speed = speed
        self._rest = rest
        self._burner = Burner()

    def work(self, cost_ns: float, begin_s: float | None = None) -> None:
        """Use the CPU for `cost_ns`, and take at least `cost_ns` / `speed`.

        Parameters
        ----------
        begin_s
            Time of the monotonic clock at which the work should have begun; None: now.
        """
        begin_s, begin = time.monotonic() if begin_s is None else begin_s, clock()
        spent = 0.0
        while spent < cost_ns:
            target = min(spent + SLICE_NS, cost_ns)
            self._burner.until(begin + int(target))
            spent = target
            ahead_s = spent / self.speed / 1e9 - (time.monotonic() - begin_s)
            if ahead_s > 0:
                begin += self._rest(ahead_s)
