"""Speed of the kernels that take most of the time of placing and simulating.

    python -m benchmarks.kernels [--only PART …]

CPU seconds of one core, medians over interleaved rounds. `benchmarks.speed_beside` compares them
with those of another version, or with kernels that are compiled for this machine's processor.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from benchmarks.speed import interleaved, report
from streamplace import Cluster, Makespan, Problem, Recipe, StreamGraph, place
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.placers.registry import make_placer
from streamplace.scoring.throughput import throughput
from streamplace.ticks.runs import simulation
from streamplace.util.arrays import Ints

CELLS = 600_000  # operators placed per round and size
SIZES = (30, 100, 300, 1_000)
CHANGES = 100_000  # tried by a search per round
RUNS = 20  # of the engine per round


def main() -> None:
    """Print one line per figure."""
    parts = {part.__name__: part for part in (closed_forms, passes, searches, simulations)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=parts, default=list(parts))
    chosen = parser.parse_args().only
    print(f"{'figure':52} {'measured':>26} {'target':>14}")
    for name in chosen:
        parts[name]()


def closed_forms() -> None:
    """Measure placements/s under both closed forms, by number of operators."""
    for model in ("bottleneck", "path-average"):
        problems = [Problem(layered(size), Cluster.equal(8), model=model) for size in SIZES]
        calls = [partial(throughput, problem, random_rows(problem)) for problem in problems]
        _report_rates(f"{model}, placements/s", calls)


def passes() -> None:
    """Measure passes/s under three orders, by number of operators."""
    for order in ("fifo", "b-level", "any"):
        objective = Makespan(order=order)
        problems = [Problem(layered(size), Cluster.equal(8), objective=objective) for size in SIZES]
        calls = [
            partial(MakespanEvaluator(problem).makespans, random_rows(problem))
            for problem in problems
        ]
        _report_rates(f"makespan, {order}, passes/s", calls)


def searches() -> None:
    """Measure changes/s of local search, by objective, and that of makespans by operators too."""
    graph = layered(100)
    for title, problem in (
        ("bottleneck", Problem(graph, Cluster.equal(8), source_rate=1e6)),
        ("path-average", Problem(graph, Cluster.equal(8), source_rate=1e6, model="path-average")),
    ):
        _report_changes(title, CHANGES if title == "bottleneck" else CHANGES // 10, [problem])
    problems = [Problem(layered(size), Cluster.equal(8), objective=Makespan()) for size in SIZES]
    _report_changes("makespan", CHANGES // 10, problems)


def simulations() -> None:
    """Measure a run of the engine on 26 operators."""
    graph = Recipe("dream", 1, range(26, 27)).graph(0)
    placement = place(graph, source_rate=1e4, placer="metis").placement
    run = partial(simulation(placement.problem).run, placement.devices)
    (seconds,) = interleaved([lambda: [run() for _ in range(RUNS)]])
    report("engine, 26 operators, 610 ticks, ms", f"{1e3 * seconds / RUNS:.3f}", "-", True)


def _report_changes(title: str, count: int, problems: Sequence[Problem]) -> None:
    """Print how many changes per second a search of each problem tries."""
    search = make_placer(f"search:evaluations={count}")
    calls = [partial(search, problem, np.random.default_rng(0)) for problem in problems]
    rates = (count / seconds for seconds in interleaved(calls))
    report(f"search, {title}, changes/s", " ".join(f"{rate:,.0f}" for rate in rates), "-", True)


def layered(size: int) -> StreamGraph:
    """Return a layered graph with this number of operators."""
    return Recipe("layered", 1, range(size, size + 1)).graph(0)


def random_rows(problem: Problem) -> Ints:
    """Return random placements on 8 devices, (K, V); K V is the same for all sizes."""
    operators = len(problem.graph.names)
    shape = (CELLS // operators, operators)
    return np.random.default_rng(0).integers(0, 8, shape, dtype=np.int32)


def _report_rates(title: str, calls: Sequence[Callable[[], object]]) -> None:
    """Print how many placements of each size the calls score per second."""
    rates = (CELLS // size / spent for size, spent in zip(SIZES, interleaved(calls), strict=True))
    report(title, " ".join(f"{rate:,.0f}" for rate in rates), "-", True)


if __name__ == "__main__":
    main()
