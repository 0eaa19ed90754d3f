"""CPU times of tasks, from thread dumps.

Flink's busy time of a task includes the time that its thread waits for a core. Thread dumps have
the CPU time of every thread, without waits.
"""

import math
import re
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from streamplace.errors import BackendError, UsageError
from streamplace.execution.commands import outputs_of
from streamplace.formats.profiling.estimates import Estimate, slope
from streamplace.util.arrays import Floats

PLACE = "{}"  # of the TaskManager's id in the command
EVERY_S = 10.0  # between dumps
FEWEST = 2  # dumps from which a CPU time can be measured
MAX_DUMP = 1 << 26  # bytes
SAFE_ID = re.compile(r"[\w.:@][\w.:@-]*")  # no option, no path, nothing that a shell acts upon
NUMBER = r"(\d{1,12}(?:\.\d{1,9})?)"
THREAD = re.compile(
    rf'^"(.+)" #(\d{{1,18}}) [^"\n]*\bcpu={NUMBER}ms elapsed={NUMBER}s ', re.MULTILINE
)
HELPERS = ("Legacy Source Thread - ", "Source Data Fetcher for ")
"""What the names of a source's other threads begin with, before the name of its task's thread."""


class Spent(NamedTuple):
    """CPU seconds of a thread, and seconds since it started."""

    cpu_s: float
    elapsed_s: float


Dump = Mapping[str, Mapping[int, Spent]]
"""Name of threads -> number of each of them -> its times."""


def read_dump(text: str) -> Dump:
    """Return the times of all threads in a dump by ``jcmd PID Thread.print`` or ``jstack PID``.

    Raises
    ------
    BackendError
        If the text has no thread with a CPU time.
    """
    found: dict[str, dict[int, Spent]] = {}
    for name, number, cpu_ms, elapsed_s in THREAD.findall(text):
        found.setdefault(name, {})[int(number)] = Spent(float(cpu_ms) / 1e3, float(elapsed_s))
    if not found:
        begin = " ".join(text[:1000].split())[:60]
        raise BackendError(
            f"no thread with a CPU time in {begin!r}; `jcmd PID Thread.print` of Java 11 or later "
            "prints them"
        )
    return found


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

    def __init__(self, command: str, timeout_s: float) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"{command!r} is not a command: {error}") from None
        if not self._words:
            raise UsageError("the command that prints a thread dump is empty")
        self.timeout_s = timeout_s
        self._last_s = -math.inf
        self._failed = False

    def add(
        self, taken: list[dict[str, Dump]], hosts: Iterable[str], *, at_end: bool = False
    ) -> None:
        """Append new dumps to those of before if they are due.

        The first failure in a row is ignored: another one follows, or a reading that says that the
        job has ended. At the end, dumps are due after half the time, or if they are too few.

        Raises
        ------
        BackendError
            If the first dumps fail, or two in a row, or the last ones so that they are too few.
        """
        few = at_end and len(taken) < FEWEST
        age_s = time.monotonic() - self._last_s
        if age_s < (EVERY_S / 2 if at_end else EVERY_S) and not few:
            return
        try:
            taken.append(self.take(hosts))
        except BackendError:
            if self._failed or few or not taken:
                raise
            self._failed = True
        else:
            self._failed = False

    def take(self, hosts: Iterable[str]) -> dict[str, Dump]:
        """Return TaskManager -> its dump, now.

        Raises
        ------
        BackendError
            If the command fails, takes too long, or does not print CPU times.
        """
        self._last_s = time.monotonic()
        commands = {host: self._command(host) for host in sorted(set(hosts))}
        found = {}
        for host, printed in outputs_of(commands, self.timeout_s, MAX_DUMP).items():
            try:
                found[host] = read_dump(printed.decode(errors="replace"))
            except BackendError as error:
                raise BackendError(f"{shlex.join(commands[host])}: {error}") from None
        return found

    def _command(self, host: str) -> list[str]:
        """Return the words of the command for a TaskManager, the id of which the server states."""
        if any(PLACE in word for word in self._words) and not SAFE_ID.fullmatch(host):
            raise BackendError(
                f"the id {host!r:.80} of a TaskManager has characters other than letters, digits "
                "and .:@_-, or begins with -; it is not put into the command, since a shell might "
                "act upon it"
            )
        return [word.replace(PLACE, host) for word in self._words]


def cpu_times(title: str, hosts: Sequence[str], dumps: Sequence[Mapping[str, Dump]]) -> Estimate:
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
    if not hosts:
        return Estimate.missing("it did not run when the measurement began")
    if len(dumps) < FEWEST:
        return Estimate.missing("there are fewer than two thread dumps; increase --seconds")
    rows = []
    for i, host in enumerate(hosts):
        thread = _thread(f"{title} ({i + 1}/{len(hosts)})#", host, dumps[-1])
        if isinstance(thread, str):
            return Estimate.missing(thread)
        rows.append(_series(*thread, host, dumps))
    return _sum(rows)


def _sum(rows: Sequence[Sequence[Spent]]) -> Estimate:
    """Return the CPU seconds per second of all subtasks, from the times of each."""
    kept = min(len(row) for row in rows)
    if kept < FEWEST:
        return Estimate.missing("a subtask was started again while it was measured")
    grown = np.diff(np.array([row[-kept:] for row in rows]), axis=1)  # (subtasks, n, 2)
    cpu_s, elapsed_s = grown[..., 0], grown[..., 1]
    if not np.all(elapsed_s > 0):
        return Estimate.missing("the clocks of the thread dumps do not go on")
    dt: Floats = elapsed_s.mean(axis=0)
    return slope((cpu_s / elapsed_s).sum(axis=0) * dt, dt)


def _thread(task: str, host: str, dump: Mapping[str, Dump]) -> tuple[str, int] | str:
    """Return name and number of the thread that runs a task, or why it is not known.

    Java prints ? for characters that its locale lacks, as in many containers.
    """
    if host not in dump:
        return f"'{task}…' did not run when the measurement began"
    exact = re.escape(task)
    printed = re.sub(r"[^\x00-\x7f]+", lambda run: f"[{run[0]}?\ufffd]+", exact)
    for text in (exact, printed):
        pattern = re.compile(text + r"\d+")
        found = [
            (name, n) for name in dump[host] if pattern.fullmatch(name) for n in dump[host][name]
        ]
        if len(found) == 1:
            return found[0]
        if found:
            return (
                f"the last thread dump of {host} has {len(found)} threads '{task}…'; names of "
                "operators have to differ, also from those of other jobs on it"
            )
    return f"the last thread dump of {host} has no thread '{task}…'; it has moved or ended"


def _series(name: str, number: int, host: str, dumps: Sequence[Mapping[str, Dump]]) -> list[Spent]:
    """Return the times of a task in the latest dumps that all have its thread.

    The CPU times of a source's other threads are added. These threads may start and end meanwhile.
    """
    kept: list[tuple[Dump, Spent]] = []
    for of_hosts in reversed(dumps):
        dump = of_hosts.get(host, {})
        own = dump.get(name, {}).get(number)
        if own is None or (kept and own.elapsed_s > kept[-1][1].elapsed_s):
            break
        kept.append((dump, own))
    helpers: dict[tuple[str, int], float] = {}
    found = []
    for dump, own in reversed(kept):
        for begin in HELPERS:
            threads = dump.get(begin + name, {})
            helpers |= {(begin, n): spent.cpu_s for n, spent in threads.items()}
        found.append(Spent(own.cpu_s + sum(helpers.values()), own.elapsed_s))
    return found
