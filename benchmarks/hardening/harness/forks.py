"""Command-line processes that start quickly, as forks of a process with loaded imports.

A fork has its own memory, files, limits and exit code like any process, but skips the imports,
which take about a second. The forking process has a single thread.
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

from benchmarks.hardening.harness.environment import ROOT, environment
from streamplace.files.writing import TEMPORARY


@dataclass(frozen=True)
class Ended:
    """The end of a process.

    Parameters
    ----------
    code
        The exit code, or the negative number of the signal that ended it.
    hung
        Whether it was killed because it exceeded its time limit.
    seconds
        Wall time.
    pid
        The id of the process, of its group, and of the session of its children.
    """

    out: str
    err: str
    code: int
    hung: bool
    seconds: float
    pid: int


class Forks:
    """A fork server, which runs one command line at a time; ``with`` starts and ends it.

    Parameters
    ----------
    variables
        Environment variables to add to those of this process.
    modules
        Modules to import before the first fork, in addition to the command line.
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

    def __exit__(self, *error: object) -> None:
        assert self._process is not None
        self._process.communicate()  # it ends when its stdin is closed
        self._folder.cleanup()

    def run(
        self,
        *arguments: object,
        folder: Path | None = None,
        signum: int = signal.SIGKILL,
        after_s: float | None = None,
        once: Path | None = None,
        nth: int = 1,
        alone: bool = False,
        limit_s: float = 60.0,
        data_bytes: int | None = None,
    ) -> Ended:
        """Run one command line and wait for its end.

        Parameters
        ----------
        folder
            The current folder of the process.
        signum, after_s
            The signal to send to the process group after that many seconds, if it is still running.
        once, nth
            A folder. If it is set, `after_s` counts from the nth new temporary file in the folder.
        alone
            Whether to signal the process without its children.
        limit_s
            Seconds after which the process is killed and counts as hung.
        data_bytes
            The limit of its data memory (RLIMIT_DATA); None for no limit.
        """
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        out, err = (Path(self._folder.name) / name for name in ("out", "err"))
        request = {
            "arguments": [str(argument) for argument in arguments],
            "folder": str(folder or ROOT),
            "out": str(out),
            "err": str(err),
            "signum": int(signum),
            "after_s": after_s,
            "once": None if once is None else str(once),
            "nth": nth,
            "alone": alone,
            "limit_s": limit_s,
            "data_bytes": data_bytes,
        }
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the fork server has ended")
        answer = json.loads(line)
        return Ended(out.read_text(errors="replace"), err.read_text(errors="replace"), **answer)


def temporaries(folder: str | Path) -> set[str]:
    """Return the names of temporary files in a folder, including those left by killed processes."""
    try:
        return {name for name in os.listdir(folder) if name.startswith(TEMPORARY)}
    except FileNotFoundError:
        return set()
