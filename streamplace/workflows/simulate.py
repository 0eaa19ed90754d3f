"""Scoring of a placement, a result, or a graph with an assignment."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, overload

from streamplace.errors import UsageError
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.makespan import PassObjective
from streamplace.problem.objective import Model, Objective, Throughput, check_objective
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.scoring.score import Score, ThroughputScore
from streamplace.workflows.result import PlacementResult, Result, placement_in
from streamplace.workflows.value_result import MakespanResult, ValueResult

if TYPE_CHECKING:
    from streamplace.makespan.score import MakespanScore


def score_of(placement: Placement) -> Score:
    """Return the score of a placement under the objective of its problem."""
    return evaluator(placement.problem).score(placement.devices)


@overload
def simulate(
    placement: MakespanResult, *, cluster: Cluster | str | None = None
) -> "MakespanScore": ...
@overload
def simulate(
    placement: Placement | Result | ValueResult,
    *,
    cluster: Cluster | str | None = None,
    objective: PassObjective,
) -> "MakespanScore": ...
@overload
def simulate(
    placement: StreamGraph,
    assignment: Mapping[str, str],
    cluster: Cluster | str | None = None,
    *,
    objective: PassObjective,
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
@overload
def simulate(
    placement: Placement | PlacementResult,
    *,
    cluster: Cluster | str | None = None,
    objective: Objective,
) -> Score: ...
def simulate(
    placement: Placement | PlacementResult | StreamGraph,
    assignment: Mapping[str, str] | None = None,
    cluster: Cluster | str | None = None,
    *,
    source_rate: float | Iterable[float] | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
    objective: Objective | None = None,
) -> Score:
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
    placed = placement_in("simulate: placement", placement)
    stored = placed.problem.objective
    if objective is not None:
        check_objective(objective)
        stored = objective.with_rates_of(stored)
    changed = stored.with_changes(source_rate, model, target_utilisation)
    if cluster is None:
        return score_of(Placement(placed.problem.with_objective(changed), placed.devices))
    moved = placed.problem.with_cluster(cluster).with_objective(changed)
    return score_of(Placement.of(moved, placed.assignment))
