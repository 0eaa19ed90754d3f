"""Fuzzing: atheris, guided by coverage, ten minutes on each reader; what it finds is kept."""

import importlib.util
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.hardening import corpora
from benchmarks.hardening.forks import ROOT
from benchmarks.hardening.parsers import PARSERS
from benchmarks.hardening.rows import Row

SECONDS = 600.0
AGAIN = "STREAMPLACE_FUZZ_AGAIN"
"""Of the environment: the command by which libFuzzer starts itself."""
OF_OTHERS = frozenset({"dream", "info", "info-weights"})
"""Readers that only ask which of the others is to read."""
FUZZED = tuple(name for name in PARSERS if name not in OF_OTHERS)
MOST_CRASHES = 10  # until it gives up on a reader
SHORT = 4096  # bytes that an input may have, and twice as many as the longest good file
MISSING = "fuzzing: atheris is not installed (pip install -e '.[fuzz]')"
WRONG = ("crashes", "hangs")
GROUP = "executions of the fuzzer"
STATUS = re.compile(r"cov: (\d+) ft: (\d+)")
EXECUTED = re.compile(r"stat::number_of_executed_units: *(\d+)")
RUNS = re.compile(r"^#(\d+)", re.MULTILINE)
PEAK = re.compile(r"stat::peak_rss_mb: *(\d+)")


def run(
    share: float = 1.0, seed: int = 0, readers: Sequence[str] = FUZZED, keep: bool = True
) -> Iterator[Row]:
    """Yield a row a reader.

    Parameters
    ----------
    keep
        Whether the inputs that reach most are kept for the next time.
    """
    if not installed():
        yield Row(MISSING, 0, dict.fromkeys(WRONG, 0))
        return
    for name in readers:
        yield fuzzed(name, SECONDS * share, seed, keep)


def installed() -> bool:
    """Whether atheris is there."""
    return importlib.util.find_spec("atheris") is not None


def fuzzed(name: str, seconds: float, seed: int = 0, keep: bool = True) -> Row:
    """Fuzz one reader for so long, going on after what crashes it."""
    with tempfile.TemporaryDirectory(prefix="streamplace-corpus-") as made:
        inputs, crashes = Path(made) / "inputs", Path(made) / "crashes"
        inputs.mkdir()
        crashes.mkdir()
        corpora.unpack(name, inputs)
        _seeds(name, inputs)  # after it: good files of an earlier time may be among what was kept
        faults: dict[str, str] = {}
        executed, peak, reached = 0, 0, "0"
        began, used = time.monotonic(), _cpu_s()
        until = began + seconds
        while len(faults) < MOST_CRASHES and (left := until - time.monotonic()) > 0:
            said = _fuzz(name, inputs, crashes, left, seed + executed + 1)
            executed += _executed(said)
            peak = max(peak, *map(int, PEAK.findall(said)), 0)
            reached = (STATUS.findall(said) or [("0", reached)])[-1][1]
            fault = _fault(said, crashes)
            if fault is None:
                break
            faults.setdefault(fault[0], fault[1])
        took, used = time.monotonic() - began, _cpu_s() - used
        if keep:
            least = Path(made) / "least"
            least.mkdir()
            _target(name, "-merge=1", str(least), str(inputs))
            corpora.pack(name, least)
    hangs = sum("TooLong" in what or "timeout" in what for what in faults)
    wrong = {"crashes": len(faults) - hangs, "hangs": hangs}
    figures = {
        "features": f"{int(reached):,}",
        "time": f"{took:.0f} s",
        "CPU": f"{used:.0f} s",
        "memory": f"{peak} MiB",
    }
    return Row(f"fuzzing {name}", executed, wrong, figures, [*faults.values()], GROUP)


def _seeds(name: str, folder: Path) -> None:
    told = "from benchmarks.hardening.fuzz_target import *; import sys, pathlib\n"
    told += "for i, data in enumerate(inputs(PARSERS[sys.argv[1]])):\n"
    told += "    pathlib.Path(sys.argv[2], f'good-{i}').write_bytes(data)\n"
    subprocess.run(
        [sys.executable, "-c", told, name, str(folder)],
        env=_environment(), check=True, capture_output=True,
    )  # fmt: skip


def _fuzz(name: str, inputs: Path, crashes: Path, seconds: float, seed: int) -> str:
    """Fuzz until something crashes, or the time is over; return what is said."""
    return _target(
        name,
        f"-max_total_time={max(1, int(seconds))}",
        f"-artifact_prefix={crashes}/",
        f"-seed={seed}",
        f"-max_len={max(SHORT, *(2 * path.stat().st_size for path in inputs.glob('good-*')))}",
        "-timeout=20",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
        str(inputs),
    )


def _target(name: str, *options: str) -> str:
    with tempfile.TemporaryDirectory(prefix="streamplace-fuzz-") as folder:
        again = Path(folder) / "fuzz"
        told = [sys.executable, "-m", "benchmarks.hardening.fuzz_target", name]
        again.write_text(f'#!/bin/sh\nexec {shlex.join(told)} "$@"\n')
        again.chmod(0o700)
        done = subprocess.run(
            [again, *options],
            env={**_environment(), AGAIN: str(again)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return done.stdout.decode(errors="replace")


def _cpu_s() -> float:
    """Return the CPU time of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _executed(said: str) -> int:
    found = EXECUTED.findall(said) or RUNS.findall(said) or ["0"]
    return int(found[-1])


def _fault(said: str, crashes: Path) -> tuple[str, str] | None:
    """Return what went wrong and how it can be done again; None if nothing did."""
    made = sorted(crashes.iterdir(), key=lambda path: path.stat().st_mtime)
    if not made:
        return None if "stat::" in said else ("no start", said[-300:])
    data = made[-1].read_bytes()
    kind = made[-1].name.partition("-")[0]
    for path in made:
        path.unlink()
    lines = [line.strip() for line in said.splitlines()]
    at = [i for i, line in enumerate(lines) if "Uncaught Python exception" in line]
    what = lines[at[-1] + 1] if at else kind
    return f"{kind}: {what:.100}", f"{kind}: {what:.200}: {data[:2000]!r}"
