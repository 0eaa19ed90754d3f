"""Instances of parallel operators: their indices, devices, and rules that keep them together."""

import re
from dataclasses import replace

from streamplace.errors import ProblemError
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.placement import Placement

PART_OF_SINK = re.compile(r"(.*): (?:Writer|Committer)(#\d+)?", re.DOTALL)


def colocate_instances(graph: StreamGraph, rules: Constraints) -> Constraints:
    """Return the rules with a colocation group for the instances of each operator.

    The writer and the committer of a Flink sink stay together too, as in Flink.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for operator, members in members_of(graph).items():
        sink = PART_OF_SINK.fullmatch(operator)
        key = (sink[1], sink[2] or "") if sink else (operator,)
        groups.setdefault(key, []).extend(graph.names[v] for v in members)
    together = [members for members in groups.values() if len(members) > 1]
    return replace(rules, colocate=[*rules.colocate, *together])


def devices_of_instances(placement: Placement) -> dict[str, list[str]]:
    """Return operator -> the devices of its instances, in the graph's order."""
    names = placement.problem.cluster.names
    return {
        operator: [names[placement.devices[v]] for v in members]
        for operator, members in members_of(placement.problem.graph).items()
    }


def operator_devices(placement: Placement) -> dict[str, str]:
    """Return operator -> the device of all its instances, in the graph's order.

    Raises
    ------
    ProblemError
        If the instances of an operator are on several devices. The message names such operators.
    """
    devices_of = devices_of_instances(placement)
    if split := [operator for operator, on in devices_of.items() if len({*on}) > 1]:
        raise ProblemError(
            f"the format needs whole operators, but instances of {listed(split)} "
            "are on several devices; use place --whole-operators"
        )
    return {operator: on[0] for operator, on in devices_of.items()}


def members_of(graph: StreamGraph) -> dict[str, list[int]]:
    """Return operator -> the indices of its instances; without instances, its own index."""
    found: dict[str, list[int]] = {}
    for v, owner in enumerate(graph.owners):
        found.setdefault(owner, []).append(v)
    return found
