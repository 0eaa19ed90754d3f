"""Plans and sizes of large graphs against the fewest devices that a sweep of placers finds.

    python -m benchmarks.plans [--operators N …] [--link L] [--known FILE] [--sizes]

Devices have 16 cores of 4,000 MIPS, and the source rate needs 8.4 of them. The bandwidth is such
that the busiest link has a utilisation of L (1.2) under METIS on nine devices. Best known is the
fewest devices on which `auto` (2 CPU seconds) or `multilevel` carries everything; numbers are
tried from the bound on, and `--known` keeps it in a file. Seconds are CPU seconds of this
process, without the time to load libraries.
"""

import argparse
import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from benchmarks.partitioners import placed
from streamplace import Cluster, Device, Network, Operator, Problem, Recipe, Stream, StreamGraph
from streamplace.capacity.plan.plan import plan
from streamplace.capacity.size import size
from streamplace.errors import StreamplaceError
from streamplace.placers.registry import make_placer
from streamplace.placers.search.balance import CARRIED
from streamplace.problem.cluster import NetworkKind
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import qualities, throughput_evaluator
from streamplace.sim import work_clock
from streamplace.sim.closed_form.bottleneck import utilisations

FAMILIES = "layered", "series-parallel", "random"
OPERATORS = 1_000, 3_000, 10_000
NETWORKS: tuple[NetworkKind, ...] = ("nic", "pair")
MIPS, CORES = 4_000.0, 16
NEEDED = 8.4
METIS_ON = 9  # devices on which METIS sets the bandwidth
MOST = 24
PLACERS = "multilevel", "auto:seconds=2"


def main() -> None:
    """Print a row per graph."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--operators", type=int, nargs="+", default=OPERATORS, metavar="N")
    parser.add_argument("--link", type=float, default=1.2, metavar="L")
    parser.add_argument("--known", type=Path, metavar="FILE")
    parser.add_argument("--sizes", action="store_true", help="sizes too")
    chosen = parser.parse_args()
    kept: dict[str, int | None] = {}
    if chosen.known is not None and chosen.known.exists():
        kept = json.loads(chosen.known.read_text())
    print("graph | bound | best known | plan | CPU s | size | CPU s")
    for count in chosen.operators:
        for family in FAMILIES:
            graph = graph_of(family, count)
            for network in NETWORKS:
                problem, on = prepared(graph, network, chosen.link)
                name = f"{family} {count:,} {network} {chosen.link:g}"
                least = next(n for n in range(1, MOST) if _bound(on(n)) >= CARRIED)
                if name not in kept:
                    kept[name] = fewest(on, least)
                    if chosen.known is not None:
                        chosen.known.write_text(json.dumps(kept, indent=1))
                rate = problem.source_rate
                cells = [name, str(least), str(kept[name])]
                cells += measured(plan, "fewest_devices", graph, problem.cluster, rate)
                if chosen.sizes:
                    larger = on(METIS_ON * 3).cluster
                    cells += measured(size, "machines", graph, larger, rate)
                print(" | ".join(cells), flush=True)


def measured(
    command: Callable[..., object], what: str, graph: StreamGraph, cluster: Cluster, rate: float
) -> list[str]:
    """Return an attribute of a command's result, or its error, and the CPU seconds it took."""
    begun = time.process_time()
    with work_clock.cpu_time():
        try:
            found = str(getattr(command(graph, cluster, source_rate=rate), what))
        except StreamplaceError as error:
            found = str(error)[:60]
    return [found, f"{time.process_time() - begun:.1f}"]


def graph_of(family: str, count: int) -> StreamGraph:
    """Return a graph of a family; of `random`, each operator reads from two before it."""
    if family != "random":
        return Recipe(family, 1, range(count, count + 1), 1).graph(0)
    rng = np.random.default_rng(count)
    operators = [
        Operator(f"o{v}", float(rng.uniform(1e4, 1e6)), float(rng.uniform(100, 2000)))
        for v in range(count)
    ]
    streams = [
        Stream(f"o{u}", f"o{v}", selectivity=0.5)
        for v in range(1, count)
        for u in {int(u) for u in rng.integers(max(0, v - 50), v, 2)}
    ]
    return StreamGraph(operators, streams, source_rate=1.0)


def prepared(
    graph: StreamGraph, network: NetworkKind, busiest: float
) -> tuple[Problem, Callable[[int], Problem]]:
    """Return the problem on one device, and a function from a number of devices to the problem."""

    def on(number: int, rate: float = 1.0, mbps: float = 1000.0) -> Problem:
        devices = [Device(f"d{i}", MIPS, cores=CORES) for i in range(number)]
        cluster = Cluster(devices, Network(network, mbps))
        return Problem(graph, cluster, source_rate=rate)

    arrays = flow(on(1))
    rate = NEEDED / float(arrays.work.sum() / arrays.capacity.sum())
    loaded = on(METIS_ON, rate)
    _, link = utilisations(flow(loaded), placed("metis", loaded))
    mbps = 1000.0 * float(link.max()) / busiest
    return on(1, rate, mbps), lambda number: on(number, rate, mbps)


def fewest(on: Callable[[int], Problem], least: int) -> int | None:
    """Return the fewest devices on which a placer carries everything; None if there are none.

    The search of `auto` uses as many of the devices as are best, so that where it fails on all,
    fewer are not tried one by one.
    """
    numbers = range(least, MOST + 1)
    if not _carried(on(MOST)):
        return None
    return next((number for number in numbers if _carried(on(number))), None)


def _carried(problem: Problem) -> bool:
    """Return whether a placer carries everything."""
    for name in PLACERS:
        with work_clock.cpu_time(), suppress(StreamplaceError):
            found = make_placer(name)(problem, np.random.default_rng(0), None)
            if qualities(problem, [found])[0] >= CARRIED:
                return True
    return False


def _bound(problem: Problem) -> float:
    return throughput_evaluator(problem).bound / problem.source_rate


if __name__ == "__main__":
    main()
