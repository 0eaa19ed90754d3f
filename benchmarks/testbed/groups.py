"""A device's share of a core: a group of cgroup v1's cpu controller, and one that counts."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from benchmarks.testbed.facilities import TestbedError, hierarchies
from benchmarks.testbed.ownership import prefix_of

PERIOD_US = 20_000
PRIORITY, ORDINARY = 65_536, 1024  # a device is to get its share when it wants it
PATIENCE_S = 10.0


class Group:
    """Processes that together get a share of one core."""

    def __init__(self, name: str, share: float | None) -> None:
        self.folders = [root / name for root in hierarchies().values()]
        for folder in self.folders:
            folder.mkdir()
        self._cpu = hierarchies()["cpu"] / name
        self._usage = hierarchies()["cpuacct"] / name / "cpuacct.usage"
        (self._cpu / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        self.limit(share)

    def limit(self, share: float | None) -> None:
        """Set the share of a core; None: all that others leave."""
        (self._cpu / "cpu.shares").write_text(str(PRIORITY if share is not None else ORDINARY))
        quota = -1 if share is None else max(1000, round(share * PERIOD_US))
        (self._cpu / "cpu.cfs_quota_us").write_text(str(quota))

    def add(self, pid: int) -> None:
        """Put a process into the group."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def used_s(self) -> float:
        """Return the CPU seconds used so far."""
        return int(self._usage.read_text()) / 1e9


def existing() -> dict[str, list[Path]]:
    """Return the groups of all runs by prefix."""
    found: dict[str, list[Path]] = {}
    for root in hierarchies().values():
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
