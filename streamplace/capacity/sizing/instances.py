"""Instances that constraints name, and operators whose numbers of instances are equal."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.util.groups import connected_groups

INSTANCE = re.compile(r"(.+)\[(\d+)\]", re.DOTALL)
FEWEST = 2  # instances with numbers in their names; a single one has the operator's name
FORWARD = "forward"


def named_instances(graph: StreamGraph, constraints: Constraints) -> dict[str, tuple[int, str]]:
    """Return operator -> the least number of instances for which all names exist, and a name.

    Parameters
    ----------
    graph
        A graph whose operators may state numbers of instances.
    """
    found: dict[str, tuple[int, str]] = {}
    for name in _names(constraints):
        match = None if name in graph.index else INSTANCE.fullmatch(name)
        if match is not None and match[1] in graph.index:
            least = max(int(match[2]) + 1, FEWEST)
            found[match[1]] = max(found.get(match[1], (0, "")), (least, name))
    return found


def of_whole_operators(constraints: Constraints, graph: StreamGraph) -> Constraints:
    """Return what constraints say about the operators of a graph, without single instances."""

    def known(groups: Iterable[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
        kept = (tuple(name for name in group if name in graph.index) for group in groups)
        return tuple(group for group in kept if len(group) > 1)

    return replace(
        constraints,
        pins={v: d for v, d in constraints.pins.items() if v in graph.index},
        allowed={v: d for v, d in constraints.allowed.items() if v in graph.index},
        colocate=known(map(tuple, constraints.colocate)),
        exlocate=known(map(tuple, constraints.exlocate)),
        apart_groups=known(map(tuple, constraints.apart_groups)),
    )


def _names(constraints: Constraints) -> Iterator[str]:
    yield from constraints.pins
    yield from constraints.allowed
    for groups in (constraints.colocate, constraints.exlocate, constraints.apart_groups):
        for group in groups:
            yield from group


def tasks_of(graph: StreamGraph, colocate: Iterable[Sequence[str]]) -> list[list[int]]:
    """Return the groups of operators that must have equal numbers, as sorted indices.

    They are the groups of ``colocate`` within which all streams are ``forward``, such as the nodes
    of a sub-topology of Kafka Streams, which one task per partition runs, or a chain of Flink. With
    unequal numbers, no stream would lead from an instance to the one of its number, and all
    instances would have to share one device. Groups that have operators in common are one task.
    """
    ends = list(zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True))
    found: list[set[int]] = []
    for names in colocate:
        members = {graph.index[name] for name in names if name in graph.index}
        inside = [e for e, (u, v) in enumerate(ends) if u in members and v in members]
        if len(members) == len(names) and {graph.partitioning.get(e) for e in inside} == {FORWARD}:
            found.append(members)
    return [sorted(members) for members in connected_groups(found)]
