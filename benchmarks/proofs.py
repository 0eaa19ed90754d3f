"""Correctness of `exact` against brute force, and speed of its proofs on released graphs.

    python -m benchmarks.proofs [DATASET] [--problems N] [--every N] [--jobs N]

The random problems have at most 10^6 placements (10^5 under path-average), both kinds of network,
unequal devices, constraints and memory limits. Targets: `exact` finds the optimum of all problems;
`search` finds it on 99%; `auto` comes within a thousandth of it on 99%; no placer is above the
optimum, and the optimum is not above the bound. With a DATASET, `exact` also solves released graphs
under bottleneck at 1e4 and 2e4 tuples/s on 5 x 2500 MIPS: those of at most 14 operators within 1 s,
and every Nth of those of 20 to 27 operators within 10 s. Times are wall time on one thread.
"""

import argparse
import sys
import time
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.exit_codes import exit_code
from benchmarks.reference.random_problems import optimum, random_problem
from benchmarks.speed import report
from streamplace import Problem, StreamGraph, read_dataset
from streamplace.errors import PlacementError
from streamplace.execution.parallel import each
from streamplace.placers.exact.exact import Exact
from streamplace.placers.registry import class_of, names_for, placer_of
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import bound, throughput

MAX_PLACEMENTS = {"bottleneck": 10**6, "path-average": 10**5}  # of a random problem
LIMIT_S = 600.0  # time limit of `exact` on a random problem
EQUAL = 1e-9  # relative difference up to which throughputs count as equal
SHARE = 0.99  # target for the share of problems that `search` and `auto` solve
SPARED = 1e-3  # share of the throughput that `auto` gives up to use fewer devices
SMALL, LARGE = range(1, 15), range(20, 28)  # operators
SMALL_S, LARGE_S = 1.0, 10.0  # time limits of `exact`
LARGE_SHARE = 0.6  # target for the share of large graphs that are proven
RATES = (1e4, 2e4)
AUTO = "auto:evaluations=100000"
CHECKED = (
    *(
        name
        for name in names_for("throughput")
        if name not in ("auto", "exact") and not class_of(name).trains
    ),
    AUTO,
)


class Checked(NamedTuple):
    """Results of the checks on one random problem.

    Attributes
    ----------
    exact, search, auto
        Whether the placer reached the optimum (`auto`: within `SPARED` of it).
    below
        Whether no placer exceeds the optimum, and the optimum does not exceed the bound.
    """

    exact: bool
    search: bool
    auto: bool
    below: bool


def main() -> None:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="?", help="the released graphs, to measure proofs on")
    parser.add_argument(
        "--problems", type=int, default=1000, help="number of random problems; default: 1000"
    )
    parser.add_argument(
        "--every", type=int, default=5, help="use every Nth graph of 20 to 27 operators; default: 5"
    )
    parser.add_argument("--jobs", type=int, help="worker processes; default: one per core")
    arguments = parser.parse_args()
    graphs = [] if arguments.dataset is None else read_dataset(arguments.dataset)
    print(f"{'figure':52} {'measured':>26} {'target':>14}")
    checked = list(each(_checked, range(arguments.problems), arguments.jobs))
    for name, share in (("exact", 1.0), ("search", SHARE), ("auto", SHARE)):
        equal = sum(getattr(one, name) for one in checked)
        met = equal >= share * len(checked)
        report(f"{name} finds the optimum", f"{equal} of {len(checked)}", f"{share:.0%}", met)
    below = sum(one.below for one in checked)
    share_below = f"{below} of {len(checked)}"
    report("optimum: below bound, above all placers", share_below, "100%", below == len(checked))
    if graphs:
        small = [graph for graph in graphs if len(graph.names) in SMALL]
        large = [graph for graph in graphs if len(graph.names) in LARGE]
        proven(small, SMALL_S, 1.0, arguments.jobs)
        proven(large[:: arguments.every], LARGE_S, LARGE_SHARE, arguments.jobs)


def proven(graphs: list[StreamGraph], seconds: float, target: float, jobs: int | None) -> None:
    """Report the share of graphs whose optimum `exact` proves within a time limit.

    Parameters
    ----------
    seconds
        The time limit for each graph.
    target
        The share that must be proven.
    """
    sizes = [len(graph.names) for graph in graphs]
    for rate in RATES:
        took = list(each(partial(_seconds, rate=rate, limit=seconds), graphs, jobs))
        share = float((np.array(took) <= seconds).mean())
        name = f"{min(sizes)} to {max(sizes)} operators at {rate:g}: proven in {seconds:g} s"
        report(name, f"{share:.4f} of {len(graphs)}", f"{target:.0%}", share >= target)


def _checked(seed: int) -> Checked:
    """Compare placers with brute force on one random problem."""
    model = CLOSED_FORMS[seed % len(CLOSED_FORMS)]
    problem = random_problem(seed, model, MAX_PLACEMENTS[model])
    best = optimum(problem)
    reached = {}
    for name in CHECKED:
        try:
            placement = placer_of(name)(problem, np.random.default_rng(seed))
        except PlacementError:  # simple placers may not find a feasible placement
            continue
        reached[name] = float(throughput(problem, placement.devices)[0])
    proof = Exact(seconds=LIMIT_S).run(problem, np.random.default_rng(seed))
    assert proof.bound is not None, "exact proves a bound"
    exact = float(throughput(problem, proof.placement.devices)[0])
    return Checked(
        exact=bool(proof.optimal) and abs(exact - best) <= EQUAL * best,
        search=reached["search"] >= best * (1.0 - EQUAL),
        auto=reached[AUTO] >= best * (1.0 - SPARED),
        below=max(exact, *reached.values()) <= best * (1.0 + EQUAL)
        and best <= min(bound(problem), proof.bound) * (1.0 + EQUAL),
    )


def _seconds(graph: StreamGraph, rate: float, limit: float) -> float:
    """Return the wall time of a proof in seconds; inf without a proof."""
    problem = Problem(graph, source_rate=rate)
    begun = time.perf_counter()
    proof = Exact(seconds=limit).run(problem, np.random.default_rng(0))
    took = time.perf_counter() - begun
    return took if proof.optimal else np.inf


if __name__ == "__main__":
    sys.exit(exit_code(main, name="proofs"))
