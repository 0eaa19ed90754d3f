"""Fresh processes in surroundings that vary like those of different machines and days."""

import hashlib
import json
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.hardening.harness.environment import environment
from benchmarks.hardening.harness.rows import MAX_FAULTS, Row
from streamplace.execution.parallel import ITEMS_PER_PROCESS

VARIED = "PYTHONHASHSEED, threads of OpenMP, BLAS and numba 1|2, current folder, LC_ALL, TZ"
JOBS = (1, 2, 4)  # worker processes, in turn
GRAPHS = ITEMS_PER_PROCESS * JOBS[-1]  # with fewer graphs, not all four processes would have work
ON_WORKERS = f"{VARIED}, --jobs {'|'.join(map(str, JOBS))} in turn"
TIMES = ("seconds", "seconds_per_graph")  # fields that contain run times
LIMIT_S = 600  # wall time of one process


@dataclass(frozen=True)
class Surroundings:
    """The surroundings of a process, which must not affect its result.

    Parameters
    ----------
    folder
        The current folder, which is empty at the start.
    variables
        Environment variables.
    number
        The number of the process, from 0.
    """

    folder: Path
    variables: dict[str, str]
    number: int

    @classmethod
    def drawn(cls, folder: Path, number: int, rng: np.random.Generator) -> "Surroundings":
        """Draw surroundings; those of successive processes differ in every respect."""
        current_folder = (
            folder / ("here" if number % 2 else f"un autre endroit {number}") / str(number)
        )
        current_folder.mkdir(parents=True)
        threads = str(1 + number % 2)
        variables = {
            "PYTHONHASHSEED": str(rng.integers(2**32)),
            "LC_ALL": ("C", "C.UTF-8")[number % 2],
            "TZ": ("UTC", "Asia/Kathmandu", "America/St_Johns")[number % 3],
            "COLUMNS": str(60 + 40 * (number % 2)),
        }
        variables |= dict.fromkeys(
            ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"),
            threads,
        )
        return cls(current_folder, variables, number)

    @property
    def jobs(self) -> int:
        """The number of worker processes to use."""
        return JOBS[self.number % len(JOBS)]

    def run(self, *arguments: object) -> str:
        """Run a program, and return its stdout.

        Raises
        ------
        RuntimeError
            If it fails.
        """
        ended = subprocess.run(
            [str(argument) for argument in arguments],
            cwd=self.folder,
            env=environment(self.variables),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        if ended.returncode != 0:
            raise RuntimeError(f"exit code {ended.returncode}: {ended.stderr[-500:]}")
        return ended.stdout


Result = Callable[[Surroundings], bytes]
"""Computes a result in a fresh process with these surroundings."""


def differences_row(
    what: str,
    results: Iterable[tuple[str, Result]],
    processes: int,
    folder: Path,
    rng: np.random.Generator,
    *,
    varied: str = VARIED,
) -> Row:
    """Compute every result in several fresh processes, and count the differences.

    Parameters
    ----------
    results
        Pairs of a name, and a function whose result must be the same in all surroundings.
    processes
        The number of processes per result.
    varied
        A description of what varies between the processes.
    """
    begin, tried, different, failed = time.monotonic(), 0, 0, 0
    faults: list[str] = []
    for name, result in results:
        hashes: dict[str, list[int]] = {}
        for number in range(processes):
            surroundings = Surroundings.drawn(
                folder / f"{what}-{name}".replace("/", " "), number, rng
            )
            tried += 1
            try:
                digest = hashlib.sha256(result(surroundings)).hexdigest()
            except (RuntimeError, subprocess.TimeoutExpired, OSError) as error:
                failed += 1
                faults.append(f"{name}, process {number}: {error}"[:300])
            else:
                hashes.setdefault(digest, []).append(number)
        different += max(0, len(hashes) - 1)
        if len(hashes) > 1:
            faults.append(f"{name}: processes by hash: {[*hashes.values()]}")
    took = f"{time.monotonic() - begin:.0f} s"
    figures = {"fresh processes": f"{processes} each", "varied": varied, "took": took}
    wrong = {"differences": different, "failed": failed}
    return Row(what, tried, wrong, figures, faults[:MAX_FAULTS])


def without_fields(value: Any, dropped: Sequence[str]) -> Any:
    """Return a JSON value without some fields."""
    if isinstance(value, dict):
        return {k: without_fields(v, dropped) for k, v in value.items() if k not in dropped}
    if isinstance(value, list):
        return [without_fields(item, dropped) for item in value]
    return value


def without_times(text: str) -> bytes:
    """Return JSON text without the fields that contain run times."""
    return json.dumps(without_fields(json.loads(text), TIMES)).encode()
