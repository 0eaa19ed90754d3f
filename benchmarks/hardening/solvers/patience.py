"""How long to wait for what a process says: by what it computes, not by the clock on the wall.

A machine with much to do lets a process wait for a processor, which is not its fault.
"""

import os
import select
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LOOK_S = 0.5
AWAKE = 0.01  # of the time that passes: who computes less is asleep
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Limits:
    """What one problem, or the start of a process, may take.

    Parameters
    ----------
    cpu_s
        Of all threads together.
    asleep_s
        Wall time in which it does not compute.
    """

    cpu_s: float = 120.0
    asleep_s: float = 60.0


LIMITS = Limits()


def lines(answers: int, pid: int, limits: Limits = LIMITS) -> Iterator[bytes | None]:
    """Yield whole lines of a pipe until there are no more; None where a process hangs.

    Parameters
    ----------
    answers
        The pipe that the process writes into.
    """
    rest, watch = b"", Watch(pid, limits)
    while True:
        if not select.select([answers], [], [], LOOK_S)[0]:
            if watch.hangs():
                yield None
            continue
        some = os.read(answers, 65536)
        if not some:
            return
        *whole, rest = (rest + some).split(b"\n")
        yield from whole
        watch = Watch(pid, limits)


class Watch:
    """Looks at a process that says nothing."""

    def __init__(self, pid: int, limits: Limits) -> None:
        self._pid, self._limits = pid, limits
        self._begin = self._cpu = cpu_s(pid)
        self._awake = time.monotonic()  # when it was seen to compute

    def hangs(self) -> bool:
        """Whether it has computed for too long since it was first looked at, or is asleep."""
        cpu, now = cpu_s(self._pid), time.monotonic()
        if cpu - self._cpu > AWAKE * (now - self._awake):
            self._cpu, self._awake = cpu, now
        too_long = cpu - self._begin > self._limits.cpu_s
        return too_long or now - self._awake > self._limits.asleep_s


def cpu_s(pid: int) -> float:
    """Return the CPU time of all threads of a process; 0 where nobody tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:13])) / TICKS_A_SECOND
