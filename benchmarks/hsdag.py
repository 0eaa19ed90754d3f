"""What HSDAG finds on generated problems at equal evaluations, and its CPU time per evaluation.

    python -m benchmarks.hsdag --family nmt --graphs 3 --placers hsdag,hsdag:levels=2
    python -m benchmarks.hsdag --family layered --operators 100

Makespans are those of one pass on a fast and a slow device under Placeto's published semantics,
relative to the best single device; means are geometric. With `--streams`, they are losses under
throughput on five equal devices. Search and random placements make as many evaluations as a placer
with its defaults. Placers with a network are timed with all that they do.
"""

import argparse
import time

import numpy as np

import streamplace as sp
from streamplace.families import Recipe
from streamplace.papers.hsdag.placer import HsdagPlacer
from streamplace.placers.registry import make_placer, placer_of
from streamplace.problem.makespan import with_published_semantics
from streamplace.problem.network import Network
from streamplace.scoring.registry import evaluator

BANDWIDTH_MBPS = 60_800.0  # 7,600 bytes per microsecond
DEVICES = "1x4000,1x1500"
STREAM_DEVICES = "5x2500"


def pass_problem(graph: sp.StreamGraph) -> sp.Problem:
    """Return a problem of a makespan on a fast and a slow device."""
    cluster = sp.Cluster(sp.Cluster.parse(DEVICES).devices, Network(bandwidth_mbps=BANDWIDTH_MBPS))
    published = with_published_semantics(graph, cluster, "placeto")
    return sp.Problem(*published, objective=sp.Makespan(batch=100))


def stream_problem(graph: sp.StreamGraph) -> sp.Problem:
    """Return a problem of throughput on equal devices."""
    return sp.Problem(graph, sp.Cluster.parse(STREAM_DEVICES), source_rate=1e5, model="bottleneck")


def reached(problem: sp.Problem, name: str) -> tuple[float, float]:
    """Return the loss of a placer's placement, and its CPU seconds."""
    placer = placer_of(name)
    begun = time.process_time()
    placed = placer(problem, np.random.default_rng(0))
    return float(evaluator(problem).loss(placed.devices)[0]), time.process_time() - begun


def main() -> None:
    """Place the problems and print a line per placer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", default="nmt")
    parser.add_argument("--graphs", type=int, default=2)
    parser.add_argument(
        "--operators", type=int, help="sizes of graphs, for families that have them"
    )
    parser.add_argument("--streams", action="store_true")
    parser.add_argument("--placers", default="hsdag")
    options = parser.parse_args()
    sizes = None if options.operators is None else range(options.operators, options.operators + 1)
    recipe = Recipe(options.family, options.graphs, sizes)
    made = stream_problem if options.streams else pass_problem
    problems = [made(recipe.graph(number)) for number in range(options.graphs)]
    equal = HsdagPlacer().evaluations(problems[0])
    others = ["single", f"random:evaluations={equal}", f"search:evaluations={equal}"]
    others += ["metis-oracle"] if options.streams else ["heft"]
    names = [*others, *options.placers.split(",")]
    found = {name: np.array([reached(p, name) for p in problems]) for name in names}
    operators = [len(problem.graph.names) for problem in problems]
    print(f"{options.family}, {min(operators)} to {max(operators)} operators")
    print(f"{'placer':32}{'over single':>12}{'CPU s':>10}{'ms each':>13}")
    for name, rows in found.items():
        ratio = np.exp(np.log(rows[:, 0] / found["single"][:, 0]).mean())
        seconds = rows[:, 1].mean()
        placer = make_placer(name)
        step = ""
        if isinstance(placer, HsdagPlacer):
            step = f"{1e3 * seconds / placer.evaluations(problems[0]):.1f}"
        print(f"{name:32}{ratio:12.3f}{seconds:10.2f}{step:>13}")


if __name__ == "__main__":
    main()
