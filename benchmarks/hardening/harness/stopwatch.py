"""CPU time and sleep of a process; waiting for a processor is neither."""

import time
from pathlib import Path


def scheduled_s() -> float | None:
    """Return the seconds that this thread computed or waited for a processor; None if unknown."""
    try:
        text = Path("/proc/thread-self/schedstat").read_text()
        return sum(map(int, text.split()[:2])) / 1e9
    except (OSError, ValueError):
        return None


def asleep_s(wall_s: float, cpu_s: float, scheduled: float | None) -> float:
    """Return the seconds during which a process neither computed nor waited for a processor.

    On a busy machine, waiting for a processor is not sleep. If the kernel does not report
    `scheduled_s`, sleep is the wall time beyond ten times the CPU time plus 4 seconds.
    """
    if scheduled is None:
        return max(0.0, wall_s - 10 * cpu_s - 4.0)
    return max(0.0, wall_s - max(cpu_s, scheduled))


class Stopwatch:
    """A stopwatch that starts when it is created."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.monotonic(), time.process_time()
        self._scheduled = scheduled_s()

    def since(self) -> tuple[float, float]:
        """Return seconds since the start: CPU time of the process, and sleep of the thread."""
        wall, cpu = time.monotonic() - self._wall, time.process_time() - self._cpu
        now = scheduled_s()
        known = None if now is None or self._scheduled is None else now - self._scheduled
        return cpu, asleep_s(wall, cpu, known)
