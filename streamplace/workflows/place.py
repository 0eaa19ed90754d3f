"""Placement and scoring in one call."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from streamplace.placers.base import Found, Placer
from streamplace.placers.goal import goal_of, time_limit_of
from streamplace.placers.running import check_start, name_of, run_placer
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model, Objective, Throughput, loaded
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.sim import work_clock
from streamplace.util.checks import check_seed
from streamplace.util.running_search import watch
from streamplace.workflows.naming_conflicts import naming_conflicts
from streamplace.workflows.result import PlacementResult, Result

if TYPE_CHECKING:
    from streamplace.latency.limit import LatencyLimit
    from streamplace.problem.makespan import PassObjective
    from streamplace.workflows.value_result import MakespanResult, ValueResult


@overload
def place(
    graph: StreamGraph,
    cluster: Cluster | str | None = None,
    *,
    constraints: Constraints | None = None,
    objective: "PassObjective",
    placer: str | Placer = "auto",
    seed: int = 0,
) -> "MakespanResult": ...
@overload
def place(
    graph: StreamGraph,
    cluster: Cluster | str | None = None,
    *,
    source_rate: float | Iterable[float] | None = None,
    constraints: Constraints | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
    objective: Throughput | None = None,
    placer: str | Placer = "auto",
    seed: int = 0,
    confidence: float | None = None,
    max_latency: "LatencyLimit | str | None" = None,
) -> Result: ...
@overload
def place(
    graph: StreamGraph,
    cluster: Cluster | str | None = None,
    *,
    constraints: Constraints | None = None,
    objective: Objective,
    placer: str | Placer = "auto",
    seed: int = 0,
) -> PlacementResult: ...
def place(
    graph: StreamGraph,
    cluster: Cluster | str | None = None,
    *,
    source_rate: float | Iterable[float] | None = None,
    constraints: Constraints | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
    objective: Objective | None = None,
    placer: str | Placer = "auto",
    seed: int = 0,
    confidence: float | None = None,
    max_latency: "LatencyLimit | str | None" = None,
) -> "Result | ValueResult":
    """Place a graph on a cluster, and score the placement.

    Parameters
    ----------
    graph
        The job.
    cluster
        A cluster, or text such as ``5x2500`` (five devices of 2500 MIPS), which is the default; see
        `Cluster.parse`.
    source_rate
        Tuples/s offered by all sources together; None: the graph's own. With several, one placement
        is computed for all of them, and its score is the lowest of its scores at these rates.
    constraints
        Rules that the placement satisfies; None: the graph's own.
    model
        The throughput model: ``bottleneck`` (the default), ``path-average`` or ``engine``.
    target_utilisation
        The share of every device and link that may be used, above 0 and at most 1; default 1.
    objective
        Replaces source rate, model and target utilisation, such as `Makespan`.
    placer
        A name with options, such as ``metis:parts=3``; or a custom placer, by its name
        ``module:Class`` or as an object; see `Placer`. The default is ``auto``.
    seed
        Seed of all random choices, at least 0; the same seed gives the same placement.
    confidence
        Probability, above 0 and at most 0.999, with which the placement should carry the source
        rate, over the standard errors of the costs. A search for a higher probability then follows
        the placer, and the result has `Confidence`. Requires a closed form.
    max_latency
        Limit on the latency of single tuples, such as ``p99=200ms``; see `LatencyLimit.parse`. The
        answer is in the result's `latency`.

    Returns
    -------
    Result or MakespanResult
        The placement, its score (tuples/s, or seconds of a pass), and a bound for all placements.

    Raises
    ------
    ClusterError
        If the text of a cluster is not valid.
    ProblemError
        If graph, cluster, source rate and constraints do not fit together, there is no source rate,
        or a number that the placement needs is unknown.
    InfeasibleError
        If provably no placement keeps the limit on latency, or none satisfies the constraints; the
        message then ends with the rules that cannot hold together, see `workflows.conflict`.
    PlacementError
        If the placer found no placement that satisfies the constraints, although one may exist.
    UsageError
        If a name or an option is unknown, or the placer does not support the problem; also
        `CustomPlacerError` of a placer that fails. All of these are `StreamplaceError`.

    Examples
    --------
    >>> graph = sp.StreamGraph([("a", 9e4, 200), ("b", 6e4, 0)], [("a", "b")], source_rate=1e4)
    >>> sp.place(graph, "2x2500", placer="greedy").placement.assignment["a"]
    'd0'
    """
    with naming_conflicts():
        problem = Problem(
            graph,
            cluster,
            source_rate=source_rate,
            constraints=constraints,
            model=model,
            target_utilisation=target_utilisation,
            objective=objective,
        )
        return place_problem(problem, placer, seed, confidence=confidence, max_latency=max_latency)


def place_problem(
    problem: Problem,
    placer: str | Placer = "auto",
    seed: int = 0,
    start: Placement | None = None,
    confidence: float | None = None,
    max_latency: "LatencyLimit | str | None" = None,
) -> "Result | ValueResult":
    """Place and score a problem, from an initial placement if `start` is set; see `place`.

    Raises
    ------
    UsageError
        If `start` is set and the placer does not accept an initial placement, or if the objective
        does not support confidence or limits on latency.
    """
    evaluator(problem)  # refuses loads that overflow, and objectives without an evaluator
    check_seed(seed)
    goal = goal_of(confidence=confidence, max_latency=max_latency)
    name = name_of(placer)
    check_start(placer, start)
    if goal is not None:
        goal.check(problem, placer, seed)
        placer = goal.placer(problem, placer)
    outcome = run_placer(problem, placer, np.random.default_rng(seed), start)
    if goal is None:
        return result_of(outcome.found, name, outcome.seconds, time_limit_of(placer))
    begun = work_clock.now()
    with watch():  # its searches change the loads, so that their rates would mislead
        better, report = goal.improve(problem, outcome.placement, seed)
    seconds = outcome.seconds + work_clock.now() - begun
    found = outcome.found if better is outcome.placement else Found(better)
    # what suffices without the goal says nothing of it
    reported: dict[str, Any] = {goal.report: report, "fewer_devices": None}
    return replace(result_of(found, name, seconds, time_limit_of(placer)), **reported)


def result_of(
    found: Found, placer: str, seconds: float, limit: float | None = None
) -> "Result | ValueResult":
    """Return the score and the bound of a placement; `limit` is the time limit that was stated."""
    make = loaded(found.placement.problem.objective.functions["result"])
    made: Result | ValueResult = make(found, placer, seconds, limit)
    return made
