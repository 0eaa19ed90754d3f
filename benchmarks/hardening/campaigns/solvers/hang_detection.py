"""Detection of hanging processes by CPU time and sleep instead of wall time.

On a busy machine, a process may wait long for a processor, which is not a hang.
"""

import os
import select
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CHECK_S = 0.5  # seconds between two checks
AWAKE = 0.01  # a process that computes for a smaller fraction of the wall time is asleep
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Limits:
    """Limits for one problem, or for the start of a process.

    Parameters
    ----------
    cpu_s
        The CPU time of all threads together, in seconds.
    asleep_s
        The wall time without computing, in seconds.
    """

    cpu_s: float = 120.0
    asleep_s: float = 60.0


LIMITS = Limits()


def lines_until_hang(answers: int, pid: int, limits: Limits = LIMITS) -> Iterator[bytes | None]:
    """Yield the lines of a pipe until its end, and None whenever the process hangs.

    Parameters
    ----------
    answers
        The pipe that the process writes to.
    """
    rest, detector = b"", HangDetector(pid, limits)
    while True:
        if not select.select([answers], [], [], CHECK_S)[0]:
            if detector.hangs():
                yield None
            continue
        data = os.read(answers, 65536)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        yield from lines
        detector = HangDetector(pid, limits)


class HangDetector:
    """A detector of a hanging process, whose limits count from the detector's creation."""

    def __init__(self, pid: int, limits: Limits) -> None:
        self._pid, self._limits = pid, limits
        self._begin = self._cpu = cpu_s(pid)
        self._awake = time.monotonic()  # the last time at which it was computing

    def hangs(self) -> bool:
        """Return whether the process has computed or slept for too long."""
        cpu, now = cpu_s(self._pid), time.monotonic()
        if cpu - self._cpu > AWAKE * (now - self._awake):
            self._cpu, self._awake = cpu, now
        too_long = cpu - self._begin > self._limits.cpu_s
        return too_long or now - self._awake > self._limits.asleep_s


def cpu_s(pid: int) -> float:
    """Return the CPU time of all threads of a process; 0 if it is unknown."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:13])) / TICKS_PER_SECOND
