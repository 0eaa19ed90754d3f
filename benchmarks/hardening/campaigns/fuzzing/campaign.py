"""Coverage-guided fuzzing with atheris, two minutes of CPU time for each reader.

A small set of inputs that reaches the same code as all inputs is kept as seeds.
"""

import importlib.util
import math
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.hardening.corpus import seed_archives
from benchmarks.hardening.harness.environment import ROOT
from benchmarks.hardening.harness.rows import Row
from benchmarks.hardening.targets.parsers import PARSERS

CPU_SECONDS = 120.0
WALL_PER_CPU = 20  # seconds per CPU second after which a fuzzer that sleeps is ended
RESTART = "STREAMPLACE_FUZZ_RESTART"
"""Environment variable with the command by which libFuzzer restarts itself."""
CPU_LIMIT = "STREAMPLACE_FUZZ_CPU_LIMIT"
"""Environment variable with the CPU seconds after which fuzzing ends."""
DELEGATING = frozenset({"dream", "info", "info-weights"})
"""Readers that only select another reader, and are not fuzzed."""
FUZZED = tuple(name for name in PARSERS if name not in DELEGATING)
MAX_CRASHES = 10  # of one reader, after which its fuzzing stops
SHORT = 4096  # bytes; inputs may be this long, or twice as long as the longest valid file
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
    """Yield one row per reader.

    Parameters
    ----------
    keep
        Whether to archive, as seeds, a small set of the inputs that reaches the same code.
    """
    if not installed():
        yield Row(MISSING, 0, dict.fromkeys(WRONG, 0))
        return
    for name in readers:
        yield fuzz_row(name, CPU_SECONDS * share, seed, keep)


def installed() -> bool:
    """Return whether atheris is installed."""
    return importlib.util.find_spec("atheris") is not None


def fuzz_row(name: str, seconds: float, seed: int = 0, keep: bool = True) -> Row:
    """Fuzz one reader for a number of CPU seconds, also after crashes; see `run` for `keep`."""
    with tempfile.TemporaryDirectory(prefix="streamplace-corpus-") as made:
        inputs, crashes = Path(made) / "inputs", Path(made) / "crashes"
        inputs.mkdir()
        crashes.mkdir()
        seed_archives.unpack(name, inputs)
        _write_good_files(name, inputs)  # last: the seeds may include older valid files
        faults: dict[str, str] = {}
        executed, peak, features = 0, 0, "0"
        began = _ended_cpu_s()
        while len(faults) < MAX_CRASHES and (left := began + seconds - _ended_cpu_s()) > 0:
            output = _fuzz(name, inputs, crashes, left, seed + executed + 1)
            executed += _executed(output)
            peak = max(peak, *map(int, PEAK.findall(output)), 0)
            features = (STATUS.findall(output) or [("0", features)])[-1][1]
            fault = _fault(output, crashes)
            if fault is None:
                break
            faults.setdefault(fault[0], fault[1])
        used = _ended_cpu_s() - began
        if keep:
            minimal = Path(made) / "minimal"
            minimal.mkdir()
            _run_target(name, "-merge=1", str(minimal), str(inputs))
            seed_archives.pack(name, minimal)
    hangs = sum("TooLong" in what or "timeout" in what for what in faults)
    wrong = {"crashes": len(faults) - hangs, "hangs": hangs}
    figures = {
        "features": f"{int(features):,}",
        "CPU": f"{used:.0f} s",
        "memory": f"{peak} MiB",
    }
    return Row(f"fuzzing {name}", executed, wrong, figures, [*faults.values()], GROUP)


def _write_good_files(name: str, folder: Path) -> None:
    program = "from benchmarks.hardening.campaigns.fuzzing.target import *; import sys, pathlib\n"
    program += "for i, data in enumerate(inputs(PARSERS[sys.argv[1]])):\n"
    program += "    pathlib.Path(sys.argv[2], f'good-{i}').write_bytes(data)\n"
    subprocess.run(
        [sys.executable, "-c", program, name, str(folder)],
        env=_environment(), check=True, capture_output=True,
    )  # fmt: skip


def _fuzz(name: str, inputs: Path, crashes: Path, seconds: float, seed: int) -> str:
    """Fuzz until a crash or for a number of CPU seconds; return the output."""
    return _run_target(
        name,
        f"-max_total_time={max(1, int(WALL_PER_CPU * seconds))}",
        f"-artifact_prefix={crashes}/",
        f"-seed={seed}",
        f"-max_len={max(SHORT, *(2 * path.stat().st_size for path in inputs.glob('good-*')))}",
        "-timeout=20",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
        str(inputs),
        cpu_s=seconds,
    )


def _run_target(name: str, *options: str, cpu_s: float = math.inf) -> str:
    """Run libFuzzer on a reader, with a limit of CPU seconds after its start; return its output."""
    with tempfile.TemporaryDirectory(prefix="streamplace-fuzz-") as folder:
        restart = Path(folder) / "fuzz"
        command = [sys.executable, "-m", "benchmarks.hardening.campaigns.fuzzing.target", name]
        restart.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        restart.chmod(0o700)
        done = subprocess.run(
            [restart, *options],
            env={**_environment(), RESTART: str(restart), CPU_LIMIT: str(cpu_s)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return done.stdout.decode(errors="replace")


def _ended_cpu_s() -> float:
    """Return the CPU seconds of child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _executed(output: str) -> int:
    counts = EXECUTED.findall(output) or RUNS.findall(output) or ["0"]
    return int(counts[-1])


def _fault(output: str, crashes: Path) -> tuple[str, str] | None:
    """Return the kind of a fault, and its description with the input; None without a fault."""
    made = sorted(crashes.iterdir(), key=lambda path: path.stat().st_mtime)
    if not made:
        return None if "stat::" in output else ("no start", output[-300:])
    data = made[-1].read_bytes()
    kind = made[-1].name.partition("-")[0]
    for path in made:
        path.unlink()
    lines = [line.strip() for line in output.splitlines()]
    at = [i for i, line in enumerate(lines) if "Uncaught Python exception" in line]
    what = lines[at[-1] + 1] if at else kind
    return f"{kind}: {what:.100}", f"{kind}: {what:.200}: {data[:2000]!r}"
