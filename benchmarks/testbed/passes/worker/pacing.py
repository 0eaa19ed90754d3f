"""CPU work at the speed of a device: a fixed share of a core, evenly over time."""

import time

from benchmarks.testbed.worker.burning import Burner, clock

SLICE_NS = 300_000


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
    """

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self._burner = Burner()

    def work(self, cost_ns: float) -> None:
        """Use the CPU for `cost_ns`, and take at least `cost_ns` / `speed`."""
        begin_s, begin = time.monotonic(), clock()
        spent = 0.0
        while spent < cost_ns:
            target = min(spent + SLICE_NS, cost_ns)
            self._burner.until(begin + int(target))
            spent = target
            ahead_s = spent / self.speed / 1e9 - (time.monotonic() - begin_s)
            if ahead_s > 0:
                time.sleep(ahead_s)
