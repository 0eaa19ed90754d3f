"""Parallel operators as their instances."""

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import GraphError
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import without_any
from streamplace.problem.logical import Distribution, Grouped, LogicalGraph, Way, instance_names
from streamplace.util.arrays import Floats

MOST_INSTANCES = 1_000_000
MOST_STREAMS = 5_000_000

Rule = TypeVar("Rule")
Ints = NDArray[np.integer]
Instances = Mapping[str, Sequence[str]]


def to_instances(job: LogicalGraph) -> StreamGraph:
    """Return the job's graph with every operator of parallelism p > 1 as p instances.

    Instances are called ``operator[0]``, ``operator[1]``, … and remember their operator. Numbers of
    a tuple and memory are those of their operator; a stream's tuples are divided as its
    distribution says. Constraints on an operator hold for its instances; its pin is that of all.

    Raises
    ------
    GraphError
        If there would be more than a million instances, or five million streams between them; on a
        parallelism that a stream's groups do not divide; and if an instance is
        called as another operator.
    """
    graph = job.graph
    count = _counts(job)
    if (count == 1).all():
        return graph
    first = np.cumsum(count) - count  # of each operator's instances
    owner = np.repeat(np.arange(len(count)), count)
    instances = {
        name: instance_names(name, p) for name, p in zip(graph.names, count.tolist(), strict=True)
    }
    names = [name for several in instances.values() for name in several]
    share = graph.source_share / count
    ends, stream, part = _streams(job, count, first)
    return StreamGraph.from_columns(
        names,
        graph.instructions[owner],
        graph.payload_bytes[owner],
        ends,
        memory_bytes=graph.memory_bytes[owner],
        requires={
            i: graph.requires[v] for i, v in enumerate(owner.tolist()) if v in graph.requires
        },
        instance_of=_owners(graph, count, owner),
        selectivity=graph.selectivity[stream] * part,
        stream_payload_bytes=graph.stream_payload_bytes[stream],
        name=graph.name,
        source_rate=graph.source_rate,
        source_shares={  # instances that nobody feeds get nothing: those beyond the first
            names[i]: float(share[owner[i]]) for i in without_any(len(names), ends[:, 1])
        },
        constraints=_constraints(job, instances),
    )


def to_operators(job: LogicalGraph) -> StreamGraph:
    """Return the job's graph, every operator one however parallel it is.

    Its memory is that of all its instances; other numbers are of a tuple and stay.

    Raises
    ------
    GraphError
        If memory overflows.
    """
    count = _counts(job)
    if not (job.graph.memory_bytes[count > 1]).any():
        return job.graph
    with np.errstate(over="ignore"):  # the graph refuses infinity
        graph, _ = job.graph.with_numbers(memory_bytes=job.graph.memory_bytes * count)
    return graph


def _counts(job: LogicalGraph) -> Ints:
    """Return the number of instances of each operator, (V,)."""
    count = [job.parallelism.get(name, 1) for name in job.graph.names]
    if sum(count) > MOST_INSTANCES:
        raise GraphError(f"more than {MOST_INSTANCES:,} instances of operators; --fold makes none")
    return np.array(count, dtype=np.int32)


def _owners(graph: StreamGraph, count: Ints, owner: Ints) -> dict[int, str]:
    """Return instance -> its operator, for all that are one of several or were told to be one."""
    return {
        i: graph.names[v] if count[v] > 1 else graph.instance_of[v]
        for i, v in enumerate(owner.tolist())
        if count[v] > 1 or v in graph.instance_of
    }


def _streams(job: LogicalGraph, count: Ints, first: Ints) -> tuple[NDArray[np.int32], Ints, Floats]:
    """Return the streams between instances: ends (E, 2), which stream each is of, its share."""
    how = job.stream_distributions
    graph = job.graph
    of_source = count[graph.stream_source].tolist()
    of_target = count[graph.stream_target].tolist()
    if sum(map(_number, how, of_source, of_target)) > MOST_STREAMS:
        raise GraphError(f"more than {MOST_STREAMS:,} streams between instances; --fold makes none")
    ends = [np.empty((0, 2), dtype=np.int32)]
    shares = [np.empty(0)]
    for e, (u, v) in enumerate(zip(graph.stream_source, graph.stream_target, strict=True)):
        a, b, share = _pairs(how[e], of_source[e], of_target[e])
        ends.append(np.stack([first[u] + a, first[v] + b], axis=1).astype(np.int32))
        shares.append(share)
    sizes = [len(some) for some in shares[1:]]
    return np.concatenate(ends), np.repeat(np.arange(len(sizes)), sizes), np.concatenate(shares)


def _number(how: Way, sources: int, targets: int) -> int:
    """Return how many streams `_pairs` makes."""
    if isinstance(how, Grouped):
        return sources * targets // how.groups
    if how is Distribution.FIRST:
        return sources
    if how is Distribution.POINTWISE:
        return max(sources, targets)
    return sources * targets


def _pairs(how: Way, sources: int, targets: int) -> tuple[Ints, Ints, Floats]:
    """Return which instance feeds which, and the share of its tuples that goes there."""
    if isinstance(how, Grouped):
        return _in_groups(how, sources, targets)
    if how is Distribution.FIRST:
        return np.arange(sources), np.zeros(sources, dtype=np.int32), np.ones(sources)
    if how is Distribution.POINTWISE and sources >= targets:
        a = np.arange(sources)
        return a, ((a + 1) * targets - 1) // sources, np.ones(sources)
    if how is Distribution.POINTWISE:
        b = np.arange(targets)
        a = b * sources // targets
        return a, b, 1.0 / np.bincount(a)[a]
    return _in_groups(Grouped(1, targets if how is Distribution.BROADCAST else 1), sources, targets)


def _in_groups(how: Grouped, sources: int, targets: int) -> tuple[Ints, Ints, Floats]:
    if sources % how.groups or targets % how.groups:
        raise GraphError(f"{how.groups} groups divide no {sources} and {targets} instances")
    of_source, of_target = sources // how.groups, targets // how.groups
    a = np.repeat(np.arange(sources), of_target)
    b = a // of_source * of_target + np.tile(np.arange(of_target), sources)
    return a, b, np.full(len(a), how.copies / of_target)


def _constraints(job: LogicalGraph, instances: Instances) -> Constraints:
    rules = job.graph.constraints
    by_channel = {tuple(group) for group in job.by_channel}
    return Constraints(
        pins=_each(rules.pins, instances),
        colocate=[
            together
            for group in rules.colocate
            for together in _together(group, instances, tuple(group) in by_channel)
        ],
        exlocate=[apart for group in rules.exlocate for apart in _apart(group, instances)],
        allowed=_each(rules.allowed, instances),
    )


def _each(rule_of: Mapping[str, Rule], instances: Instances) -> dict[str, Rule]:
    return {
        name: rule
        for operator, rule in rule_of.items()
        for name in instances.get(operator, [operator])
    }


def _together(group: Sequence[str], instances: Instances, by_channel: bool) -> list[list[str]]:
    """Return the groups that keep operators together: all their instances, or those of a number."""
    several = [instances.get(operator, [operator]) for operator in group]
    if by_channel:
        return [list(names) for names in zip(*several, strict=True)]
    return [[name for names in several for name in names]]


def _apart(group: Sequence[str], instances: Instances) -> list[list[str]]:
    """Return the groups that keep operators apart, but not the instances of one."""
    several = [instances.get(operator, [operator]) for operator in group]
    if all(len(names) == 1 for names in several):
        return [list(group)]
    return [list(pair) for a, b in combinations(several, 2) for pair in product(a, b)]
