"""The throughput of placements, as functions of a problem."""

from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.scoring.loads import Bottleneck
from streamplace.scoring.registry import throughput_evaluator, where_scored
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput_evaluator import bottleneck_at
from streamplace.sim.closed_form.bottleneck import utilisations, worst_utilisation
from streamplace.sim.work import own_utilisations
from streamplace.util.arrays import Floats, Ints

WHOLE_BOUND_S = 1.0
"""Time limit, that of ``auto``, below which the whole bound may take longer than the search."""


def throughput(problem: Problem, placements: NDArray[np.integer]) -> Floats:
    """Return the throughput of K placements, (K,) tuples/s, under the problem's model.

    With several source rates, the result is the lowest relative throughput at any of them, times
    the highest rate.

    Parameters
    ----------
    placements
        (K, V) device indices; (V,) counts as K = 1.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    SimulationError
        If the equations of the model could not be solved, or the engine did not finish.
    """
    return throughput_evaluator(problem).throughput(placements)


def throughput_where_scored(problem: Problem, placements: Ints) -> Floats:
    """Return the throughput of K placements, (K,) tuples/s; -1 for one without a score."""
    return where_scored(throughput_evaluator(problem).throughput, placements)


def simulate(placement: Placement) -> ThroughputScore:
    """Return the score of a placement under its problem's objective.

    With several source rates, the score is the one at the worst rate; if several rates are equally
    bad, at the highest of them.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    SimulationError
        If the equations of the model could not be solved, or the engine did not finish.
    """
    return throughput_evaluator(placement.problem).score(placement.devices)


def at_worst_rate(placement: Placement) -> Placement:
    """Return a placement whose problem has only the rate with its lowest relative throughput.

    If several rates are equally bad, it is the highest of them. Errors are those of `throughput`.
    """
    worst = throughput_evaluator(placement.problem).worst_case(placement.devices)
    return placement if worst is placement.problem else Placement(worst, placement.devices)


def busiest(placement: Placement) -> Bottleneck:
    """Return the bottleneck of a placement at its worst rate, from loads at the offered rate."""
    placed = at_worst_rate(placement)
    flow = compiled(placed.problem).flow
    own = own_utilisations(flow, placed.devices)
    return bottleneck_at(placed.problem, *utilisations(flow, placed.devices), own)


def bound(problem: Problem, limit: float | None = None) -> float:
    """Return the upper bound on `throughput` that is printed, in tuples/s.

    It respects the target utilisation; see `ThroughputEvaluator.least_utilisation`.

    Parameters
    ----------
    limit
        The time limit in seconds that was stated for a search, if there was one. With little time,
        only what contraction and minimum cuts prove counts.
    """
    scored = throughput_evaluator(problem)
    if limit is None or limit >= WHOLE_BOUND_S:
        return scored.bound
    least = scored.throughput_bounds.by_parts * compiled(problem).instance.reference
    return problem.source_rate / max(1.0, least)


def ceiling(problem: Problem) -> float:
    """Return the quick upper bound on throughput at any source rate, in tuples/s.

    It is inf if the graph loads no device or link; see `ThroughputEvaluator.least_utilisation`.
    """
    lowest = throughput_evaluator(problem).least_utilisation
    return problem.source_rate / lowest if lowest else inf


def max_source_rate(problem: Problem, devices: Ints) -> float | None:
    """Return the source rate, in tuples/s, at which a placement's first device or link is full.

    Loads are those of ``bottleneck``, and full means at the target utilisation. The result is None
    if the placement loads nothing, or so little that no rate fills anything, and for custom
    objectives.

    Parameters
    ----------
    devices
        (V,) device index of each operator.
    """
    if not problem.objective.follows_loads:
        return None
    worst = float(worst_utilisation(flow(problem), devices)[0])
    return finite_ratio(problem.source_rate, worst)


def finite_ratio(limit: float, used: float) -> float | None:
    """Return the quotient of two numbers; None if it is infinite."""
    ratio = limit / used if used else inf
    return ratio if isfinite(ratio) else None
