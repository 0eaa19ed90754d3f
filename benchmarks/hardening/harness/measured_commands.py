"""Command lines run as separate processes, with their memory and CPU time."""

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
usage = [os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss]
os.write(int(sys.argv[2]), json.dumps(usage).encode())
"""
"""A launcher that uses little memory, since the kernel includes the memory of the launching process
in the peak of the program.
"""
EVERY_S = 0.05  # between two samples of memory
KIB = 1024
MIB = KIB * KIB


@dataclass(frozen=True)
class Usage:
    """The output, exit code and resource usage of a program.

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
    """Run the command line and wait for its end.

    Parameters
    ----------
    data_bytes
        The limit of data memory (RLIMIT_DATA) of each of its processes.
    """
    arguments_json = json.dumps([data_bytes, *COMMAND, *map(str, arguments)])
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        tempfile.TemporaryFile() as report,
    ):
        process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, arguments_json, str(report.fileno())],
            env=environment(variables),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            pass_fds=[report.fileno()],
            start_new_session=True,
        )
        ended, peak = threading.Event(), [0]
        watch = threading.Thread(target=_watch, args=(process.pid, ended, peak))
        watch.start()
        process.wait()
        ended.set()
        watch.join()
        texts = []
        for file in (out, err, report):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    code, cpu, kib = json.loads(texts[2])
    largest = kib * KIB  # of the program, or of a child that it waited for
    return Usage(texts[0], texts[1], code, cpu, largest, max(peak[0], largest))


def _watch(session: int, ended: threading.Event, peak: list[int]) -> None:
    while not ended.wait(EVERY_S):
        peak[0] = max(peak[0], sum(map(_proportional_bytes, members(session))))


def _proportional_bytes(process: int) -> int:
    """Return the proportional set size of a process: 1/n of the memory that n processes share."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * KIB for line in lines if line.startswith("Pss:"))
