"""Operators placed whole: all instances of one on one device, for engines that know no more."""

import re
from dataclasses import replace

from streamplace.errors import ProblemError
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.placement import Placement

PART_OF_SINK = re.compile(r"(.*): (?:Writer|Committer)(#\d+)?", re.DOTALL)


def colocate_instances(graph: StreamGraph, rules: Constraints) -> Constraints:
    """Return the rules, and that the instances of an operator stay together.

    So do the writer and the committer that Flink makes of one sink, and does not part.
    """
    whole: dict[tuple[str, ...], list[str]] = {}
    for operator, members in _instances(graph).items():
        sink = PART_OF_SINK.fullmatch(operator)
        key = (sink[1], sink[2] or "") if sink else (operator,)
        whole.setdefault(key, []).extend(graph.names[v] for v in members)
    together = [members for members in whole.values() if len(members) > 1]
    return replace(rules, colocate=[*rules.colocate, *together])


def placed_whole(placement: Placement) -> dict[str, str]:
    """Return operator -> device, the instances of an operator as one, in the graph's order.

    Raises
    ------
    ProblemError
        If the instances of an operator are on several devices; names all such operators.
    """
    devices, names = placement.devices, placement.problem.cluster.names
    on = {
        operator: {names[devices[v]]: None for v in members}
        for operator, members in _instances(placement.problem.graph).items()
    }
    if split := [operator for operator, several in on.items() if len(several) > 1]:
        raise ProblemError(
            f"the engine places whole operators, but instances of {listed(split)} "
            "are on several devices; place --whole-operators avoids it"
        )
    return {operator: next(iter(device)) for operator, device in on.items()}


def _instances(graph: StreamGraph) -> dict[str, list[int]]:
    """Return operator -> the indices of its instances, or its own if it has none."""
    found: dict[str, list[int]] = {}
    for v, owner in enumerate(graph.owners):
        found.setdefault(owner, []).append(v)
    return found
