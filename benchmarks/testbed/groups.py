"""Shares of a core by cgroup v1: a cpu group limits a device, and a cpuacct group measures it."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from benchmarks.testbed.facilities import TestbedError, hierarchies
from benchmarks.testbed.ownership import prefix_of

PERIOD_US, MAX_PERIOD_US = 20_000, 1_000_000
MIN_QUOTA_US = 1000
PRIORITY, ORDINARY = 65_536, 1024  # weights: devices come first, so that they get their shares
TIMEOUT_S = 10.0  # for processes to end after they are killed


class Group:
    """Processes that share one quota of a core."""

    def __init__(self, name: str, share: float | None) -> None:
        self.folders = [root / name for root in roots()]
        for folder in self.folders:
            folder.mkdir()
        self._cpu = hierarchies()["cpu"] / name
        self._usage = hierarchies()["cpuacct"] / name / "cpuacct.usage"
        self.limit(share)

    def limit(self, share: float | None) -> None:
        """Set the share of a core; None: no limit, at ordinary priority."""
        (self._cpu / "cpu.shares").write_text(str(PRIORITY if share is not None else ORDINARY))
        (self._cpu / "cpu.cfs_quota_us").write_text("-1")  # without a quota, any period may be set
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
    """Return a period and its quota in µs; the kernel grants at least 1,000 µs per period.

    Raises
    ------
    TestbedError
        If the share is smaller than the kernel can grant.
    """
    period = max(PERIOD_US, round(MIN_QUOTA_US / share))
    if period > MAX_PERIOD_US:
        minimum = MIN_QUOTA_US / MAX_PERIOD_US
        raise TestbedError(f"a device would get {share:.2g} of a core; the minimum is {minimum:g}")
    return period, round(share * period)


def roots() -> list[Path]:
    """Return the mount points of the controllers without duplicates; two may share one."""
    return list(dict.fromkeys(hierarchies().values()))


def existing() -> dict[str, list[Path]]:
    """Return the groups of all runs by prefix."""
    by_prefix: dict[str, list[Path]] = {}
    for root in roots():
        for folder in root.glob("streamplace-*"):
            if prefix := prefix_of(folder.name):
                by_prefix.setdefault(prefix, []).append(folder)
    return by_prefix


def remove(folder: Path) -> None:
    """Kill the processes in a group and remove the group."""
    until = time.monotonic() + TIMEOUT_S
    while folder.exists():
        with suppress(FileNotFoundError):
            for pid in (folder / "cgroup.procs").read_text().split():
                kill(int(pid))
        with suppress(OSError):
            folder.rmdir()
            return
        if time.monotonic() > until:
            raise TestbedError(f"{folder}: cannot be removed, since a process in it does not end")
        time.sleep(0.01)


def kill(pid: int) -> None:
    """Kill a process, if it still exists."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
