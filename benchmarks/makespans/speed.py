"""Speed of the event engine: placements per second, beside the plain engine.

    python -m benchmarks.makespans.speed

Placements are random and differ from each other. Times are CPU seconds of one core, medians over
interleaved rounds.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import streamplace as sp
from benchmarks.makespans.problems import layered_problem
from benchmarks.reference.plain_schedule import plain_schedule
from streamplace.execution.calls import peak_bytes
from streamplace.files.clusters import cluster_to
from streamplace.files.graphs import graph_to
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.problem.graph_checks import Multicast
from streamplace.problem.network import NetworkKind

SIZES = (30, 100, 300, 1_000, 10_000, 100_000)
DEVICES, ROUNDS, SECONDS = 8, 5, 0.4
WANTED = {30: 1e6, 100: 2e5, 300: 6e4, 1_000: 15e3, 10_000: 1_100, 100_000: 55}
"""Placements/s to reach under fifo on free links, by number of operators."""
PLAIN = 300  # largest graph that the plain engine runs


def main() -> None:
    """Print one row per size of graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    sizes = parser.parse_args().sizes
    head = ("fifo", "to reach", "egress", "pair, all", "b-level", "plain", "fifo/plain", "MiB")
    print(f"{'operators':>9}" + "".join(f"{title:>12}" for title in head))
    for size in sizes:
        print(f"{size:9,}" + "".join(f"{cell:>12}" for cell in _row(size)), flush=True)


def _row(size: int) -> list[str]:
    problem = layered_problem(size, DEVICES, seed=size, ratio=1.0)
    runs = [
        _runner(problem),
        _runner(_on(problem, "egress")),
        _runner(_on(problem, "pair", "all")),
        _runner(problem.with_objective(sp.Makespan(order="b-level"))),
    ]
    has_plain = size <= PLAIN
    if has_plain:
        runs.append(_plain_runner(problem))
    rounds = [[run() for run in runs] for _ in range(ROUNDS)]
    rates = [statistics.median(each) for each in zip(*rounds, strict=True)]
    cells = [f"{rate:,.0f}" for rate in rates]
    wanted = f"{WANTED[size]:,.0f}" if size in WANTED else "-"
    ratio = f"{rates[0] / rates[-1]:,.0f}" if has_plain else "-"
    plain = [] if has_plain else ["-"]
    memory = peak_bytes() / 1024**2
    return [cells[0], wanted, *cells[1:], *plain, ratio, f"{memory:,.0f}"]


def _on(problem: sp.Problem, kind: NetworkKind, multicast: Multicast = "none") -> sp.Problem:
    network = replace(problem.cluster.network, kind=kind)
    graph, _ = problem.graph.with_numbers(multicast=multicast)
    cluster = sp.Cluster(problem.cluster.devices, network)
    return sp.Problem(graph, cluster, objective=problem.objective)


def _runner(problem: sp.Problem) -> Callable[[], float]:
    """Return a function that measures placements/s; kernels are compiled first."""
    judge = MakespanEvaluator(problem)
    count = max(8, min(200_000, int(2e7 / len(problem.graph.names) ** 1.15)))
    rng = np.random.default_rng(0)
    rows = rng.integers(0, DEVICES, (count, len(problem.graph.names)), dtype=np.int32)
    judge.makespans(rows[:2])

    def measure() -> float:
        begun, done = time.process_time(), 0
        while (passed := time.process_time() - begun) < SECONDS:
            judge.makespans(rows)
            done += count
        return done / passed

    return measure


def _plain_runner(problem: sp.Problem) -> Callable[[], float]:
    graph, cluster = graph_to(problem.graph), cluster_to(problem.cluster)
    names, devices = problem.graph.names, problem.cluster.names
    rng = np.random.default_rng(0)
    rows = [dict(zip(names, rng.choice(devices, len(names)), strict=True)) for _ in range(8)]
    fast = MakespanEvaluator(problem).makespans(
        np.array([[problem.cluster.index[row[name]] for name in names] for row in rows])
    )
    found = [float(_plain(graph, cluster, row)) for row in rows[:2]]
    if not np.allclose(found, fast[:2], rtol=1e-9):
        raise SystemExit("the plain engine and streamplace compute different makespans")

    def measure() -> float:
        begun, done = time.process_time(), 0
        while (passed := time.process_time() - begun) < SECONDS:
            _plain(graph, cluster, rows[done % len(rows)])
            done += 1
        return done / passed

    return measure


def _plain(graph: dict[str, object], cluster: dict[str, object], row: dict[str, str]) -> float:
    return float(max(plain_schedule(graph, cluster, {"order": "fifo"}, row).finish.values()))


if __name__ == "__main__":
    main()
