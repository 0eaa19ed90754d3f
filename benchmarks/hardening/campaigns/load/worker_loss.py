"""Workers that are killed during a comparison, which must not change its table."""

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
TIMES = 5  # comparisons per backend
KILLED = f"{__name__}:KilledRoundRobin"


def lose_once(flag: Path, *, machine: bool) -> None:
    """Kill this process unless the flag exists, which is created just before.

    Parameters
    ----------
    machine
        Whether to kill its parent as well, which is Ray's raylet or Dask's nanny.
    """
    if flag.exists():
        return
    flag.touch()
    if machine:
        os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class KilledRoundRobin:
    """A round-robin placer that is lost once, when it places a certain graph.

    Parameters
    ----------
    graph
        The name of the graph.
    flag, machine
        See `lose_once`.
    """

    graph: str
    flag: str
    machine: bool = False

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return a placement; kill the process when `graph` is placed for the first time."""
        if problem.graph.name == self.graph:
            lose_once(Path(self.flag), machine=self.machine)
        return RoundRobin()(problem, rng, start)


def lost_workers(backend: str, share: float, seed: int) -> Row:
    """Compare placers on two processes, one of which is killed; the table must not change."""
    times = max(1, round(TIMES * share))
    what = f"compare --backend {backend}, a worker killed during the run"
    wrong = {"tables that differ": 0, "failures": 0}
    if find_spec(BACKENDS[backend]) is None:
        reason = f"{BACKENDS[backend]} is not installed"
        return Row(f"{what} ({reason})", 0, wrong, {"not run": reason})
    faults: list[str] = []
    rng = np.random.default_rng([seed, 7])
    with TemporaryDirectory(prefix="streamplace-loss-") as name:
        for number in range(times):
            folder = Path(name, str(number))
            folder.mkdir()
            graph = f"dream_{rng.integers(GRAPHS // 4, GRAPHS * 3 // 4)}"
            for kind, fault in _faults(folder, backend, graph, seed + number):
                wrong[kind] += 1
                faults.append(f"{graph} of seed {seed + number}: {fault}")
    return Row(what, times, wrong, {"graphs": f"{GRAPHS}"}, faults)


def _faults(folder: Path, backend: str, graph: str, seed: int) -> Iterator[tuple[str, str]]:
    """Yield the faults of a comparison in which the worker that places a graph is killed."""
    dataset, flag = folder / "dream.jsonl.gz", folder / "killed"
    made = run_measured(
        "generate", "dream", "--count", GRAPHS, "--seed", seed, "--jobs", 1, "-o", dataset
    )
    assert made.code == 0, made.err
    placer = f"{KILLED}:graph={graph}:flag={flag}"
    words = ("compare", dataset, "--placers", f"{placer},greedy", "--plots", "none", "-o")
    parallel = run_measured(
        *words, folder / "parallel", "--jobs", 2, "--backend", backend, variables=QUIET
    )
    if not flag.exists():
        yield "failures", f"nothing was killed: {_last_line(parallel)}"
        return
    if parallel.code:
        yield "failures", f"exit {parallel.code}: {_last_line(parallel)}"
        return
    serial = run_measured(*words, folder / "serial", "--jobs", 1)
    assert serial.code == 0, serial.err
    one, other = ((folder / where / "graphs.csv").read_bytes() for where in ("serial", "parallel"))
    if one != other:
        yield "tables that differ", "graphs.csv"


def _last_line(used: Usage) -> str:
    return (used.err.strip().splitlines() or ["no message"])[-1][:300]
