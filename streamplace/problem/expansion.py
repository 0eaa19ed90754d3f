"""Expansion of parallel operators into instances."""

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import GraphError, within
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import indices_not_in
from streamplace.problem.logical import (
    AnyDistribution,
    Distribution,
    GroupedDistribution,
    KeyedDistribution,
    LogicalGraph,
    MeasuredDistribution,
    instance_names,
)
from streamplace.problem.operators import OPERATOR_FIELDS, STREAM_FIELDS, Field
from streamplace.problem.parallelism import even_shares
from streamplace.util.arrays import Floats

MAX_INSTANCES = 1_000_000
MAX_STREAMS = 5_000_000

Rule = TypeVar("Rule")
Ints = NDArray[np.integer]
Instances = Mapping[str, Sequence[str]]


def to_instances(logical: LogicalGraph, *, counted: bool = False) -> StreamGraph:
    """Return the graph in which every operator of parallelism p > 1 is replaced by p instances.

    Instances are called ``operator[0]``, ``operator[1]``, … and refer to their operator. Each has
    the operator's numbers per tuple, its memory and its resources. A stream's distribution divides
    its tuples among the streams between instances. Constraints on an operator, including pins, hold
    for all its instances.

    Parameters
    ----------
    counted
        Whether the graph has to tell that its operators have one instance each, if they all do.
        Each then refers to itself, so that exports state these numbers.

    Raises
    ------
    GraphError
        If there would be more than a million instances or five million streams between them, if a
        stream's groups do not divide a parallelism, or if an instance has the name of another
        operator.
    """
    graph = logical.graph
    count = _counts(logical)
    if (count == 1).all() and (graph.instance_of or not counted):
        return graph
    first = np.cumsum(count) - count  # index of each operator's first instance
    owner = np.repeat(np.arange(len(count)), count)
    instances = {
        name: instance_names(name, p) for name, p in zip(graph.names, count.tolist(), strict=True)
    }
    names = [name for of_operator in instances.values() for name in of_operator]
    share = _source_shares(logical, count)
    ends, stream, part = _streams(logical, count, first)
    return StreamGraph.from_columns(
        names,
        ends=ends,
        **_columns_of_copies(graph, OPERATOR_FIELDS, owner),
        **_columns_of_copies(graph, STREAM_FIELDS, stream, part),
        instance_of=_owners(graph, count, owner),
        name=graph.name,
        source_rate=graph.source_rate,
        source_shares={  # including instances that no stream feeds, whose share is 0
            names[i]: float(share[i]) for i in indices_not_in(len(names), ends[:, 1])
        },
        constraints=constraints_of_instances(graph.constraints, instances, logical.by_channel),
        firing=graph.firing,
        multicast=graph.multicast,
    )


def _columns_of_copies(
    graph: StreamGraph, fields: Sequence[Field], of: Ints, part: Floats | float = 1.0
) -> dict[str, Any]:
    """Return the columns of instances or of the streams between them.

    Parameters
    ----------
    fields
        The fields of operators or streams.
    of
        (I,) index in the graph of the operator or stream that each one comes from.
    part
        (I,) share of each stream in the stream that it comes from.
    """
    found: dict[str, Any] = {}
    for field in fields:
        column = getattr(graph, field.column)
        if field.expansion == "divided":
            found[field.column] = column[of] * part
        elif field.expansion == "copied" and isinstance(column, Mapping):
            found[field.column] = {i: column[v] for i, v in enumerate(of.tolist()) if v in column}
        elif field.expansion == "copied":
            found[field.column] = column[of]
    return found


def _source_shares(logical: LogicalGraph, count: Ints) -> Floats:
    """Return the share of the source rate of each instance, (I,); 0 for those with inputs."""
    graph = logical.graph
    parts = [
        np.array(logical.source_parts.get(name, even_shares(logical.partitions.get(name), p)))
        for name, p in zip(graph.names, count.tolist(), strict=True)
    ]
    found: Floats = np.repeat(graph.source_share, count) * np.concatenate(parts)
    return found


def to_operators(logical: LogicalGraph) -> StreamGraph:
    """Return the graph in which each operator stays one operator, whatever its parallelism.

    An operator's memory, cores and resources are those of all its instances together, but instances
    of a source beyond its partitions use no cores. Its other numbers, which are per tuple, do not
    change.

    Raises
    ------
    GraphError
        If memory or a resource overflows.
    """
    count = _counts(logical)
    if (count == 1).all():
        return logical.graph
    busy = [
        min(number, logical.partitions.get(name, number))
        for name, number in zip(logical.graph.names, count.tolist(), strict=True)
    ]
    graph = logical.graph
    totals: dict[str, Any] = {"cores": graph.cores * np.array(busy, dtype=np.int32)}
    with np.errstate(over="ignore"):  # the graph refuses infinity
        for field in OPERATOR_FIELDS:
            column = getattr(graph, field.column)
            if field.is_total and isinstance(column, Mapping):
                totals[field.column] = {
                    v: {name: amount * float(count[v]) for name, amount in taken.items()}
                    for v, taken in column.items()
                }
            elif field.is_total:
                totals[field.column] = column * count
        return graph.with_numbers(**totals)[0]


def _counts(logical: LogicalGraph) -> Ints:
    """Return the number of instances of each operator, (V,)."""
    count = [logical.parallelism.get(name, 1) for name in logical.graph.names]
    if sum(count) > MAX_INSTANCES:
        raise GraphError(
            f"operators: more than {MAX_INSTANCES:,} instances; "
            "use --fold to keep each operator as one"
        )
    return np.array(count, dtype=np.int32)


def _owners(graph: StreamGraph, count: Ints, owner: Ints) -> dict[int, str]:
    """Return instance -> its operator; an operator that is not parallel keeps `instance_of`.

    If none is parallel, every operator is an instance of itself.
    """
    parallel = count >= min(2, count.max())
    return {
        i: graph.names[v] if parallel[v] else graph.instance_of[v]
        for i, v in enumerate(owner.tolist())
        if parallel[v] or v in graph.instance_of
    }


def _streams(
    logical: LogicalGraph, count: Ints, first: Ints
) -> tuple[NDArray[np.int32], Ints, Floats]:
    """Return the E streams between instances as three arrays.

    These are the ends, (E, 2) indices of instances; the logical streams that they are parts of,
    (E,) indices; and their shares of the logical streams' tuples, (E,).
    """
    distribution = logical.stream_distributions
    graph = logical.graph
    of_source = count[graph.stream_source].tolist()
    of_target = count[graph.stream_target].tolist()
    if sum(map(_number, distribution, of_source, of_target)) > MAX_STREAMS:
        raise GraphError(
            f"streams: more than {MAX_STREAMS:,} between instances; "
            "use --fold to keep each operator as one"
        )
    single = np.array(
        [
            one is Distribution.ALL and p == q == 1
            for one, p, q in zip(distribution, of_source, of_target, strict=True)
        ],
        dtype=np.bool_,
    )
    source, target = graph.stream_source[single], graph.stream_target[single]
    ends = [np.stack([first[source], first[target]], axis=1)]
    shares, of = [np.ones(len(source))], [np.flatnonzero(single)]
    for e in np.flatnonzero(~single).tolist():
        u, v = int(graph.stream_source[e]), int(graph.stream_target[e])
        with within(f"streams: {graph.names[u]!r} -> {graph.names[v]!r}"):
            a, b, share = pairs(distribution[e], of_source[e], of_target[e])
        ends.append(np.stack([first[u] + a, first[v] + b], axis=1))
        shares.append(share)
        of.append(np.full(len(share), e))
    order = np.argsort(stream := np.concatenate(of), kind="stable")
    in_order = np.concatenate(ends).astype(np.int32)[order]
    return in_order, stream[order], np.concatenate(shares)[order]


def _number(distribution: AnyDistribution, sources: int, targets: int) -> int:
    """Return the number of streams that `pairs` returns."""
    if isinstance(distribution, GroupedDistribution):
        return sources * targets // distribution.groups
    if distribution is Distribution.FIRST:
        return sources
    if distribution is Distribution.POINTWISE:
        return max(sources, targets)
    return sources * targets


def pairs(distribution: AnyDistribution, sources: int, targets: int) -> tuple[Ints, Ints, Floats]:
    """Return sources, targets and shares of the streams between the instances of two operators.

    Instances that receive nothing by measured shares keep their streams.
    """
    if isinstance(distribution, KeyedDistribution | MeasuredDistribution):
        if isinstance(distribution, MeasuredDistribution):
            own, used = np.array(distribution.shares), np.ones(targets * sources, bool)
        else:
            own = distribution.shares(targets)
            used = np.tile(own > 0.0, sources)
        a, b = np.divmod(np.arange(sources * targets), targets)
        return a[used], b[used], np.tile(own, sources)[used]
    if isinstance(distribution, GroupedDistribution):
        return _in_groups(distribution, sources, targets)
    if distribution is Distribution.FIRST:
        return np.arange(sources), np.zeros(sources, dtype=np.int32), np.ones(sources)
    if distribution is Distribution.POINTWISE and sources >= targets:
        a = np.arange(sources)
        return a, ((a + 1) * targets - 1) // sources, np.ones(sources)
    if distribution is Distribution.POINTWISE:
        b = np.arange(targets)
        a = b * sources // targets
        return a, b, 1.0 / np.bincount(a)[a]
    return _in_groups(
        GroupedDistribution(1, targets if distribution is Distribution.BROADCAST else 1),
        sources,
        targets,
    )


def _in_groups(
    distribution: GroupedDistribution, sources: int, targets: int
) -> tuple[Ints, Ints, Floats]:
    if sources % distribution.groups or targets % distribution.groups:
        raise GraphError(
            f"cannot divide {sources} source and {targets} target instances into "
            f"{distribution.groups} equal groups"
        )
    of_source, of_target = sources // distribution.groups, targets // distribution.groups
    a = np.repeat(np.arange(sources), of_target)
    b = a // of_source * of_target + np.tile(np.arange(of_target), sources)
    return a, b, np.full(len(a), distribution.copies / of_target)


def constraints_of_instances(
    rules: Constraints, instances: Instances, by_channel: Sequence[Sequence[str]]
) -> Constraints:
    """Return constraints on operators as constraints on their instances.

    A pin or a list of allowed devices of an instance counts more than that of its operator. The
    result knows what was stated, unless `equal_counts` would keep other instances together.

    Parameters
    ----------
    instances
        Operator -> the names of its instances; other operators keep their name.
    by_channel
        See `LogicalGraph`.
    """
    channels = {tuple(group) for group in by_channel}
    made = Constraints(
        pins=_each(rules.pins, instances),
        colocate=[
            together
            for group in rules.colocate
            for together in _together(group, instances, tuple(group) in channels)
        ],
        exlocate=[apart for group in rules.exlocate for apart in _apart(group, instances)],
        allowed=_each(rules.allowed, instances),
        apart_groups=[apart for group in rules.apart_groups for apart in _apart(group, instances)],
    )
    usual = {tuple(group) for group in equal_counts(rules, instances)}
    return made.stated_as(rules) if usual == channels else made


def equal_counts(rules: Constraints, instances: Instances) -> list[Sequence[str]]:
    """Return the ``colocate`` groups whose operators have equally many instances."""
    return [
        group
        for group in rules.colocate
        if len({len(instances.get(name, [name])) for name in group}) == 1
    ]


def _each(rule_of: Mapping[str, Rule], instances: Instances) -> dict[str, Rule]:
    of_operators = {
        name: rule for operator, rule in rule_of.items() for name in instances.get(operator, ())
    }
    return of_operators | {name: rule for name, rule in rule_of.items() if name not in instances}


def _together(group: Sequence[str], instances: Instances, by_channel: bool) -> list[list[str]]:
    """Return the colocation groups: one of all instances, or one per channel (instance number)."""
    groups = [instances.get(operator, [operator]) for operator in group]
    if by_channel:
        return [list(names) for names in zip(*groups, strict=True)]
    return [[name for names in groups for name in names]]


def _apart(group: Sequence[str], instances: Instances) -> list[list[str]]:
    """Return the exlocation groups; instances of one operator may share a device."""
    groups = [instances.get(operator, [operator]) for operator in group]
    if all(len(names) == 1 for names in groups):
        return [list(group)]
    return [list(pair) for a, b in combinations(groups, 2) for pair in product(a, b)]
