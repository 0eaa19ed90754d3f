"""Thread dumps of the TaskManagers' Java machines, by a command of the user."""

import math
import re
import shlex
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from streamplace.errors import BackendError, UsageError
from streamplace.execution.commands import outputs_of

PLACE = "{}"  # of the TaskManager's id in the command
EVERY_S = 10.0  # between dumps
FEWEST = 2  # dumps from which a CPU time can be measured
MAX_DUMP = 1 << 26  # bytes
SAFE_ID = re.compile(r"[\w.:@][\w.:@-]*")  # no option, no path, nothing that a shell acts upon
NUMBER = r"(\d{1,12}(?:\.\d{1,9})?)"
THREAD = re.compile(
    rf'^"(.+)" #(\d{{1,18}}) [^"\n]*\bcpu={NUMBER}ms elapsed={NUMBER}s ', re.MULTILINE
)


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
