"""The command line as a program of its own, and the memory that it and its children take."""

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening.forks import environment
from benchmarks.hardening.orphans import members

COMMAND = (sys.executable, "-m", "streamplace.cli.main")
LAUNCHER = """
import json, os, resource, subprocess, sys
data, *command = json.loads(sys.argv[1])
process = subprocess.Popen(command)
if data is not None:
    resource.prlimit(process.pid, resource.RLIMIT_DATA, (data, data))
_, status, used = os.wait4(process.pid, 0)
told = [os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss]
os.write(int(sys.argv[2]), json.dumps(told).encode())
"""
"""Starts a program, from little memory: the kernel counts as a program's own what the process that
started it had.
"""
EVERY_S = 0.05
KIB = 1024
MIB = KIB * KIB


@dataclass(frozen=True)
class Used:
    """What a program said, and took.

    Parameters
    ----------
    largest_bytes
        The most that was resident of any one of its processes, as the kernel counts it.
    together_bytes
        The most that all had together when they were looked at, 20 times a second; what several
        share is counted once.
    """

    out: str
    err: str
    code: int
    cpu_seconds: float
    largest_bytes: int
    together_bytes: int


def used_by(
    *arguments: object,
    variables: Mapping[str, str] | None = None,
    data_bytes: int | None = None,
) -> Used:
    """Run the command line to its end.

    Parameters
    ----------
    data_bytes
        The most data that each of its processes may have; for more the kernel gives no memory.
    """
    asked = json.dumps([data_bytes, *COMMAND, *map(str, arguments)])
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        tempfile.TemporaryFile() as told,
    ):
        process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, asked, str(told.fileno())],
            env=environment(variables),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            pass_fds=[told.fileno()],
            start_new_session=True,
        )
        ended, most = threading.Event(), [0]
        watch = threading.Thread(target=_watch, args=(process.pid, ended, most))
        watch.start()
        process.wait()
        ended.set()
        watch.join()
        said = []
        for file in (out, err, told):
            file.seek(0)
            said.append(file.read().decode(errors="replace"))
    code, cpu, kib = json.loads(said[2])
    largest = kib * KIB  # its own, or that of a child it has waited for
    return Used(said[0], said[1], code, cpu, largest, max(most[0], largest))


def _watch(session: int, ended: threading.Event, most: list[int]) -> None:
    while not ended.wait(EVERY_S):
        most[0] = max(most[0], sum(map(_proportional_bytes, members(session))))


def _proportional_bytes(process: int) -> int:
    """Return what is resident of a process; of what n processes share, an n-th."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * KIB for line in lines if line.startswith("Pss:"))
