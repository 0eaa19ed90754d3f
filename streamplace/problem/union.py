"""Several jobs as one graph, so that constraints and limits of devices hold for all together.

Operators are called ``job/operator``. Loads of devices and links are those of the single graphs; a
graph whose operators take a tuple from each input becomes one in which flows add up.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.graph_checks import Multicast
from streamplace.problem.jobs import Jobs
from streamplace.problem.objective import MIN_VALUE


def union_graph(jobs: Jobs, rates: Sequence[float], *, stated: bool = False) -> StreamGraph:
    """Return the graph of all jobs at source rates in tuples/s, with the constraints of all.

    The graph is in the order of the jobs. If its jobs share messages in different ways (multicast),
    each stream has its own messages.

    Parameters
    ----------
    stated
        Keep operators with several instances, which state their numbers.

    Raises
    ------
    GraphError
        If the rates do not fit the jobs.
    """
    operators, streams, offered = list[Operator](), list[Stream](), dict[str, float]()
    for job, rate in zip(jobs, rates, strict=True):
        own = job.stated.graph if stated else job.graph
        graph, prefix = _with_adding_flows(own), f"{job.name}/"
        operators += [_renamed(operator, prefix) for operator in graph.operators]
        streams += [
            replace(s, source=prefix + s.source, target=prefix + s.target) for s in graph.streams
        ]
        joins = own.firing == "all"  # each source then has the whole rate
        for v in graph.sources.tolist():
            offered[prefix + graph.names[v]] = rate * (
                1.0 if joins else float(graph.source_share[v])
            )
    total = sum(offered.values())
    union = StreamGraph(
        operators,
        streams,
        name=" + ".join(jobs.names),
        source_rate=max(total, MIN_VALUE),
        source_shares={name: rate / total for name, rate in offered.items()} if total else None,
        constraints=_constraints(jobs, stated=stated),
        multicast=shared_multicast(jobs) or "none",
    )
    union.stated_cores = frozenset(
        f"{job.name}/{operator}" for job in jobs for operator in job.graph.stated_cores
    )
    return union


def shared_multicast(jobs: Jobs) -> Multicast | None:
    """Return how the streams of all jobs share messages; None if the jobs differ."""
    kinds = {job.graph.multicast for job in jobs}
    return kinds.pop() if len(kinds) == 1 else None


def _renamed(operator: Operator, prefix: str) -> Operator:
    owner = prefix + operator.instance_of if operator.instance_of else ""
    return replace(operator, name=prefix + operator.name, instance_of=owner)


def _with_adding_flows(graph: StreamGraph) -> StreamGraph:
    """Return a graph with the same loads whose flows add up at joins.

    An operator with n inputs then processes n tuples for each one that it emits, so each takes 1/n
    of its instructions or time, and there is 1/n of a tuple on each of its streams.
    """
    if graph.firing != "all":
        return graph
    inputs = Counter(stream.target for stream in graph.streams)
    operators = [_divided(operator, inputs[operator.name] or 1) for operator in graph.operators]
    streams = [
        replace(s, selectivity=1.0 / (inputs[s.source] or 1), selectivity_se=0.0)
        for s in graph.streams
    ]
    return StreamGraph(operators, streams, constraints=graph.constraints)


def _divided(operator: Operator, parts: int) -> Operator:
    seconds = {
        kind: None if time is None else time / parts for kind, time in operator.seconds_on.items()
    }
    return replace(
        operator,
        instructions=operator.instructions / parts,
        instructions_se=operator.instructions_se / parts,
        seconds_on=seconds,
    )


def _constraints(jobs: Jobs, *, stated: bool) -> Constraints:
    """Return the constraints of all jobs, by the names of the union."""
    merged: dict[str, Any] = {}
    for job in jobs:
        graph, rules = job.stated if stated else (job.graph, job.constraints)
        rules = graph.constraints if rules is None else Constraints.of(rules)
        for field in fields(rules):
            value = getattr(rules, field.name)
            if isinstance(value, Mapping):
                more = {f"{job.name}/{name}": devices for name, devices in value.items()}
                merged[field.name] = merged.get(field.name, {}) | more
            else:
                groups = [[f"{job.name}/{name}" for name in group] for group in value]
                merged[field.name] = [*merged.get(field.name, []), *groups]
    return Constraints(**merged)
