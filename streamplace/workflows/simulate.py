"""Scoring of a placement, a result, or a graph with an assignment."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, overload

from streamplace.errors import UsageError
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.objective import Model, Objective, Throughput, check_objective
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.makespan import makespan_score
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput import simulate as throughput_score
from streamplace.util.checks import check_type
from streamplace.workflows.makespan_result import MakespanResult
from streamplace.workflows.result import Result

if TYPE_CHECKING:
    from streamplace.scoring.makespan_score import MakespanScore


def score_of(placement: Placement) -> "ThroughputScore | MakespanScore":
    """Return the score of a placement under the objective of its problem."""
    if isinstance(placement.problem.objective, Makespan):
        return makespan_score(placement)
    return throughput_score(placement)


@overload
def simulate(
    placement: MakespanResult, *, cluster: Cluster | str | None = None
) -> "MakespanScore": ...
@overload
def simulate(
    placement: Placement | Result | MakespanResult,
    *,
    cluster: Cluster | str | None = None,
    objective: Makespan,
) -> "MakespanScore": ...
@overload
def simulate(
    placement: StreamGraph,
    assignment: Mapping[str, str],
    cluster: Cluster | str | None = None,
    *,
    objective: Makespan,
) -> "MakespanScore": ...
@overload
def simulate(
    placement: Placement | Result,
    *,
    cluster: Cluster | str | None = None,
    source_rate: float | Iterable[float] | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
    objective: Throughput | None = None,
) -> ThroughputScore: ...
@overload
def simulate(
    placement: StreamGraph,
    assignment: Mapping[str, str],
    cluster: Cluster | str | None = None,
    *,
    source_rate: float | Iterable[float] | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
    objective: Throughput | None = None,
) -> ThroughputScore: ...
def simulate(
    placement: Placement | Result | MakespanResult | StreamGraph,
    assignment: Mapping[str, str] | None = None,
    cluster: Cluster | str | None = None,
    *,
    source_rate: float | Iterable[float] | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
    objective: Objective | None = None,
) -> "ThroughputScore | MakespanScore":
    """Return the score of a placement; that of a makespan problem is a `MakespanScore`.

    Parameters
    ----------
    placement
        A placement, a result of `place`, or a graph. With a placement or result, arguments that are
        left out come from the placement's problem.
    assignment
        Operator name -> device name; only with a graph.
    cluster, source_rate, model, target_utilisation
        As for `place`. Devices of another cluster are matched by name.
    objective
        With a graph, as for `place`. Otherwise replaces the placement's objective with its model
        and target utilisation; if it has no source rates, those of the placement are kept.

    Raises
    ------
    UsageError
        If a graph has no assignment, or if a placement or result comes with one.
    StreamplaceError
        If the problem is invalid or cannot be simulated.
    """
    if isinstance(placement, StreamGraph):
        if assignment is None:
            raise UsageError("simulate: a graph requires an assignment, operator -> device")
        problem = Problem(
            placement,
            cluster,
            source_rate=source_rate,
            model=model,
            target_utilisation=target_utilisation,
            objective=objective,
        )
        return score_of(Placement.of(problem, assignment))
    if assignment is not None:
        raise UsageError("simulate: cannot combine a placement with an assignment; pass a graph")
    results = (Result, MakespanResult)
    placed = placement.placement if isinstance(placement, results) else placement
    advice = "a Result or a StreamGraph is also accepted; sp.read_placement reads files"
    check_type("simulate: placement", placed, Placement, UsageError, advice)
    stored = placed.problem.objective
    if objective is not None:
        check_objective(objective)
        stored = _with_rates_of(objective, stored)
    changed = stored.with_changes(source_rate, model, target_utilisation)
    if cluster is None:
        return score_of(Placement(placed.problem.with_objective(changed), placed.devices))
    moved = placed.problem.with_cluster(cluster).with_objective(changed)
    return score_of(Placement.of(moved, placed.assignment))


def _with_rates_of(objective: Objective, stored: Objective) -> Objective:
    """Return an objective for throughput with the source rates of another, if it has none."""
    if isinstance(objective, Makespan) or isinstance(stored, Makespan) or objective.source_rates:
        return objective
    return objective.with_changes(stored.source_rates)
