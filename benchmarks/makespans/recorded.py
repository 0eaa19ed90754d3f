"""Simulated beside measured makespans of recorded runs of scientific workflows.

    python -m benchmarks.makespans.recorded [FOLDER] [--seconds S]

FOLDER has executions in WfFormat, one a file (default: ../shared/data/wfinstances). Without it, the
benchmark is skipped. Run times and placements are the recorded ones, and the order is `fifo`. No
file states a network: one table has links of 1 Gbit/s at each machine, another one links that take
no time. *Largest* is the largest simulated makespan over the measured one. Intervals of 95% are
from a bootstrap over runs. The last table has the makespans of `auto` over those of the recorded
placements, both simulated.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import streamplace as sp
from benchmarks.makespans.problems import SHARED
from sim import work_clock
from streamplace.errors import FormatError, StreamplaceError
from streamplace.files.reading import read_json
from streamplace.integrations.registry import read_document
from streamplace.problem.shape import levels_of
from streamplace.scoring.makespan_evaluator import MakespanEvaluator
from streamplace.util.arrays import Floats

NETWORKS = {"1 Gbit/s": sp.Network("nic"), "free": sp.Network("free", None, 0.0)}
STATED = "1 Gbit/s"
SEED = 0


@dataclass(frozen=True)
class Run:
    """A recorded run.

    Parameters
    ----------
    is_placed
        Whether every task names its machine.
    levels
        Number of tasks on the longest path.
    measured_s, simulated_s
        Makespan in seconds, and those by network.
    bound_s
        Lower bound on the makespans of all placements on the same machines, in seconds.
    auto_s
        Makespan of the placement of `auto`; None on a single machine.
    """

    system: str
    application: str
    is_placed: bool
    tasks: int
    levels: int
    measured_s: float
    simulated_s: dict[str, float]
    bound_s: float
    auto_s: float | None


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.makespans.recorded", description=__doc__.splitlines()[0]
    )
    parser.add_argument("folder", nargs="?", type=Path, default=SHARED / "wfinstances")
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds of auto on a run")
    options = parser.parse_args()
    if not options.folder.is_dir():
        print(f"skipped: {options.folder} does not exist")
        return
    runs = []
    with work_clock.cpu_time():
        for path in sorted(options.folder.glob("*.json*")):
            try:
                runs.append(run_of(path, options.seconds))
            except StreamplaceError as error:  # another file may be of no use here
                print(f"left out: {error}", file=sys.stderr)
    for network in NETWORKS:
        print(f"\nlinks: {network}")
        titles = f"{'median error':>14}{'90%':>8}{'largest':>9}"
        print(f"{'runs':28}{'n':>4}{'Spearman':>24}{'Pearson':>24}{titles}")
        for title, several in groups(runs):
            print(agreement(title, several, network))
    titles = f"{'simulated/measured':>20}{'missing s a level':>20}{'a task':>10}"
    print(f"\n{'application':28}{'n':>4}{titles}")
    for title, several in by(runs, lambda run: f"{run.system}, {run.application}"):
        print(missing(title, several))
    titles = f"{'over recorded':>24}{'least':>8}{'gap to bound':>14}"
    print(f"\n{'auto, several machines':28}{'n':>4}{titles}")
    for title, several in groups([run for run in runs if run.auto_s is not None]):
        print(gained(title, several))


def run_of(path: Path, seconds: float) -> Run:
    """Read a run, and simulate it."""
    job = read_document(str(path), "wfformat")
    value = read_json(path)
    workflow = value["workflow"]
    execution = workflow.get("execution") or workflow
    tasks = execution["tasks"]
    if job.cluster is None or job.assignment is None:
        raise FormatError(f"{path}: does not say where every task ran")
    graph, devices = job.graph, job.cluster.devices
    simulated = {}
    for name, network in NETWORKS.items():
        problem = sp.Problem(graph, sp.Cluster(devices, network), objective=sp.Makespan())
        placed = sp.Placement.of(problem, job.assignment)
        simulated[name] = float(MakespanEvaluator(problem).makespans(placed.devices)[0])
    cluster = sp.Cluster(devices, NETWORKS[STATED])
    placer = f"auto:seconds={seconds}"
    found = sp.place(graph, cluster, placer=placer, objective=sp.Makespan(), seed=SEED)
    return Run(
        value.get("runtimeSystem", {}).get("name", "unknown"),
        path.name.split("__")[-1].partition("-")[0],
        all(task.get("machines") or task.get("machine") for task in tasks),
        len(graph.names),
        1 + max(levels_of(graph)),
        float(execution["makespanInSeconds"]),
        simulated,
        float(found.score.bound_s or 0.0),
        float(found.score.makespan_s) if len(devices) > 1 else None,
    )


def by(runs: Iterable[Run], key: Callable[[Run], str]) -> list[tuple[str, list[Run]]]:
    """Return runs by a key, sorted."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(key(run), []).append(run)
    return sorted(found.items())


def groups(runs: Sequence[Run]) -> list[tuple[str, list[Run]]]:
    """Return all runs, those in which every task names its machine, and those of each system."""
    placed = [run for run in runs if run.is_placed]
    return [
        ("all", [*runs]),
        ("every task has a machine", placed),
        *by(runs, lambda run: run.system),
    ]


def agreement(title: str, runs: Sequence[Run], network: str) -> str:
    """Return a line of how well simulated makespans agree with measured ones."""
    measured = np.array([run.measured_s for run in runs])
    simulated = np.array([run.simulated_s[network] for run in runs])
    error = np.abs(simulated / measured - 1.0)
    cells = [
        _with_interval(measured, simulated, rule) for rule in (stats.spearmanr, stats.pearsonr)
    ]
    median, most = np.median(error), np.quantile(error, 0.9)
    largest = (simulated / measured).max()
    figures = f"{median:14.1%}{most:8.1%}{largest:9.3f}"
    return f"{title:28}{len(runs):4}{cells[0]:>24}{cells[1]:>24}{figures}"


def _with_interval(x: Floats, y: Floats, rule: Callable[[Floats, Floats], Any]) -> str:
    if len(x) < 3:
        return "-"
    found = stats.bootstrap(
        (x, y),
        lambda a, b: rule(a, b)[0],
        paired=True,
        vectorized=False,
        n_resamples=2000,
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return f"{rule(x, y)[0]:.3f} [{found.low:.3f}, {found.high:.3f}]"


def missing(title: str, runs: Sequence[Run]) -> str:
    """Return a line of the time that the simulation lacks, by level and by task."""
    share = np.median([run.simulated_s[STATED] / run.measured_s for run in runs])
    lack = np.array([run.measured_s - run.simulated_s[STATED] for run in runs])
    level = np.median(lack / [run.levels for run in runs])
    task = np.median(lack / [run.tasks for run in runs])
    return f"{title:28}{len(runs):4}{share:20.3f}{level:20.2f}{task:10.3f}"


def gained(title: str, runs: Sequence[Run]) -> str:
    """Return a line of the makespans of `auto` over those of recorded placements."""
    if not runs:
        return f"{title:28}{0:4}"
    ratio = np.array([(run.auto_s or 0.0) / run.simulated_s[STATED] for run in runs])
    gap = np.median([1.0 - run.bound_s / (run.auto_s or np.inf) for run in runs])
    rng = np.random.default_rng(SEED)
    drawn = np.median(rng.choice(ratio, (2000, len(ratio))), axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    cell = f"{np.median(ratio):.3f} [{low:.3f}, {high:.3f}]"
    return f"{title:28}{len(runs):4}{cell:>24}{ratio.min():8.3f}{gap:14.1%}"


if __name__ == "__main__":
    main()
