"""Gaps between the printed bound and the best placement known, and what the bound costs.

    python -m benchmarks.bounds [DATASET] [--every N] [--seconds S]

Link-bound problems: two families of 50 to 1,000 operators on 4 to 28 devices, equal or not, with
`pair` or `nic` networks on which all traffic at the bound by CPU work would load
the links 10 or 40 times. Problems with a gap of at most `HARDLY` by the quick bound are left out,
since their links hardly bind. With a DATASET, also every Nth of its graphs (default: 40) on
5 x 2500 MIPS, under both closed forms. The best placement known is that of `multilevel` on the
fastest devices, `auto` with a time limit of S (default: 1), also on the best of these sets, and up
to `SMALL` operators `exact` with twice the limit. Times are CPU time, of the whole bound; the quick
one is a part of it.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.exit_codes import exit_code
from benchmarks.speed import report
from streamplace import Cluster, Device, Network, Problem, Recipe, StreamGraph, read_dataset
from streamplace.errors import StreamplaceError
from streamplace.placers.registry import placer_of
from streamplace.problem.network import NetworkKind
from streamplace.scoring.compiled import compiled
from streamplace.scoring.registry import CLOSED_FORMS, throughput_evaluator
from streamplace.scoring.throughput import throughput

FAMILIES = ("layered", "series-parallel")
SIZES = {50: (4, 8), 200: (4, 8, 28), 500: (4, 8, 28), 1000: (8, 28)}  # devices by operators
NETWORKS: tuple[NetworkKind, ...] = ("nic", "pair")
LOADS = (10.0, 40.0)  # what all traffic at the CPU bound would load the links with
SPEEDS, CORES = (1500.0, 2500.0, 4000.0), (2, 4, 8)  # of unequal devices
OFFERED = 5.0  # source rate over the CPU bound
HARDLY = 0.003
SMALL = 200  # operators
FASTEST = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24)  # numbers of devices that a placement is tried on
RATES = (1e4, 2e4)  # tuples/s of the dataset's graphs


class Figures(NamedTuple):
    """Gaps of one problem, as shares of the bounds, and the cost of the printed one."""

    quick: float
    full: float
    ms: float


def main() -> None:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="?", help="graphs to bound, too")
    parser.add_argument("--every", type=int, default=40, help="use every Nth graph; default: 40")
    parser.add_argument("--seconds", type=float, default=1.0, help="limit of `auto`; default: 1")
    arguments = parser.parse_args()
    graphs = [] if arguments.dataset is None else read_dataset(arguments.dataset)
    print(f"{'problems':52} {'gap: quick, printed, ms':>26} {'target':>14}")
    warm = link_bound(Recipe(FAMILIES[0], 1, range(20, 21)).graph(0), 4, "nic", True, 10.0)
    figures_of(warm, arguments.seconds)
    every: list[Figures] = []
    for operators, counts in SIZES.items():
        for kind in NETWORKS:
            drawn = problems(operators, counts, kind)
            found = [figures_of(problem, arguments.seconds) for problem in drawn]
            binding = [one for one in found if one.quick > HARDLY]
            every += binding
            target = 0.03 if operators == min(SIZES) else 0.1
            show(f"{operators} operators, {kind}: {len(binding)} of {len(found)}", binding, target)
    show(f"all {len(every)} problems", every, 0.1)
    if not graphs:
        return
    graphs = graphs[:: arguments.every]
    for model in CLOSED_FORMS:
        for kind in NETWORKS:
            for rate in RATES:
                cluster = Cluster(Cluster.parse("5x2500").devices, Network(kind))
                offered = [Problem(g, cluster, source_rate=rate, model=model) for g in graphs]
                found = [figures_of(problem, arguments.seconds) for problem in offered]
                name = f"{len(found)} graphs, {kind}, {rate:g}, {model}"
                show(name, found, 0.01 if model == "bottleneck" else 0.05)


def show(name: str, figures: list[Figures], target: float) -> None:
    """Print the mean gaps and the mean cost of some problems."""
    if not figures:
        return
    quick, full, ms = np.mean(figures, axis=0)
    most = f"{100 * quick:.1f}%, {100 * full:.2f}%, {ms:.1f}"
    report(name, most, f"{100 * target:g}%", full <= target)


def problems(operators: int, counts: tuple[int, ...], kind: NetworkKind) -> Iterator[Problem]:
    """Yield the link-bound problems of one size on one kind of network."""
    for family in FAMILIES:
        for devices in counts:
            seed = (operators + devices) % 7 + (10 if kind == "pair" else 0)
            graph = Recipe(family, 1, range(operators, operators + 1), seed).graph(0)
            for equal in (True, False):
                for load in LOADS:
                    yield link_bound(graph, devices, kind, equal, load)


def link_bound(
    graph: StreamGraph, devices: int, kind: NetworkKind, equal: bool, load: float
) -> Problem:
    """Return a problem whose links all traffic at the CPU bound would load `load` times."""
    rng = np.random.default_rng(len(graph.names))
    mips, cores = np.full(devices, 2500.0), np.full(devices, 4)
    if not equal:
        mips, cores = rng.choice(SPEEDS, devices), rng.choice(CORES, devices)
    rows = [Device(f"d{i}", float(mips[i]), int(cores[i])) for i in range(devices)]
    flow = compiled(Problem(graph, Cluster(rows), source_rate=1.0)).flow
    rate = float(flow.capacity.sum() / flow.work.sum())
    links = devices if kind == "nic" else devices * (devices - 1)
    mbps = rate * float(flow.stream_bits.sum()) / (links * load) / 1e6
    cluster = Cluster(rows, Network(kind, bandwidth_mbps=mbps))
    return Problem(graph, cluster, source_rate=OFFERED * rate)


def figures_of(problem: Problem, seconds: float) -> Figures:
    """Return the gaps of a problem to the best placement found, and the cost of its bound."""
    begun = time.process_time()
    scored = throughput_evaluator(problem)
    full = scored.bound
    ms = 1000 * (time.process_time() - begun)
    quick = problem.source_rate / max(1.0, scored.least_utilisation)
    best = best_known(problem, seconds)
    assert best <= full * (1 + 1e-9), "a placement is above the bound"
    return Figures(1.0 - best / quick, max(0.0, 1.0 - best / full), ms)


def best_known(problem: Problem, seconds: float) -> float:
    """Return the throughput of the best placement found, in tuples/s.

    `multilevel` runs on the k fastest devices for several k, `auto` on all and on the best of these
    sets, and `exact` on all.
    """
    order = np.argsort(-problem.cluster.capacity, kind="stable")
    counts = [k for k in FASTEST if k < len(order)] + [len(order)]
    reached = {k: reached_on(problem, order[:k], "multilevel") for k in counts}
    best = max(reached.values())
    leading = max(reached, key=lambda k: reached[k])
    best = max(
        best,
        *(
            reached_on(problem, order[:k], f"auto:seconds={seconds:g}")
            for k in (leading, len(order))
        ),
    )
    if len(problem.graph.names) <= SMALL:
        best = max(best, reached_on(problem, order, f"exact:seconds={2 * seconds:g}"))
    return best


def reached_on(problem: Problem, devices: NDArray[np.integer], placer: str) -> float:
    """Return the throughput that a placer reaches on some devices; 0 if it cannot run."""
    rows = [problem.cluster.devices[d] for d in devices.tolist()]
    cluster = Cluster(rows, problem.cluster.network)
    on = Problem(problem.graph, cluster, objective=problem.objective)
    try:
        found = placer_of(placer)(on, np.random.default_rng(0))
    except StreamplaceError:  # `exact` is not installed
        return 0.0
    return float(throughput(on, found.devices)[0])


if __name__ == "__main__":
    sys.exit(exit_code(main, name="bounds"))
