"""Processes of the command line that start at once: forks of one that has imported it.

A fork is a process like any other, with its own memory, files, limits and exit code; it only
saves the second that the imports take. The one that forks has a single thread.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from streamplace.files.atomic import TEMPORARY

ROOT = Path(__file__).resolve().parents[2]


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a process that imports what this one does, with more variables."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **(variables or {})}


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    Parameters
    ----------
    code
        The exit code; the signal, negative, where one ended it.
    hung
        Whether it had to be killed since it took longer than it may.
    seconds, cpu_seconds
        Wall and CPU time.
    peak_bytes
        The most memory that it had at once, what it shares with its parent included.
    pid
        Of it, of its group, and of the session that its children are in.
    asleep_seconds
        Wall time in which it neither computed nor waited for a processor.
    """

    out: str
    err: str
    code: int
    hung: bool
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    pid: int
    asleep_seconds: float = 0.0


class Forks:
    """A process that starts command lines, one after the other; ended by ``with``.

    Parameters
    ----------
    variables
        Of the environment, besides those of this process.
    modules
        To import before the first fork, besides the command line.
    """

    def __init__(
        self, variables: Mapping[str, str] | None = None, modules: tuple[str, ...] = ()
    ) -> None:
        self._environment = environment(variables)
        self._modules = modules
        self._folder = tempfile.TemporaryDirectory(prefix="streamplace-forks-")
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Forks":
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.hardening.forking", *self._modules],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        self._process.communicate()  # it ends with its stdin
        self._folder.cleanup()

    def run(
        self,
        *arguments: object,
        folder: Path | None = None,
        number: int = signal.SIGKILL,
        after_s: float | None = None,
        once: Path | None = None,
        nth: int = 1,
        alone: bool = False,
        limit_s: float = 60.0,
        data_bytes: int | None = None,
        closed: bool = False,
    ) -> Ended:
        """Run the command line to its end.

        Parameters
        ----------
        folder
            To be in.
        number, after_s
            The signal that it gets after so long, if it still runs, with all of its group.
        once, nth
            A folder; the time begins when the n-th temporary turns up in it.
        alone
            Its children do not get the signal.
        limit_s
            After which it is killed and counts as hung.
        data_bytes
            The most memory that it gets.
        closed
            Whether it is without what root may do to files that are closed.
        """
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        out, err = (Path(self._folder.name) / name for name in ("out", "err"))
        asked = {
            "arguments": [str(argument) for argument in arguments],
            "folder": str(folder or ROOT),
            "out": str(out),
            "err": str(err),
            "number": int(number),
            "after_s": after_s,
            "once": None if once is None else str(once),
            "nth": nth,
            "alone": alone,
            "limit_s": limit_s,
            "data_bytes": data_bytes,
            "closed": closed,
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that forks has ended")
        told = json.loads(line)
        return Ended(out.read_text(errors="replace"), err.read_text(errors="replace"), **told)


def temporaries(folder: str | Path) -> set[str]:
    """Return the names in a folder of what is being written, or never came to its end."""
    try:
        return {name for name in os.listdir(folder) if name.startswith(TEMPORARY)}
    except FileNotFoundError:
        return set()
