"""The result of a size from what was found."""

from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import instance_names
from streamplace.problem.objective import Throughput
from streamplace.problem.placement import Placement
from streamplace.scoring.throughput import simulate
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
