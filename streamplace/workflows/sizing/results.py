"""The result of a size from what was found, and sizes that keep a limit on latency."""

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np

from streamplace.errors import InfeasibleError, PlacementError, UsageError
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import instance_names
from streamplace.problem.losses import restricted
from streamplace.problem.objective import Throughput
from streamplace.problem.placement import Placement
from streamplace.scoring.throughput import simulate
from streamplace.workflows.latency.limit import LatencyLimit
from streamplace.workflows.latency.within_limit import disproved, within_limit
from streamplace.workflows.sizing.attempts import Task
from streamplace.workflows.sizing.choices import Counts
from streamplace.workflows.sizing.large import Large
from streamplace.workflows.sizing.requirements import Requirement
from streamplace.workflows.sizing.result import Minimise, SizeResult
from streamplace.workflows.sizing.small import Joint


def result_of(
    found: Joint | Large,
    task: Task,
    objective: Throughput,
    minimise: Minimise,
    limits: tuple[Requirement, ...],
    seconds: float,
) -> SizeResult:
    """Return the result at an objective, whose source rate may be lower than the task's."""
    if isinstance(found, Large):
        return _of_large(found, task, objective, minimise, limits, seconds)
    best = found.best
    assert best is not None, "a size that is not found is an error"
    assert best.placement is not None, "and so is one without a placement"
    problem = best.placement.problem.with_objective(objective)
    placement = Placement(problem, best.placement.devices)
    score, names = simulate(placement), task.cluster.names
    return SizeResult(
        parallelism=best.counts,
        graph=with_parallelism(task.graph, best.counts),
        cluster=task.cluster,
        assignment=placement.assignment,
        source_rate=objective.source_rate,
        throughput=score.throughput,
        placement=placement,
        score=score,
        minimise=minimise,
        bound=found.bound,
        limits=limits,
        devices=tuple(names[d] for d in best.devices),
        seconds=seconds,
        survive=task.survive,
    )


def _of_large(
    found: Large,
    task: Task,
    objective: Throughput,
    minimise: Minimise,
    limits: tuple[Requirement, ...],
    seconds: float,
) -> SizeResult:
    names, rate = task.cluster.names, objective.source_rate
    assignment = {
        name: names[d]
        for (operator, count), where in zip(found.counts.items(), found.packed.on, strict=True)
        for name, d in zip(instance_names(operator, count), where.tolist(), strict=True)
    }
    highest = found.packed.loads.largest * rate / task.objective.source_rate
    return SizeResult(
        parallelism=found.counts,
        graph=with_parallelism(task.graph, found.counts),
        cluster=task.cluster,
        assignment=assignment,
        source_rate=rate,
        throughput=rate * min(1.0, objective.target_utilisation / max(highest, 1e-300)),
        placement=None,
        score=None,
        minimise=minimise,
        bound=found.bound,
        limits=limits,
        devices=tuple(names[d] for d in found.packed.devices),
        seconds=seconds,
    )


def with_parallelism(graph: StreamGraph, counts: Counts) -> StreamGraph:
    """Return a graph that states numbers of instances."""
    stated = {graph.index[name]: count for name, count in counts.items()}
    return graph.with_numbers(parallelism=stated)[0]


SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
"""Shares of the target utilisation that are tried, since waits become shorter with headroom."""


def sized_within(
    sized: Callable[[float], SizeResult], target: float, limit: LatencyLimit, seed: int
) -> SizeResult:
    """Return the first size that keeps a limit on latency, with less and less utilisation.

    Each size is one for a lower utilisation than the one before; its placement is improved on the
    devices that it uses. If none keeps the limit, the result is the one of the lowest simulated
    latency.

    Parameters
    ----------
    sized
        Returns the size for a target utilisation.

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
            raise UsageError("size: --max-latency: too many streams between the instances")
        proof = disproved(found.placement.problem, limit)
        if proof is not None and proof.least_s is not None:
            raise InfeasibleError(f"size: latency limit {limit}: {proof.reason}")
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
        assignment=better.assignment,
        throughput=score.throughput,
        latency=answer,
    )


def _seconds(found: SizeResult) -> float:
    """Return the simulated latency of a size; inf if it has none."""
    seconds = None if found.latency is None else found.latency.simulated_s
    return inf if seconds is None else seconds
