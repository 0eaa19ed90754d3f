"""A Flink cluster whose TaskManagers have quotas of CPU time."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from local_flink import LocalFlink, TaskManager

from benchmarks.testbed import groups
from benchmarks.testbed.groups import Group
from benchmarks.testbed.ownership import own_prefix

CONFIG = """\
taskmanager.network.memory.buffer-debloat.enabled: true
taskmanager.memory.segment-size: 4kb
taskmanager.network.memory.buffers-per-channel: 1
taskmanager.network.memory.floating-buffers-per-gate: 2
"""
"""Small buffers, so that a job reaches its steady state within seconds."""
FETCH_S = 3.0  # until the JobManager has fetched new metrics


class LimitedFlink(LocalFlink):
    """A Flink cluster whose TaskManagers may be limited to a share of a core each.

    Parameters
    ----------
    share
        Share of a core for each TaskManager, while `limit` is on.
    config
        More lines of the configuration.
    """

    def __init__(
        self,
        home: Path,
        folder: Path,
        task_managers: Sequence[TaskManager],
        share: float,
        config: str = "",
    ) -> None:
        super().__init__(home, folder, task_managers, config=CONFIG + config)
        self.share = share
        self._groups: list[Group] = []

    def __enter__(self) -> "LimitedFlink":
        prefix = own_prefix()
        self._groups = [Group(f"{prefix}{each.name}", None) for each in self.task_managers]
        super().__enter__()
        return self

    def limit(self, on: bool) -> None:
        """Limit the TaskManagers' CPU time, or let them use all of it."""
        for group in self._groups:
            group.limit(self.share if on else None)

    def records(self, job: str) -> tuple[float, dict[str, tuple[int, int]]]:
        """Return a time in seconds, and vertex -> records that it had read and written then."""
        vertices = self.get(f"/jobs/{job}")["vertices"]
        for vertex in vertices:
            self.get(f"/jobs/{job}/vertices/{vertex['id']}")  # makes the server fetch new metrics
        at = time.monotonic()
        time.sleep(FETCH_S)
        counts: dict[str, tuple[int, int]] = {}
        for vertex in self.get(f"/jobs/{job}")["vertices"]:
            found: dict[str, Any] = vertex["metrics"]
            counts[vertex["name"]] = (found["read-records"], found["write-records"])
        return at, counts

    def _start_task_manager(self, i: int) -> None:
        super()._start_task_manager(i)
        self._groups[i].add(self.pids[self.task_managers[i].name])

    def _stop(self) -> None:
        self.limit(False)
        super()._stop()
        for group in self._groups:
            for folder in group.folders:
                groups.remove(folder)
        self._groups = []
