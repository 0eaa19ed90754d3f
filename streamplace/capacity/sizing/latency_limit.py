"""Sizes that keep a limit on latency."""

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np

from streamplace.capacity.sizing.result import SIZE, SizeResult
from streamplace.errors import Fault, InfeasibleError, PlacementError, UsageError
from streamplace.latency.limit import LatencyLimit
from streamplace.latency.within_limit import refuse_disproved, within_limit
from streamplace.problem.losses import restricted
from streamplace.problem.placement import Placement
from streamplace.scoring.throughput import simulate

SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
"""Shares of the target utilisation that are tried, since waits become shorter with headroom."""


def sized_within(
    sized: Callable[[float], SizeResult],
    target: float,
    limit: LatencyLimit,
    seed: int,
    seconds: float | None = None,
) -> SizeResult:
    """Return the first size that keeps a limit on latency, with less and less utilisation.

    Each size is one for a lower utilisation than the one before; its placement is improved on the
    devices that it uses. If none keeps the limit, the result is the one of the lowest simulated
    latency.

    Parameters
    ----------
    sized
        Returns the size for a target utilisation.
    seconds
        The time limit of a size; None without one.

    Raises
    ------
    InfeasibleError
        If the first size is infeasible, or provably no placement keeps the limit.
    UsageError
        If there are too many streams between instances to simulate single tuples.
    """
    best: SizeResult | None = None
    for share in SHARES:
        try:
            found = sized(target * share)
        except (InfeasibleError, PlacementError):
            if best is None:
                raise
            break
        if found.placement is None:
            fault = "too many streams between the instances"
            raise UsageError(Fault(fault, place=SIZE, option="--max-latency"))
        problem = found.placement.problem
        refuse_disproved(problem, limit, seed, "size", overloads=False, seconds=seconds)
        found = _improved(found, _at(found.placement, target), limit, seed)
        if best is not None:  # fewer devices than for the utilisation alone never suffice
            found = replace(found, bound=best.bound)
        if best is None or _seconds(found) < _seconds(best):
            best = found
        if found.latency is not None and found.latency.answer == "feasible":
            return found
    assert best is not None, "the first size is found, or an error"
    return best


def _at(placement: Placement, target: float) -> Placement:
    """Return a placement under another target utilisation, at which it is used."""
    problem = placement.problem
    objective = problem.throughput_objective.with_changes(target_utilisation=target)
    return Placement(problem.with_objective(objective), placement.devices)


def _improved(
    found: SizeResult, placement: Placement, limit: LatencyLimit, seed: int
) -> SizeResult:
    """Return a size whose placement keeps the limit if one on the same devices is found."""
    whole = placement.problem
    used = sorted({*placement.devices.tolist()})
    problem = restricted(whole, used)
    start = Placement(problem, np.searchsorted(used, placement.devices).astype(np.int32))
    kept, answer = within_limit(problem, start, limit, seed)
    better = Placement(whole, np.array(used, dtype=np.int32)[kept.devices])
    score = simulate(better)
    return replace(
        found,
        placement=better,
        score=score,
        assignment=dict(better.assignment),
        throughput=score.throughput,
        latency=answer,
    )


def _seconds(found: SizeResult) -> float:
    """Return the simulated latency of a size; inf if it has none."""
    seconds = None if found.latency is None else found.latency.simulated_s
    return inf if seconds is None else seconds
