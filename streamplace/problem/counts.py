"""Numbers of instances: graphs whose operators state them, and their expansion into instances."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from streamplace.errors import GraphError
from streamplace.problem.constraints import Constraints
from streamplace.problem.expansion import (
    constraints_of_instances,
    equal_counts,
    to_instances,
    to_operators,
)
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import (
    AnyDistribution,
    Distribution,
    KeyedDistribution,
    LogicalGraph,
    MeasuredDistribution,
    default_groups,
    instance_names,
    most_instances,
)
from streamplace.problem.operators import COUNTS
from streamplace.problem.parallelism import (
    FLINK,
    FREE,
    MAX_PARALLELISM,
    NO_SCALING,
    NO_SHARES,
    KeyShares,
    Partitions,
)

FormName = Literal["instances", "folded", "logical"]
FORMS: tuple[FormName, ...] = get_args(FormName)
"""How parallel operators become operators of a graph: one for each instance, one with the total
memory of its instances, or one that states its number of instances."""
DISTRIBUTIONS: Mapping[str, AnyDistribution] = {
    "forward": Distribution.POINTWISE,
    "rebalance": Distribution.ALL,
    "rescale": Distribution.POINTWISE,
    "broadcast": Distribution.BROADCAST,
}
"""The distribution of each partitioning but ``hash``."""
SLIGHT = 0.005  # part of the mean by which the busiest instance may differ without a note
ONE_KEY = {"(first instance)": 1.0}
"""The shares of keys of `FIRST`: one instance receives everything, however many there are."""


def stated_count(graph: StreamGraph, v: int) -> int | None:
    """Return the number of instances of an operator; None if it is free.

    Raises
    ------
    GraphError
        If it is beyond its limits.
    """
    stated = graph.parallelism.get(v)
    if stated == FREE:
        return None
    count = 1 if stated is None else int(stated)
    least, most = _limits(graph, v)
    if stated is not None and not least <= count <= most:
        expected = f"parallelism must be {least:,} to {most:,} (got {count:,})"
        known = graph.partitions.get(v)
        why = " because of its partitions" if known and most == most_instances(known) else ""
        raise GraphError(f"operator {graph.names[v]!r}: {expected}{why}")
    return count


def limits_of_count(graph: StreamGraph, v: int) -> tuple[int, int]:
    """Return the smallest and the largest number of instances to choose for an operator.

    A source may have more instances than partitions, but they would be idle.

    Raises
    ------
    GraphError
        If the first is above the second.
    """
    least, most = _limits(graph, v)
    if v in graph.partitions and is_source(graph, v):
        most = min(most, max(least, most_instances(graph.partitions[v])))
    return least, most


def _limits(graph: StreamGraph, v: int) -> tuple[int, int]:
    """Return the smallest and the largest number of instances that an operator may have."""
    least = graph.min_parallelism.get(v, 1)
    own = {"max_parallelism": graph.max_parallelism.get(v)}
    if v in graph.partitions and has_keys(graph, v):
        own["partitions"] = most_instances(graph.partitions[v])
    stated = {name: most for name, most in own.items() if most is not None}
    if not stated:
        return least, MAX_PARALLELISM
    name = min(stated, key=stated.__getitem__)
    if least > stated[name]:
        expected = f"min_parallelism must be at most {name}, {stated[name]:,} (got {least:,})"
        raise GraphError(f"operator {graph.names[v]!r}: {expected}")
    return least, stated[name]


def is_source(graph: StreamGraph, v: int) -> bool:
    """Return whether an operator has no inputs."""
    return not (graph.stream_target == v).any()


def has_keys(graph: StreamGraph, v: int) -> bool:
    """Return whether an operator has a ``hash`` stream into it."""
    into = np.flatnonzero(graph.stream_target == v).tolist()
    return any(graph.partitioning.get(e) == "hash" for e in into)


def expanded(graph: StreamGraph, counts: Mapping[str, int] | None = None) -> StreamGraph:
    """Return a graph of instances, ``name[0]``, ``name[1]``, …, with the stated numbers of them.

    A graph that says nothing about numbers of instances is returned as it is. If each number is 1,
    and the graph or `counts` states one, every operator is an instance of itself. See
    `to_instances`.

    Parameters
    ----------
    counts
        Operator -> number of instances, which replace stated ones.

    Raises
    ------
    GraphError
        As `logical_of` does, or if there are too many instances or streams.
    """
    if counts is None and not graph.states_counts:
        return graph
    stated = counts is not None or bool(graph.parallelism)
    instances = to_instances(logical_of(graph, counts), counted=stated)
    if counts is None:
        instances.file = graph.file
    return instances


def logical_of(graph: StreamGraph, counts: Mapping[str, int] | None = None) -> LogicalGraph:
    """Return a graph with numbers of instances as a logical graph.

    The instructions and times of an operator are those of one of its instances, with the cost of
    its scaling. A ``colocate`` group of operators with equally many instances keeps instances of
    the same number together; other groups keep all instances together. A ``forward`` stream between
    unequal numbers of instances is evened out, as by ``rebalance``.

    Parameters
    ----------
    counts
        See `expanded`.

    Raises
    ------
    GraphError
        If a number is free, or beyond its limits, or above 1 in a graph whose operators take a
        tuple from each of their inputs: instances would not divide the work.
    """
    found = _counts(graph, counts or {})
    numbers = [found[name] for name in graph.names]
    if graph.firing == "all" and max(numbers) > 1:
        raise GraphError(
            "operators: parallelism must be 1 where operators take a tuple from each of their "
            'inputs; use firing "each"'
        )
    cost = np.array(
        [graph.scaling.get(v, NO_SCALING).cost(count) for v, count in enumerate(numbers)]
    )
    nothing: dict[str, Any] = {name: {} for name in COUNTS}
    plain, before = graph.with_numbers(
        instructions=graph.instructions * cost,
        instructions_se=graph.instructions_se * cost,
        seconds_on={
            v: {kind: None if s is None else s * cost[v] for kind, s in seconds.items()}
            for v, seconds in graph.seconds_on.items()
        },
        **nothing,
    )
    distributions: dict[tuple[str, str], list[AnyDistribution]] = {}
    pairs = zip(plain.stream_source.tolist(), plain.stream_target.tolist(), strict=True)
    for (source, target), e in zip(pairs, before.tolist(), strict=True):
        if numbers[target] > 1:  # a single instance receives everything
            distributions.setdefault((graph.names[source], graph.names[target]), []).append(
                _distribution(graph, e, target, equal=numbers[source] == numbers[target])
            )
    sources = {graph.names[v] for v in graph.sources.tolist()}
    return LogicalGraph(
        plain,
        {name: count for name, count in found.items() if count > 1},
        distributions,
        partitions={
            graph.names[v]: most_instances(stated)
            for v, stated in graph.partitions.items()
            if graph.names[v] in sources
        },
        by_channel=equal_counts(
            graph.constraints,
            {name: instance_names(name, count) for name, count in found.items() if count > 1},
        ),
    )


def for_instances(graph: StreamGraph, constraints: Constraints) -> Constraints:
    """Return constraints that may name operators as constraints on a graph's instances of them.

    What constraints on the instances of another graph were stated as is forgotten.
    """
    if constraints.stated is not constraints:
        found = for_instances(graph, constraints.stated)
        return found if found == constraints else for_instances(graph, replace(constraints))
    if not graph.instances:
        return constraints
    by_channel = equal_counts(constraints, graph.instances)
    return constraints_of_instances(constraints, graph.instances, by_channel)


def _counts(graph: StreamGraph, counts: Mapping[str, int]) -> dict[str, int]:
    """Return the number of instances of each operator."""
    if unknown := [name for name in counts if name not in graph.index]:
        raise GraphError(f"counts: unknown operator {unknown[0]!r}")
    found = {name: counts.get(name) or stated_count(graph, v) for v, name in enumerate(graph.names)}
    if free := [name for name, count in found.items() if count is None]:
        raise GraphError(
            f"operators: parallelism of {listed(free)} is free; run `streamplace size`, or sp.size "
            "in Python, which chooses it"
        )
    return {name: count for name, count in found.items() if count is not None}


def _distribution(graph: StreamGraph, e: int, target: int, *, equal: bool) -> AnyDistribution:
    """Return the distribution of a stream of a graph.

    Parameters
    ----------
    e, target
        The stream, and the operator that it leads to.
    equal
        Whether both operators have the same number of instances.
    """
    kind = graph.partitioning.get(e, "rebalance")
    if kind == "hash":
        return KeyedDistribution(graph.partitions.get(target), graph.key_shares.get(e, NO_SHARES))
    if kind == "forward" and not equal:
        return Distribution.ALL
    return DISTRIBUTIONS[kind]


def with_counts(logical: LogicalGraph) -> tuple[StreamGraph, list[str]]:
    """Return a logical graph as a graph that states its numbers of instances.

    Every operator states its number, 1 too, and every stream its partitioning. The largest number
    of an operator with keys is that of its key groups. Where there is an instance per partition,
    its number is also the least and the largest one. A graph that states numbers itself keeps what
    it states, except for what `logical` has instead.

    Returns
    -------
    graph
        The graph. `expanded` gives the same instances as `to_instances`, except for what the notes
        say.
    notes
        What a graph cannot say, a line each.
    """
    graph = logical.graph
    unstated = None if graph.states_counts else 1
    numbers = [
        logical.parallelism.get(name, graph.parallelism.get(v, unstated))
        for v, name in enumerate(graph.names)
    ]
    kinds, keys, notes = dict(graph.partitioning), dict(graph.key_shares), uneven_notes(logical)
    by_default = set[int]()
    for e, distribution in enumerate(logical.stream_distributions):
        if e in graph.partitioning or (graph.states_counts and distribution is Distribution.ALL):
            continue
        ends = int(graph.stream_source[e]), int(graph.stream_target[e])
        rule = distribution.rule if isinstance(distribution, MeasuredDistribution) else distribution
        kind = _partitioning_of(rule, numbers[ends[0]] == numbers[ends[1]])
        if rule is Distribution.FIRST:
            keys[e] = KeyShares(ONE_KEY)
        if isinstance(rule, KeyedDistribution) and rule.groups == FLINK:
            by_default.add(ends[1])
        if kind is None:
            a, b = (graph.names[v] for v in ends)
            notes.append(f"stream {a!r} -> {b!r}: its partitioning is not kept; it is evened out")
        kinds[e] = kind or "rebalance"
    by_channel = {tuple(group) for group in logical.by_channel}
    for group in graph.constraints.colocate:
        counts = {logical.parallelism.get(name, 1) for name in group}
        if (tuple(group) in by_channel) != (len(counts) == 1) and counts != {1}:
            how = "number by number" if len(counts) == 1 else "all together"
            notes.append(f"constraints: instances of {listed(group)} are kept together {how}")
    keyed = {int(graph.stream_target[e]) for e, kind in kinds.items() if kind == "hash"}
    largest = {graph.index[name]: count for name, count in logical.max_parallelism.items()}
    partitions: dict[int, Partitions] = dict(graph.partitions) | dict.fromkeys(by_default, FLINK)
    partitions |= {graph.index[name]: count for name, count in logical.partitions.items()}
    fixed = {graph.index[name]: count for name, count in _counts_of_partitions(logical).items()}
    stated, _ = graph.with_numbers(
        parallelism={
            v: FREE if graph.names[v] in logical.open_counts else count
            for v, count in enumerate(numbers)
            if count is not None
        },
        min_parallelism=dict(graph.min_parallelism) | fixed,
        max_parallelism=dict(graph.max_parallelism)
        | fixed
        | {v: n for v, n in largest.items() if v not in keyed},
        partitions=partitions | {v: n for v, n in largest.items() if v in keyed},
        partitioning=kinds,
        key_shares=keys,
    )
    return stated, notes


def in_form(logical: LogicalGraph, form: FormName) -> tuple[StreamGraph, list[str]]:
    """Return the graph of a logical graph in a form, and lines on what the form does not keep."""
    groups, open_ones = key_group_notes(logical, form), sorted(logical.open_counts)
    if form == "logical":
        graph, notes = with_counts(logical)
        return graph, [*notes, *groups]
    if open_ones:
        why = (
            "the file does not state how many partitions they read"
            if logical.per_partition
            else "the file leaves the number of instances open, as Flink's plans do by parallelism "
            "-1 where its adaptive batch scheduler chooses it"
        )
        what = "partitions" if logical.per_partition else "parallelism"
        groups.append(
            f"{listed(open_ones)}: {why}, so 1 counts; set {what} in a costs file, or let size "
            "choose it by --logical, or form='logical' of read_job"
        )
    if form == "folded":
        return to_operators(logical), [*uneven_notes(logical), *groups]
    return to_instances(logical), groups


def key_group_notes(logical: LogicalGraph, form: FormName) -> list[str]:
    """Return a line on numbers of key groups that are Flink's default, where that matters."""
    counts, busiest = dict[str, int](), dict[str, float]()
    for stream, kind in zip(logical.graph.streams, logical.stream_distributions, strict=True):
        count = logical.parallelism.get(stream.target, 1)
        if not isinstance(kind, KeyedDistribution) or kind.groups != FLINK:
            continue
        factor = float(kind.shares(count).max()) * count
        if form == "logical" or factor > 1.0 + SLIGHT:
            counts[stream.target], busiest[stream.target] = count, factor
    if not counts:
        return []
    name = max(busiest, key=lambda each: (busiest[each], counts[each]))
    worst = ""
    if busiest[name] > 1.0 + SLIGHT:
        groups, count = default_groups(counts[name]), counts[name]
        worst = f", {groups:,} for {count:,} instances of {name!r}, whose busiest has "
        worst += f"{busiest[name]:.3g} times the mean"
    kept = ", which only a graph of instances keeps" if form == "folded" else ""
    return [
        f"{listed(list(counts))}: no maximum parallelism is known, so Flink's default numbers of "
        f"key groups count{worst}{kept}; set partitions in a costs file where the job, or the "
        "state that it starts from, has others"
    ]


def uneven_notes(logical: LogicalGraph) -> list[str]:
    """Return a line for each operator whose measured shares only a graph of instances keeps."""
    return [
        f"operator {name!r}: one of its {len(shares)} instances has {max(shares):.0%} of its "
        "tuples, which only a graph of instances keeps; streams have key_shares for frequent keys"
        for name, shares in sorted(logical.measured_shares.items())
    ]


def _counts_of_partitions(logical: LogicalGraph) -> dict[str, int]:
    """Return operator -> its number of instances, where that is a number of partitions."""
    count = {name: logical.parallelism.get(name, 1) for name in logical.graph.names}
    known = {name for name in count if count[name] > 1 or name in logical.partitions}
    tasks = [task for task in logical.tasks if logical.per_partition and not known.isdisjoint(task)]
    return {name: count[name] for task in tasks for name in task}


def _partitioning_of(distribution: AnyDistribution, equal: bool) -> str | None:
    """Return the partitioning of a distribution; None if there is none."""
    if isinstance(distribution, KeyedDistribution) or distribution is Distribution.FIRST:
        return "hash"
    if distribution is Distribution.POINTWISE:
        return "forward" if equal else "rescale"
    known = {Distribution.ALL: "rebalance", Distribution.BROADCAST: "broadcast"}
    return known.get(distribution) if isinstance(distribution, Distribution) else None
