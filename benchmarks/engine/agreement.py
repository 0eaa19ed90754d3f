"""Agreement of the engine with the closed forms, with measured ranks, and under other names."""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import numpy as np

from benchmarks.engine import SEED
from benchmarks.reference.changes import renamed, shares
from benchmarks.speed import report
from streamplace import Cluster, Device, Network, Placement, Problem, Recipe, StreamGraph
from streamplace.problem.objective import Model
from streamplace.scoring.throughput import throughput
from streamplace.sim.engine import RunMetrics, Settings
from streamplace.ticks import runs
from streamplace.util.arrays import Ints

TESTS = Path(__file__).resolve().parents[2] / "tests" / "sim" / "engine"
FORMS: tuple[tuple[bool, Model], ...] = ((True, "bottleneck"), (False, "path-average"))
"""Whether the engine uses backpressure, and the closed form with the same semantics."""


def ranks(arguments: argparse.Namespace) -> None:
    """Run the tests of the rankings T2 and T3 (from the paper) and T4, and of CEPSim's defects."""
    for title, name in (
        ("ranks of T2, T3 and T4", "test_measured_ranks.py"),
        ("defects of CEPSim", "test_loop.py"),
    ):
        command = [sys.executable, "-m", "pytest", "--no-header", str(TESTS / name)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        outcome = done.stdout.rstrip().splitlines()[-1].split(" in ")[0].strip("= ")
        report(f"{title}, tests", outcome, "all pass", done.returncode == 0)


def closed_forms(arguments: argparse.Namespace) -> None:
    """Compare the engine with the closed form of the same semantics on random problems.

    `--problems` counts problems with one source. Problems with several sources that are drawn in
    between are reported separately. Ticks are 0.05 s long.
    """
    errors: dict[tuple[bool, bool], list[float]] = {}
    lost = 0.0
    for problem, devices in random_problems():
        single = len(problem.graph.sources) == 1
        for backpressure, model in FORMS:
            metrics = runs.run(
                Placement(problem, devices), Settings(tick_s=0.05, backpressure=backpressure)
            )
            closed = Problem(
                problem.graph, problem.cluster, source_rate=problem.source_rate, model=model
            )
            expected = throughput(closed, devices)[0]
            error = (metrics.throughput - expected) / problem.source_rate
            errors.setdefault((single, backpressure), []).append(float(error))
            lost = max(lost, metrics.trace.lost)
        if len(errors.get((True, False), [])) == arguments.problems:
            break
    for (single, backpressure), values in sorted(errors.items(), reverse=True):
        sources = "one source" if single else "several sources"
        form = "bottleneck" if backpressure else "path-average"
        title = f"{len(values)} problems, {sources}, {form}"
        if single:
            mean = float(np.abs(values).mean())
            report(f"{title}: mean error", f"{mean:.5f}", "0.01", mean <= 0.01)
        else:
            below = sum(error < -0.01 for error in values)
            text = f"{min(values):+.4f} ({below} below)"
            report(
                f"{title}: minimum",
                text,
                "-0.01" if backpressure else "",
                not (backpressure and below),
            )
    report("share of a stream's tuples lost, maximum", f"{lost:.1e}", "1e-6", lost <= 1e-6)


def random_problems() -> Iterator[tuple[Problem, Ints]]:
    """Yield random problems on unequal devices, each with a random placement, endlessly."""
    rng = np.random.default_rng(SEED)
    for i in count():
        preset, size = ("layered", "series-parallel")[i % 2], int(rng.integers(6, 60))
        graph = Recipe(preset, 1, range(size, size + 1), SEED + i).graph(0)
        devices = int(rng.integers(2, 9))
        network = Network(
            "nic" if rng.random() < 0.3 else "pair",
            bandwidth_mbps=float(rng.choice([300, 1000, 3000])),
            overhead_s=float(rng.choice([0, 1e-6])),
            gap_s=float(rng.choice([0, 1e-6])),
        )
        hosts = [
            Device(f"d{k}", float(rng.uniform(1000, 4000)) / cores, cores=cores)
            for k, cores in enumerate(rng.integers(1, 5, devices).tolist())
        ]
        rate = float(rng.choice([2e3, 1e4, 3e4]))
        problem = Problem(graph, Cluster(hosts, network), source_rate=rate)
        yield problem, rng.integers(0, devices, size).astype(np.int32)


def names(arguments: argparse.Namespace) -> None:
    """Compare runs before and after operators, devices and streams are renamed and reordered."""
    rng = np.random.default_rng(SEED)
    worst = {"default": 0.0, "dynamic": 0.0}
    for problem, devices in islice(random_problems(), arguments.problems):
        operators, hosts = (
            rng.permutation(n).tolist() for n in (len(devices), len(problem.cluster.devices))
        )
        other = renamed(problem, operators, hosts)
        streams = [other.graph.streams[e] for e in rng.permutation(len(other.graph.streams))]
        graph = StreamGraph(other.graph.operators, streams, source_shares=shares(other.graph))
        other = Problem(graph, other.cluster, source_rate=other.source_rate)
        moved = [hosts.index(devices[v]) for v in operators]
        for scheduler, before in worst.items():
            settings = Settings(duration_s=30.0, scheduler=scheduler)  # type: ignore[arg-type]
            one, two = (
                runs.run(Placement(*case), settings)
                for case in ((problem, devices), (other, moved))
            )
            worst[scheduler] = max(before, difference(one, two, operators))
    for scheduler, largest in worst.items():
        title = f"{arguments.problems} problems under other names, {scheduler}"
        report(title, f"{largest:.1e}", "1e-9", largest <= 1e-9)


def difference(one: RunMetrics, two: RunMetrics, operators: list[int]) -> float:
    """Return the largest relative difference of throughput, latency and operators' rates."""
    scale = one.simulation.flow.source_rate
    rates = np.abs(two.operator_rates - one.operator_rates[operators]).max() / scale
    differences = [float(rates), abs(two.throughput - one.throughput) / scale]
    first, second = one.latency_s(), two.latency_s()
    if first is not None and second is not None:
        differences.append(abs(second["mean"] / first["mean"] - 1.0))
    return max(differences)
