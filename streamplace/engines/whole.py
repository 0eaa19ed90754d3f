"""Operators placed whole: all instances of one on one device, for engines that know no more."""

from dataclasses import replace

from streamplace.constraints import Constraints
from streamplace.errors import ProblemError
from streamplace.graph import StreamGraph
from streamplace.placement import Placement
from streamplace.validation import listed


def whole_operators(graph: StreamGraph, rules: Constraints) -> Constraints:
    """Return the rules, and that the instances of an operator stay together."""
    groups = [members for members in _instances(graph).values() if len(members) > 1]
    together = [[graph.names[v] for v in members] for members in groups]
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
    for v, name in enumerate(graph.names):
        found.setdefault(graph.instance_of.get(v, name), []).append(v)
    return found
