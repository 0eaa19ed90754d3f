"""Warm-up of placers: loads libraries and compiles kernels before any timing starts."""

from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Literal, cast

import numpy as np

from sim.engine import Settings
from sim.tuples import Arrivals
from streamplace.errors import PlacementError, UnsuitableError
from streamplace.placers.base import Placer
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.balance import lowered, overloaded
from streamplace.placers.search.confident import confident_rows
from streamplace.placers.search.consolidate import consolidate
from streamplace.placers.search.search import Search
from streamplace.placers.subset.cheapest import Search as SetSearch
from streamplace.placers.subset.examination import Examiner
from streamplace.placers.subset.kinds import Kinds
from streamplace.placers.trivial import RoundRobin
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.network import Network
from streamplace.problem.objective import Model
from streamplace.problem.problem import Problem
from streamplace.problem.uncertainty import Uncertainty
from streamplace.scoring.registry import evaluator
from streamplace.scoring.tuples import estimate, run_tuples

OPERATORS = 8  # enough for every number of parts on the five default devices


Scoring = Model | Literal["makespan", "events"]
"""What computes the scores of placements: a throughput model, or one of the two engines of passes.

``makespan`` is the fast engine of ``fifo``, and ``events`` that of every order and network.
"""


def scoring_of(problem: Problem) -> Scoring:
    """Return what computes the scores of a problem's placements."""
    if not isinstance(problem.objective, Makespan):
        return problem.model
    from streamplace.scoring.makespan_evaluator import MakespanEvaluator  # noqa: PLC0415 - slow to load

    return "makespan" if MakespanEvaluator(problem).is_fast else "events"


def warm_up(placer: Placer, scoring: Scoring) -> None:
    """Place and score a small graph once; the result and placement errors are ignored."""
    rng = np.random.default_rng(0)
    for problem in _problems_for(scoring):
        with suppress(PlacementError, UnsuitableError):
            evaluator(problem).score(placer(problem, rng).devices)


def _problems_for(scoring: Scoring) -> list[Problem]:
    """Return small problems on which a placer uses the kernels that compute scores.

    With `events`, a search anneals on the fast engine where that serves the problem, and only the
    scores are those of the other engine, as with noise.
    """
    if scoring not in {"makespan", "events"}:
        return [_problem(1e4, cast("Model", scoring))]
    problem = _problem(1e4, "bottleneck")
    if scoring == "makespan":
        return [problem.with_objective(Makespan())]
    shared = Cluster(problem.cluster.devices, Network("nic"))  # the fast engine does not serve it
    aim = Makespan(order="any")
    return [each.with_objective(aim) for each in (problem, problem.with_cluster(shared))]


def warm_up_search(model: Model) -> None:
    """Search and consolidate once: `auto` skips both on a graph as easy as that of `warm_up`."""
    problem, rng = _problem(1e5, model), np.random.default_rng(0)
    placement = Search(evaluations=10)(problem, rng)
    consolidate(problem, rng, [placement], Budget(evaluations=10))
    lowered(overloaded(problem), rng, placement.devices[None], Budget(evaluations=10))


@cache
def warm_up_confidence() -> None:
    """Search once for a placement under uncertain costs, which compiles the kernels of draws."""
    problem = _problem(1e5, "bottleneck")
    graph, _ = problem.graph.with_numbers(instructions_se=problem.graph.instructions / 10)
    uncertain = Problem(graph, problem.cluster, objective=problem.objective)
    start = RoundRobin()(uncertain, np.random.default_rng(0))
    confident_rows(uncertain, Uncertainty.of(graph), 0.9, start, seed=0)


@cache
def warm_up_latency() -> None:
    """Estimate and simulate the latency of a placement once, which compiles both."""
    problem = _problem(1e3, "bottleneck")  # which overloads nothing
    placement = RoundRobin()(problem, np.random.default_rng(0))
    estimate(problem, placement.devices, Arrivals(), exponential=True).value("p99")
    single = Settings(duration_s=0.01, tick_s=None, arrivals="poisson", service="exponential")
    run_tuples(placement, single)


@cache
def warm_up_plan(model: Model) -> None:
    """Search once for the cheapest of a few unequal devices, with and without losses."""
    whole = _problem(5e3, model)
    devices = [replace(d, mips=d.mips * (2 + i)) for i, d in enumerate(whole.cluster.devices)]
    problem = Problem(whole.graph, Cluster(devices[:4]), objective=whole.objective)
    kinds = Kinds(problem, np.arange(1.0, 5.0))
    for survive in range(2):
        examiner = Examiner(problem, kinds, 0, 10, Budget(evaluations=10))
        SetSearch(examiner, survive, 0).run()
        examiner.measure(kinds.everything)
    examiner.is_refuted((1, 0, 0, 0))


def _problem(source_rate: float, model: Model) -> Problem:
    names = [str(v) for v in range(OPERATORS)]
    graph = StreamGraph(
        [Operator(name, 1e5 + v, 1e4) for v, name in enumerate(names)],
        [Stream(names[0], name) for name in names[1:]],
    )
    return Problem(graph, Cluster.equal(), source_rate=source_rate, model=model)
