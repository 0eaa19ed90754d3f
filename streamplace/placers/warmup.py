"""Warm-up of placers: loads libraries and compiles kernels before any timing starts."""

from contextlib import suppress
from functools import cache

import numpy as np

from streamplace.errors import PlacementError, UnsuitableError
from streamplace.placers.base import Placer
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.confident import confident_rows
from streamplace.placers.search.consolidate import consolidate
from streamplace.placers.search.search import Search
from streamplace.placers.trivial import RoundRobin
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.objective import Model
from streamplace.problem.problem import Problem
from streamplace.problem.uncertainty import Uncertainty
from streamplace.scoring.throughput import simulate

OPERATORS = 8  # enough for every number of parts on the five default devices


def warm_up(placer: Placer, model: Model) -> None:
    """Place and score a small graph once; the result and placement errors are ignored."""
    problem, rng = _problem(1e4, model), np.random.default_rng(0)
    with suppress(PlacementError, UnsuitableError):
        simulate(placer(problem, rng))


def warm_up_search(model: Model) -> None:
    """Search and consolidate once: `auto` skips both on a graph as easy as that of `warm_up`."""
    problem, rng = _problem(1e5, model), np.random.default_rng(0)
    placement = Search(evaluations=10)(problem, rng)
    consolidate(problem, rng, [placement], Budget(evaluations=10))


@cache
def warm_up_confidence() -> None:
    """Search once for a placement under uncertain costs, which compiles the kernels of draws."""
    problem = _problem(1e5, "bottleneck")
    graph, _ = problem.graph.with_numbers(instructions_se=problem.graph.instructions / 10)
    uncertain = Problem(graph, problem.cluster, objective=problem.objective)
    start = RoundRobin()(uncertain, np.random.default_rng(0))
    confident_rows(uncertain, Uncertainty.of(graph), 0.9, start, seed=0)


def _problem(source_rate: float, model: Model) -> Problem:
    names = [str(v) for v in range(OPERATORS)]
    graph = StreamGraph(
        [Operator(name, 1e5 + v, 1e4) for v, name in enumerate(names)],
        [Stream(names[0], name) for name in names[1:]],
    )
    return Problem(graph, Cluster.equal(), source_rate=source_rate, model=model)
