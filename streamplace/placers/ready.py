"""Placers with their libraries loaded and kernels compiled, so that clocks time placing alone."""

from contextlib import suppress
from functools import cache

import numpy as np

from streamplace.cluster import Cluster
from streamplace.errors import PlacementError
from streamplace.graph import Operator, Stream, StreamGraph
from streamplace.placers.annealing import Budget
from streamplace.placers.base import Placer
from streamplace.placers.economy import economical
from streamplace.placers.registry import is_ours, make_placer
from streamplace.problem import Model, Problem
from streamplace.score import simulate

OPERATORS = 8  # enough for every number of parts on five devices


@cache
def ready_placer(text: str, model: Model) -> Placer:
    """Return the placer of a name with options, after it has placed and scored a small job once.

    Users' own are not tried out: what they do besides, and how often, is their own affair.

    Raises
    ------
    UsageError
        On an unknown name or option.
    """
    placer, rng = make_placer(text), np.random.default_rng(0)
    if not is_ours(text):
        return placer
    names = [str(v) for v in range(OPERATORS)]
    graph = StreamGraph(
        [Operator(name, 1e5 + v, 1e4) for v, name in enumerate(names)],
        [Stream(names[0], name) for name in names[1:]],
    )
    problem = Problem(graph, Cluster.equal(), source_rate=1e4, model=model)
    with suppress(PlacementError):  # what it says of this job is nobody's concern
        simulate(placer(problem, rng))
    if text.partition(":")[0] == "auto":  # which stops before it searches where that is no use
        overloaded = Problem(graph, Cluster.equal(), source_rate=1e5, model=model)
        found = make_placer("search:evaluations=10")(overloaded, rng)
        economical(overloaded, rng, [found], Budget(evaluations=10))
    return placer
