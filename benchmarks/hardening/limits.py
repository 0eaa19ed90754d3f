"""What reading may take: memory, and time asleep."""

import subprocess
import sys
import time
from functools import cache
from pathlib import Path

MEGABYTE = 10**6
MOST_BYTES = 300 * MEGABYTE
_TORCH = """
import re, numpy
def peak(): return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
before = peak()
import torch
torch.set_num_threads(1)
torch.optim.Adam([torch.zeros(1)])
print(peak() - before)
"""


@cache
def torch_bytes() -> int:
    """Return what torch itself takes, measured in a process that loads it and its optimiser."""
    told = [sys.executable, "-W", "ignore", "-c", _TORCH]
    return int(subprocess.run(told, capture_output=True, text=True, check=True).stdout)


def most_bytes(torch: bool) -> int:
    """Return how much memory a process may have: 300 MB, and what torch takes where it is used."""
    return MOST_BYTES + (torch_bytes() if torch else 0)


def told_bytes(peak: int, torch: bool) -> str:
    """Return a peak of memory in words, with its limit where that is not 300 MB."""
    limit = f" of {most_bytes(torch) // MEGABYTE} with torch" if torch else ""
    return f"{-(-peak // MEGABYTE)} MB{limit}"


def scheduled_s(pid: int | None = None) -> float | None:
    """Return how long a process has computed, or waited for a processor; None: nobody tells.

    Parameters
    ----------
    pid
        It may have ended, if it was not waited for yet; this thread if None.
    """
    name = "thread-self" if pid is None else str(pid)
    try:
        return sum(map(int, Path(f"/proc/{name}/schedstat").read_text().split()[:2])) / 1e9
    except (OSError, ValueError):
        return None


def asleep_s(wall_s: float, cpu_s: float, scheduled: float | None) -> float:
    """Return how long a process has neither computed nor waited for a processor.

    A machine with much to do lets nobody look asleep. Where the kernel does not tell what
    `scheduled_s` is, what is beyond ten times the CPU time, and 4 seconds, is sleep.
    """
    if scheduled is None:
        return max(0.0, wall_s - 10 * cpu_s - 4.0)
    return max(0.0, wall_s - max(cpu_s, scheduled))


class Times:
    """When something began."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.monotonic(), time.process_time()
        self._scheduled = scheduled_s()

    def since(self) -> tuple[float, float]:
        """Return the CPU time since, and how long this thread was asleep."""
        wall, cpu = time.monotonic() - self._wall, time.process_time() - self._cpu
        now = scheduled_s()
        known = None if now is None or self._scheduled is None else now - self._scheduled
        return cpu, asleep_s(wall, cpu, known)
