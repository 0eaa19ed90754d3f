"""A device's share of a core: a group of cgroup v1's cpu controller, and one that counts."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from benchmarks.testbed.facilities import TestbedError, hierarchies
from benchmarks.testbed.ownership import prefix_of

PERIOD_US, LONGEST_PERIOD_US = 20_000, 1_000_000
LEAST_QUOTA_US = 1000
PRIORITY, ORDINARY = 65_536, 1024  # a device is to get its share when it wants it
PATIENCE_S = 10.0


class Group:
    """Processes that together get a share of one core."""

    def __init__(self, name: str, share: float | None) -> None:
        self.folders = [root / name for root in roots()]
        for folder in self.folders:
            folder.mkdir()
        self._cpu = hierarchies()["cpu"] / name
        self._usage = hierarchies()["cpuacct"] / name / "cpuacct.usage"
        self.limit(share)

    def limit(self, share: float | None) -> None:
        """Set the share of a core; None: all that others leave."""
        (self._cpu / "cpu.shares").write_text(str(PRIORITY if share is not None else ORDINARY))
        (self._cpu / "cpu.cfs_quota_us").write_text("-1")  # periods of any length, for now
        period, quota = (PERIOD_US, -1) if share is None else quota_of(share)
        (self._cpu / "cpu.cfs_period_us").write_text(str(period))
        (self._cpu / "cpu.cfs_quota_us").write_text(str(quota))

    def add(self, pid: int) -> None:
        """Put a process into the group."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def used_s(self) -> float:
        """Return the CPU seconds used so far."""
        return int(self._usage.read_text()) / 1e9


def quota_of(share: float) -> tuple[int, int]:
    """Return a period and the quota in it, in µs: the kernel grants no less than 1,000 a period.

    Raises
    ------
    TestbedError
        If the share is less than can be granted.
    """
    period = max(PERIOD_US, round(LEAST_QUOTA_US / share))
    if period > LONGEST_PERIOD_US:
        least = LEAST_QUOTA_US / LONGEST_PERIOD_US
        raise TestbedError(f"a device would get {share:.2g} of a core; {least:g} is the least")
    return period, round(share * period)


def roots() -> list[Path]:
    """Return where the controllers are mounted, each place once: two may share one."""
    return list(dict.fromkeys(hierarchies().values()))


def existing() -> dict[str, list[Path]]:
    """Return the groups of all runs by prefix."""
    found: dict[str, list[Path]] = {}
    for root in roots():
        for folder in root.glob("streamplace-*"):
            if prefix := prefix_of(folder.name):
                found.setdefault(prefix, []).append(folder)
    return found


def remove(folder: Path) -> None:
    """Kill what is in a group and remove it."""
    until = time.monotonic() + PATIENCE_S
    while folder.exists():
        with suppress(FileNotFoundError):
            for pid in (folder / "cgroup.procs").read_text().split():
                kill(int(pid))
        with suppress(OSError):
            folder.rmdir()
            return
        if time.monotonic() > until:
            raise TestbedError(f"{folder}: cannot be removed")
        time.sleep(0.01)


def kill(pid: int) -> None:
    """End a process, if it is still there."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
