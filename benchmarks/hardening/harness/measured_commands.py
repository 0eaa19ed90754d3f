"""Command lines in processes of their own, and the memory and CPU time that they use."""

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hardening.harness.environment import environment
from benchmarks.hardening.harness.orphans import members

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
"""A launcher with little memory: the kernel counts the memory of the launching process as a
program's own.
"""
EVERY_S = 0.05
KIB = 1024
MIB = KIB * KIB


@dataclass(frozen=True)
class Usage:
    """The output, exit code and resource use of a program.

    Parameters
    ----------
    largest_bytes
        The peak resident memory of any one of its processes, as the kernel counts it.
    together_bytes
        The peak resident memory of all its processes together, sampled 20 times a second; shared
        pages count once.
    """

    out: str
    err: str
    code: int
    cpu_seconds: float
    largest_bytes: int
    together_bytes: int


def run_measured(
    *arguments: object,
    variables: Mapping[str, str] | None = None,
    data_bytes: int | None = None,
) -> Usage:
    """Run the command line to its end.

    Parameters
    ----------
    data_bytes
        The limit of data memory (RLIMIT_DATA) of each of its processes.
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
    largest = kib * KIB  # of the program, or of a child it has waited for
    return Usage(said[0], said[1], code, cpu, largest, max(most[0], largest))


def _watch(session: int, ended: threading.Event, most: list[int]) -> None:
    while not ended.wait(EVERY_S):
        most[0] = max(most[0], sum(map(_proportional_bytes, members(session))))


def _proportional_bytes(process: int) -> int:
    """Return the proportional set size of a process: an n-th of what n processes share."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * KIB for line in lines if line.startswith("Pss:"))
