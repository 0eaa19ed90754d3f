"""Throughput of `search` and `auto` within a time limit, and of repairs after losing a device.

    python -m benchmarks.searching DATASET [--every N]

`search` runs for 20 ms and `auto` for 0.2 s per graph, under both closed forms, at 1e4 and 2e4
tuples/s on 5 x 2500 MIPS. The figures are their mean relative throughput; the share of graphs on
which `auto` is at least as good as the best of the oracles, the policy's best of 16 and `search`,
minus 0.001; and, after the loss of a device (d0 of the first graph, d1 of the next), the throughput
after three moves in addition to the forced ones, relative to that of a new placement. Limits and
times are CPU time, so that other work on the machine matters little.
"""

import argparse
import sys

import numpy as np

from benchmarks.exit_codes import exit_code
from benchmarks.speed import report
from streamplace import Cluster, Problem, StreamGraph, compare, read_dataset
from streamplace.placers.registry import placer_of
from streamplace.placers.search.migrate import Migrate
from streamplace.problem.objective import Model
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import throughput
from streamplace.sim import work_clock

SEARCH, AUTO = "search:seconds=0.02", "auto:seconds=0.2"
OTHERS = (
    "metis-oracle",
    "metis-recursive-oracle",
    "metis-sweep",
    "fuser-oracle",
    "policy:samples=16",
    SEARCH,
)
RATES = (1e4, 2e4)
TARGETS: dict[Model, tuple[tuple[float, float], tuple[float, float]]] = {
    # mean relative throughput of search and of auto, at 1e4 and at 2e4
    "path-average": ((0.959, 0.591), (0.962, 0.593)),
    "bottleneck": ((0.948, 0.567), (0.953, 0.570)),
}
TOLERANCE = 0.001  # of relative throughput
# targets: share of graphs on which `auto` is best, and relative throughput after a loss
ENOUGH_GRAPHS, ENOUGH_AFTER_LOSS = 0.995, 0.95
MOVES = 3
CHANGES = 20_000  # number of changes that the search tries, per placement


def main() -> None:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="the graphs to place")
    parser.add_argument("--every", type=int, default=1, help="use every Nth graph")
    arguments = parser.parse_args()
    with work_clock.cpu_time():
        _measure(arguments)


def _measure(arguments: argparse.Namespace) -> None:
    graphs = read_dataset(arguments.dataset)[:: arguments.every]
    print(f"{len(graphs)} graphs\n{'figure':52} {'measured':>26} {'target':>14}")
    for model, targets in TARGETS.items():
        comparison = compare(graphs, [*OTHERS, AUTO], RATES, model=model, jobs=1)
        for placer, target in zip((SEARCH, AUTO), targets, strict=True):
            at = comparison.placers.index(placer)
            means = comparison.values[:, at].mean(axis=-1)
            both = "{:.4f} ({:.4f})".format(*means)
            met = bool((means >= target).all())
            report(f"{model}: {placer}, at 1e4 (2e4)", both, "{} ({})".format(*target), met)
            milliseconds = 1e3 * comparison.figures.seconds[:, at].mean()
            report(f"{model}: {placer}, ms per graph", f"{milliseconds:.1f}", "-", True)
        best = comparison.values[:, :-1].max(axis=1)
        share = float((comparison.values[:, -1] >= best - TOLERANCE).mean())
        name = f"{model}: auto at least the best of {len(OTHERS)} others"
        report(name, f"{share:.4f}", "0.995", share >= ENOUGH_GRAPHS)
    for model in CLOSED_FORMS:
        ratios = [_after_loss(number, graph, model) for number, graph in enumerate(graphs)]
        mean = float(np.mean(ratios))
        name = f"{model}: {MOVES} moves after a loss / new placement"
        report(name, f"{mean:.3f} (min {min(ratios):.3f})", "0.95", mean >= ENOUGH_AFTER_LOSS)


def _after_loss(number: int, graph: StreamGraph, model: Model) -> float:
    """Return the throughput after a few moves ÷ that of a new placement, on one device fewer."""
    rng = np.random.default_rng([0, number])
    search = placer_of(f"search:evaluations={CHANGES}")
    before = Problem(graph, source_rate=RATES[0], model=model)
    devices = before.cluster.devices
    remaining = Cluster([d for i, d in enumerate(devices) if i != number % len(devices)])
    after = Problem(graph, remaining, source_rate=RATES[0], model=model)
    migrate = Migrate(search(before, rng), max_moves=MOVES, evaluations=CHANGES)
    reached = throughput(after, np.stack([migrate(after, rng).devices, search(after, rng).devices]))
    return float(reached[0] / reached[1])


if __name__ == "__main__":
    sys.exit(exit_code(main, name="searching"))
