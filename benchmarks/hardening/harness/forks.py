"""Processes of the command line that start at once, as forks of a process with loaded imports.

A fork has its own memory, files, limits and exit code like any process. It saves the second that
imports take. The process that forks has a single thread.
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

from benchmarks.hardening.harness.environment import ROOT, environment
from streamplace.files.atomic import TEMPORARY


@dataclass(frozen=True)
class Ended:
    """The end of a process.

    Parameters
    ----------
    code
        The exit code, or the negative number of the signal that ended it.
    hung
        Whether it was killed because it exceeded its time limit.
    seconds, cpu_seconds
        Wall and CPU time.
    peak_bytes
        Peak memory, including pages shared with its parent.
    pid
        The id of the process, of its group, and of the session of its children.
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
    """A fork server that runs one command line after the other; ``with`` starts and ends it.

    Parameters
    ----------
    variables
        Environment variables, besides those of this process.
    modules
        Modules to import before the first fork, besides the command line.
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
            [sys.executable, "-m", "benchmarks.hardening.harness.fork_server", *self._modules],
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
        self._process.communicate()  # it ends when its stdin is closed
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
            The current folder of the process.
        number, after_s
            The signal that the process group gets after so many seconds, if it still runs.
        once, nth
            A folder; the seconds count from its n-th new temporary file.
        alone
            Whether the process gets the signal without its children.
        limit_s
            Seconds after which it is killed and counts as hung.
        data_bytes
            The limit of its data memory.
        closed
            Whether it runs without root's right to open every file.
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
    """Return the names of temporary files in a folder, those of killed processes among them."""
    try:
        return {name for name in os.listdir(folder) if name.startswith(TEMPORARY)}
    except FileNotFoundError:
        return set()
