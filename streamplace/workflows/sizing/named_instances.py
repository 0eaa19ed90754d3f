"""Single instances that constraints name, such as ``count[1]``, where numbers are to be chosen."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph

INSTANCE = re.compile(r"(.+)\[(\d+)\]", re.DOTALL)
FEWEST = 2  # instances with numbers in their names; a single one has the operator's name


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
