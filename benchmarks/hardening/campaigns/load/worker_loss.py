"""Workers that are killed in the middle of a comparison, whose table stays the same."""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.hardening.harness.measured_commands import Usage, run_measured
from benchmarks.hardening.harness.rows import Row
from streamplace.placers.trivial import RoundRobin
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem

BACKENDS = {"local": "joblib", "dask": "distributed", "ray": "ray"}
QUIET = {"RAY_USAGE_STATS_ENABLED": "0"}
GRAPHS = 300
TIMES = 5


@dataclass(frozen=True)
class KilledRoundRobin:
    """Round robin that kills its process once, when it places a certain graph.

    Parameters
    ----------
    at
        The name of the graph.
    flag
        A file that is made just before the kill.
    """

    at: str
    flag: str

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return a placement, or kill the process the first time."""
        if problem.graph.name == self.at and not Path(self.flag).exists():
            Path(self.flag).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return RoundRobin()(problem, rng, start)


def lost_workers(backend: str, share: float, seed: int) -> Row:
    """Compare placers on two processes and kill one of them; the table must be the usual one."""
    times = max(1, round(TIMES * share))
    what = f"compare --backend {backend}, a worker killed mid-way"
    wrong = {"tables that differ": 0, "failures": 0}
    if find_spec(BACKENDS[backend]) is None:
        said = f"{BACKENDS[backend]} is not installed"
        return Row(f"{what} ({said})", 0, wrong, {"not run": said})
    faults: list[str] = []
    rng = np.random.default_rng([seed, 7])
    with TemporaryDirectory(prefix="streamplace-loss-") as name:
        for number in range(times):
            folder = Path(name, str(number))
            folder.mkdir()
            at = f"dream_{rng.integers(GRAPHS // 4, GRAPHS * 3 // 4)}"
            for kind, fault in _faults(folder, backend, at, seed + number):
                wrong[kind] += 1
                faults.append(f"{at} of seed {seed + number}: {fault}")
    return Row(what, times, wrong, {"graphs": f"{GRAPHS}"}, faults)


def _faults(folder: Path, backend: str, at: str, seed: int) -> Iterator[tuple[str, str]]:
    """Yield the faults after the worker that places a graph is killed."""
    dataset, flag = folder / "dream.jsonl.gz", folder / "killed"
    made = run_measured(
        "generate", "dream", "--count", GRAPHS, "--seed", seed, "--jobs", 1, "-o", dataset
    )
    assert made.code == 0, made.err
    placer = f"benchmarks.hardening.campaigns.load.worker_loss:KilledRoundRobin:at={at}:flag={flag}"
    words = ("compare", dataset, "--placers", f"{placer},greedy", "--plots", "none", "-o")
    there = run_measured(
        *words, folder / "there", "--jobs", 2, "--backend", backend, variables=QUIET
    )
    if not flag.exists():
        yield "failures", f"nothing was killed: {_last(there)}"
        return
    if there.code:
        yield "failures", f"exit {there.code}: {_last(there)}"
        return
    here = run_measured(*words, folder / "here", "--jobs", 1)
    assert here.code == 0, here.err
    one, other = ((folder / where / "graphs.csv").read_bytes() for where in ("here", "there"))
    if one != other:
        yield "tables that differ", "graphs.csv"


def _last(used: Usage) -> str:
    return (used.err.strip().splitlines() or ["says nothing"])[-1][:300]
