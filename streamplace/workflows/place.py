"""Placement and scoring in one call."""

from collections.abc import Iterable
from dataclasses import replace
from typing import overload

import numpy as np

from sim import work_clock
from streamplace.errors import UsageError
from streamplace.placers.base import Placer, Proof
from streamplace.placers.running import name_of, run_placer
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.objective import Model, Objective, Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.scoring.throughput import bound, max_source_rate, simulate
from streamplace.util.checks import check_seed
from streamplace.workflows.asked import Asked
from streamplace.workflows.conflict import naming_conflicts
from streamplace.workflows.latency.limit import LatencyLimit
from streamplace.workflows.makespan_result import MakespanResult, scheduled
from streamplace.workflows.placer_checks import check_start
from streamplace.workflows.result import Result


@overload
def place(
    graph: StreamGraph,
    cluster: Cluster | str | None = None,
    *,
    constraints: Constraints | None = None,
    objective: Makespan,
    placer: str | Placer = "auto",
    seed: int = 0,
) -> MakespanResult: ...
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
    max_latency: LatencyLimit | str | None = None,
) -> Result: ...
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
    max_latency: LatencyLimit | str | None = None,
) -> Result | MakespanResult:
    """Place a graph on a cluster.

    Parameters
    ----------
    cluster
        A cluster, or text such as ``5x2500`` (five devices of 2500 MIPS), which is the default; see
        `Cluster.parse`.
    source_rate, constraints
        None: the graph's own. Source rates are in tuples/s; with several, one placement is computed
        for all of them, and its score is the lowest of its scores at these rates.
    model
        The throughput model: ``bottleneck`` (the default), ``path-average`` or ``engine``.
    target_utilisation
        The share of every device and link that may be used, above 0 and at most 1; default 1.
    objective
        Replaces source rate, model and target utilisation. With `Makespan`, the result is a
        `MakespanResult`.
    placer
        A name with options, such as ``metis:parts=3``; or a custom placer, by its name
        ``module:Class`` or as an object; see `Placer`.
    confidence
        Probability, above 0 and below 1, with which the placement should carry the source rate,
        over the standard errors of the costs. A search for a higher probability then follows the
        placer, and the result has `Confidence`. Requires a closed form.

    max_latency
        Limit on the latency of single tuples, such as ``p99=200ms``; see `LatencyLimit.parse`. The
        answer is in the result's `latency`.

    Raises
    ------
    InfeasibleError
        If provably no placement keeps the limit on latency, or none satisfies the constraints; the
        message then ends with the rules that cannot hold together, see `workflows.conflict`.
    StreamplaceError
        If the problem, the placer's name or the placer's result is invalid.
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
        return placed(problem, placer, seed, confidence=confidence, max_latency=max_latency)


def placed(
    problem: Problem,
    placer: str | Placer = "auto",
    seed: int = 0,
    confidence: float | None = None,
    max_latency: LatencyLimit | str | None = None,
) -> Result | MakespanResult:
    """Place and score a problem under its objective; see `place`."""
    if not isinstance(problem.objective, Makespan):
        return solve(problem, placer, seed, confidence=confidence, max_latency=max_latency)
    if confidence is not None or max_latency is not None:
        name = "a limit on latency" if confidence is None else "confidence"
        raise UsageError(f"{name} supports only throughput, not objective 'makespan'")
    return schedule(problem, placer, seed)


def solve(
    problem: Problem,
    placer: str | Placer = "auto",
    seed: int = 0,
    start: Placement | None = None,
    confidence: float | None = None,
    max_latency: LatencyLimit | str | None = None,
) -> Result:
    """Place and score a problem, from an initial placement if `start` is set; see `place`.

    `schedule` does the same under the makespan objective.

    Raises
    ------
    UsageError
        If `start` is set and the placer does not accept an initial placement.
    ProblemError
        If the objective is a makespan.
    """
    problem.throughput_objective  # noqa: B018 - refuses makespans
    check_seed(seed)
    name = name_of(placer)
    check_start(placer, start)
    asked = Asked.of(confidence, max_latency)
    asked.check(problem)
    outcome = run_placer(problem, placer, np.random.default_rng(seed), start)
    if not asked:
        return result_of(outcome.placement, name, outcome.seconds, outcome.proof)
    begun = work_clock.now()
    found, reports = asked.improved(problem, outcome.placement, seed)
    seconds = outcome.seconds + work_clock.now() - begun
    proof = outcome.proof if found is outcome.placement else None
    return replace(result_of(found, name, seconds, proof), **reports)


def schedule(
    problem: Problem,
    placer: str | Placer = "auto",
    seed: int = 0,
    start: Placement | None = None,
) -> MakespanResult:
    """Place a problem under the makespan objective, from an initial placement if `start` is set.

    Raises
    ------
    UsageError
        If `start` is set and the placer does not accept an initial placement.
    ProblemError
        If the objective is throughput.
    """
    problem.makespan_objective  # noqa: B018 - refuses throughput
    check_seed(seed)
    check_start(placer, start)
    outcome = run_placer(problem, placer, np.random.default_rng(seed), start)
    found = scheduled(outcome.placement, name_of(placer), outcome.seconds, outcome.proof)
    return replace(found, own_schedule_s=outcome.own_schedule_s)


def result_of(
    placement: Placement, placer: str, seconds: float, proof: Proof | None = None
) -> Result:
    """Return the result of a placement: its score, and its bound, from a proof if there is one."""
    problem, score = placement.problem, simulate(placement)
    upper, status = None, None
    if evaluator(problem).best_possible is not None:
        upper = bound(problem)
        if proof is not None:
            upper = min(upper, proof.bound)
            status = "OPTIMAL" if proof.optimal else "FEASIBLE"
        upper *= score.source_rate / problem.source_rate  # at the source rate of the score
    sustained = max_source_rate(problem, placement.devices)
    return Result(placement, score, placer, upper, seconds, status, sustained)


def timed(
    problem: Problem, placer: str | Placer, rng: np.random.Generator, start: Placement | None = None
) -> tuple[Placement, float]:
    """Return a feasible placement and the wall time to find it, in seconds.

    Raises
    ------
    StreamplaceError
        See `run_placer`.
    """
    outcome = run_placer(problem, placer, rng, start)
    return outcome.placement, outcome.seconds
