"""CPU times of tasks, from thread dumps of the TaskManagers' Java machines.

Flink's busy time of a task includes the time that its thread waits for a core. Thread dumps have
the CPU time of every thread, without waits.
"""

import re
import shlex
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from streamplace.errors import BackendError, UsageError
from streamplace.integrations.flink.plan import Vertex
from streamplace.integrations.profiling.estimates import Estimate, slope
from streamplace.util.arrays import Floats

PLACE = "{}"  # of the TaskManager's id in the command
EVERY_S = 10.0  # between dumps
MAX_DUMP = 1 << 26  # bytes
FEWEST = 2  # dumps from which a CPU time can be measured
THREAD = re.compile(
    r'^"(.+)" #\d+ .*\bcpu=(\d+(?:\.\d+)?)ms elapsed=(\d+(?:\.\d+)?)s ', re.MULTILINE
)
WORKERS = ("", "Legacy Source Thread - ", "Source Data Fetcher for ")
"""What the names of threads that process a task's tuples begin with, before the task's name."""


class Spent(NamedTuple):
    """CPU seconds of a thread, and seconds since it started."""

    cpu_s: float
    elapsed_s: float


Dump = Mapping[str, Spent]
"""Thread -> its times. Threads that share a name are left out."""


def read_dump(text: str) -> Dump:
    """Return the times of all threads in a dump by ``jcmd PID Thread.print`` or ``jstack PID``.

    Raises
    ------
    BackendError
        If the text has no thread with a CPU time.
    """
    found: dict[str, Spent] = {}
    twice: set[str] = set()
    for name, cpu_ms, elapsed_s in THREAD.findall(text):
        if name in found:
            twice.add(name)
        found[name] = Spent(float(cpu_ms) / 1e3, float(elapsed_s))
    if not found:
        begin = " ".join(text.split())[:60]
        raise BackendError(
            f"no thread with a CPU time in {begin!r}; `jcmd PID Thread.print` of Java 11 or later "
            "prints them"
        )
    return {name: spent for name, spent in found.items() if name not in twice}


@dataclass
class ThreadDumps:
    """Thread dumps of TaskManagers, by a command.

    Parameters
    ----------
    command
        Command without a shell that prints a dump; `PLACE` stands for the TaskManager's id.
    timeout_s
        Seconds that it may take.

    Raises
    ------
    UsageError
        If the command is empty or has an open quotation mark.
    """

    command: str
    timeout_s: float

    def __post_init__(self) -> None:
        try:
            self._words = shlex.split(self.command)
        except ValueError as error:
            raise UsageError(f"{self.command!r} is not a command: {error}") from None
        if not self._words:
            raise UsageError("the command that prints a thread dump is empty")
        self._last_s = -EVERY_S

    def is_due(self) -> bool:
        """Return whether the last dumps are old enough for new ones."""
        return time.monotonic() - self._last_s >= EVERY_S

    def take(self, hosts: Iterable[str]) -> dict[str, Dump]:
        """Return TaskManager -> its dump, now.

        Raises
        ------
        BackendError
            If the command fails, takes too long, or does not print CPU times.
        """
        self._last_s = time.monotonic()
        return {host: self._dump(host) for host in sorted(set(hosts))}

    def _dump(self, host: str) -> Dump:
        words = [word.replace(PLACE, host) for word in self._words]
        shown = shlex.join(words)
        try:
            done = subprocess.run(
                words,
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.timeout_s,
            )
        except OSError as error:
            raise BackendError(f"cannot run {shown}: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise BackendError(f"{shown}: no end within {self.timeout_s:g} s") from None
        if done.returncode:
            message = " ".join(done.stderr.decode(errors="replace").split())[-200:]
            raise BackendError(f"{shown} failed with {done.returncode}: {message}")
        try:
            return read_dump(done.stdout[:MAX_DUMP].decode(errors="replace"))
        except BackendError as error:
            raise BackendError(f"{shown}: {error}") from None


def cpu_times(
    vertex: Vertex, title: str, hosts: Sequence[str], dumps: Sequence[Mapping[str, Dump]]
) -> Estimate:
    """Return the CPU seconds per second of all subtasks of a vertex.

    Parameters
    ----------
    title
        Flink's name of the vertex, which the names of its threads begin with.
    hosts
        TaskManager of each subtask.
    dumps
        TaskManager -> its dump, one after another. Dumps before the latest start of a subtask do
        not count.
    """
    if len(dumps) < FEWEST:
        return Estimate.missing("there are fewer than two thread dumps; increase --seconds")
    rows = []
    for i, host in enumerate(hosts):
        task = f"{title} ({i + 1}/{vertex.parallelism})#"
        threads = _threads(task, dumps[-1].get(host, {}))
        if not threads:
            return Estimate.missing(
                f"the thread dump of {host} has no thread '{task}…', or several of that name"
            )
        rows += [_series(thread, host, dumps) for thread in threads]
    kept = min(len(row) for row in rows)
    if kept < FEWEST:
        return Estimate.missing("a subtask was started again while it was measured")
    grown = np.diff(np.array([row[-kept:] for row in rows]), axis=1)  # (threads, n, 2)
    cpu_s, elapsed_s = grown[..., 0], grown[..., 1]
    if not np.all(elapsed_s > 0):
        return Estimate.missing("the clocks of the thread dumps do not go on")
    dt: Floats = elapsed_s.mean(axis=0)
    return slope((cpu_s / elapsed_s).sum(axis=0) * dt, dt)


def _threads(task: str, dump: Dump) -> list[str]:
    """Return the names of the threads of a task; [] if it has none itself."""
    found = []
    for start in WORKERS:
        pattern = re.compile(re.escape(start + task) + r"\d+")
        names = [name for name in dump if pattern.fullmatch(name)]
        if len(names) > 1 or (not start and not names):
            return []
        found += names
    return found


def _series(thread: str, host: str, dumps: Sequence[Mapping[str, Dump]]) -> list[Spent]:
    """Return the times of a thread in the latest dumps that all have it."""
    found: list[Spent] = []
    for dump in reversed(dumps):
        spent = dump.get(host, {}).get(thread)
        if spent is None or (found and spent.elapsed_s > found[-1].elapsed_s):
            break
        found.append(spent)
    return found[::-1]
