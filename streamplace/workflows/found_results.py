"""Results of placements that placers found, under each kind of objective."""

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from streamplace.placers.base import Found
from streamplace.problem.objective import loaded
from streamplace.problem.placement import Placement
from streamplace.scoring.registry import evaluator, evaluator_of_pass, throughput_evaluator
from streamplace.scoring.score import without_rounding
from streamplace.scoring.throughput import bound, max_source_rate
from streamplace.workflows.result import MakespanResult, Result, ValueResult

if TYPE_CHECKING:
    from streamplace.scoring.values import ValueScore


def result_of(
    found: Found, placer: str, seconds: float, limit: float | None = None
) -> Result | ValueResult:
    """Return the score and the bound of a placement; `limit` is the time limit that was stated."""
    make = loaded(found.placement.problem.objective.functions["result"])
    made: Result | ValueResult = make(found, placer, seconds, limit)
    return made


def carried(found: Found, placer: str, seconds: float, limit: float | None = None) -> Result:
    """Return the result of a placement: its throughput, and the bound on it.

    Parameters
    ----------
    limit
        The time limit of the placer in seconds, if one was stated.
    """
    placement, problem = found.placement, found.placement.problem
    scored = throughput_evaluator(problem)
    score, upper = scored.score(placement.devices), None
    if scored.best_possible is not None:
        upper = scored.bound if limit is None else bound(problem, limit)
        upper = upper if found.bound is None else min(upper, found.bound)
        upper *= score.source_rate / problem.source_rate  # at the source rate of the score
    return Result(
        placement,
        score,
        placer,
        seconds,
        status=found.status,
        bound=upper,
        bound_is_loose=upper is not None and scored.bound_is_loose,
        max_source_rate=max_source_rate(problem, placement.devices),
        fewer_devices=found.fewer_devices,
    )


def scheduled(
    found: Found, placer: str, seconds: float, _limit: float | None = None
) -> MakespanResult:
    """Return the result of a placement: its makespan, and its bound, a proven one if there is one.

    The objective of the result's placement has the order that was used.
    """
    placement, problem = found.placement, found.placement.problem
    scored = evaluator_of_pass(problem).score(placement.devices)
    lower = scored.bound_s
    if found.bound is not None and lower is not None:
        lower = without_rounding(max(lower, found.bound), scored.value)
    aim = replace(problem.makespan_objective, order=scored.order)
    return MakespanResult(
        Placement(problem.with_objective(aim), placement.devices),
        replace(scored, bound_s=lower),
        placer,
        seconds,
        status=found.status,
        own_schedule_s=own_schedule_s(found),
    )


def own_schedule_s(found: Found) -> float | None:
    """Return the makespan in a list scheduler's own order, see `MakespanResult`."""
    if found.own_order is None:
        return None
    scored = evaluator_of_pass(found.placement.problem)
    return float(scored.in_sequence(found.own_order, found.placement.devices)[0])


def valued(found: Found, placer: str, seconds: float, _limit: float | None = None) -> ValueResult:
    """Return the result of a placement: its value, and the bound if one is proven."""
    placement = found.placement
    score = evaluator(placement.problem).score(placement.devices).with_bound(found.bound)
    made = cast("ValueScore", score)
    return ValueResult(placement, made, placer, seconds, status=found.status)
