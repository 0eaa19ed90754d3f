"""The placer `rebuild` on large graphs with contended links, beside local search.

    python -m benchmarks.makespans.contended --graphs 30 --seeds 3

All methods improve the same placement, the best of the quick placers, with two evaluations per
operator; the last one instead has the CPU time that `rebuild` took. Makespans are divided by the
better of `heft:contention` and the best single device. Graphs are those of the family `contended`
under seeds that no training used. Intervals of 95% are from a paired bootstrap over graphs, of the
mean over placer seeds.
"""

import argparse
import time
from collections.abc import Callable, Mapping

import numpy as np

import streamplace as sp
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.makespan.placers.annealing import PassAnnealer, cooling_of
from streamplace.makespan.placers.passes import pass_evaluator
from streamplace.papers.orders.families.contended import KINDS
from streamplace.placers.budget import Budget
from streamplace.placers.registry import make_placer
from streamplace.placers.starting import fast_placement
from streamplace.sim.schedule.anneal import Cooling
from streamplace.util.arrays import Floats
from streamplace.util.effect import Effect

SEED = 9_000  # of the graphs
PER_OPERATOR = 2
START, REBUILD, TRAINED = "start", "rebuild", "rebuild, trained"
CLIMB, ANNEALING, SEARCH, EQUAL_TIME = "climb", "annealing", "search", "search, equal CPU time"
METHODS = (START, CLIMB, ANNEALING, SEARCH, REBUILD, EQUAL_TIME)
HOT = 1  # number of the chain, for its temperature


class Reached:
    """The makespans of all methods on one problem, from one seed.

    Parameters
    ----------
    problem
        The problem.
    seed
        Seed of the placers.
    file
        Weights of a further row, `rebuild` with trained choices; empty: no such row.
    """

    def __init__(self, problem: sp.Problem, seed: int, file: str) -> None:
        self._problem, self._seed, self._file = problem, seed, file
        self._loss = makespan_evaluator(problem).loss
        self._evaluations = PER_OPERATOR * len(problem.graph.names)
        self._start = fast_placement(problem, np.random.default_rng(seed))

    def all(self) -> dict[str, float]:
        """Return makespans over the reference, by method."""
        reference = min(self._by("heft:contention"), self._by("single"))
        begun = time.process_time()
        rebuilt = self._by(f"rebuild:evaluations={self._evaluations}")
        seconds = time.process_time() - begun
        makespans = {
            START: float(self._loss(self._start.devices)[0]),
            CLIMB: self._by(f"climb:evaluations={self._evaluations}"),
            ANNEALING: self._annealed(),
            SEARCH: self._by(f"search:evaluations={self._evaluations}"),
            REBUILD: rebuilt,
            EQUAL_TIME: self._by(f"search:seconds={max(seconds, 0.01):.3f}"),
        }
        if self._file:
            trained = f"rebuild:evaluations={self._evaluations}:file={self._file}"
            makespans[TRAINED] = self._by(trained)
        return {name: length / reference for name, length in makespans.items()} | {"s": seconds}

    def _by(self, name: str) -> float:
        """Return the makespan of a placer in seconds; those that improve begin at the start."""
        placer, rng = make_placer(name), np.random.default_rng(self._seed)
        return float(self._loss(placer(self._problem, rng, self._start).devices)[0])

    def _annealed(self) -> float:
        """Return the makespan after one chain of annealing from the start, in seconds."""
        scored = pass_evaluator(self._problem, "annealing")
        annealer = PassAnnealer(scored, np.random.default_rng(self._seed))
        units = len(scored.compiled.rules.row_of)
        cooling: Cooling = cooling_of(self._evaluations, units, HOT)
        row, budget = self._start.devices.astype(np.int32), Budget()
        return annealer.chain(row, scored.orders[0], cooling, 0.0, budget).makespan_s


def reached(kind: str, graphs: int, seeds: int, file: str) -> Mapping[str, Floats]:
    """Return makespans over the reference by method, (G,) means over seeds."""
    recipe = sp.Recipe(f"contended:kind={kind}", graphs, seed=SEED)
    names = (*METHODS, "s", TRAINED) if file else (*METHODS, "s")
    rows: dict[str, list[float]] = {name: [] for name in names}
    for number in range(graphs):
        graph, cluster = recipe.graph(number), recipe.cluster(number)
        problem = sp.Problem(graph, cluster, objective=sp.Makespan())
        found = [Reached(problem, seed, file).all() for seed in range(seeds)]
        for name, values in rows.items():
            values.append(float(np.mean([one[name] for one in found])))
    return {name: np.array(values) for name, values in rows.items()}


def line(name: str, cells: Callable[[str], str], columns: Mapping[str, object]) -> None:
    """Print a row of a Markdown table."""
    print(f"| {name} | " + " | ".join(cells(column) for column in columns) + " |", flush=True)


def main() -> None:
    """Print tables of means, and of the differences of `rebuild` from each method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--file", default="", help="weights for a further line")
    options = parser.parse_args()
    found = {k: reached(k, options.graphs, options.seeds, options.file) for k in KINDS}
    line("", str, dict.fromkeys(found))
    line("---", lambda _: "---", found)
    methods = (*METHODS, TRAINED) if options.file else METHODS
    for name in methods:
        line(name, lambda kind, name=name: f"{found[kind][name].mean():.3f}", found)  # type: ignore[misc]
    line("CPU s of rebuild", lambda kind: f"{found[kind]['s'].mean():.2f}", found)
    for name in methods:
        if name != REBUILD:

            def ratio(kind: str, name: str = name) -> str:
                return str(Effect.of(found[kind][REBUILD] / found[kind][name]))

            line(f"rebuild over {name}", ratio, found)


if __name__ == "__main__":
    main()
