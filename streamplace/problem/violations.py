"""The rules that a placement violates, each with its name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from streamplace.display.view import Grid
from streamplace.problem.device_kinds import why_not
from streamplace.problem.graph_checks import listed
from streamplace.problem.placement import Placement
from streamplace.problem.rules import Rule


@dataclass(frozen=True)
class Violation:
    """A rule that a placement violates.

    Parameters
    ----------
    why
        What the placement does instead.
    """

    rule: Rule
    why: str

    def to_dict(self) -> dict[str, str]:
        """Return the violation as `explain --json` prints it."""
        return {"rule": str(self.rule), "why": self.why}


def violations(placement: Placement) -> Iterator[Violation]:
    """Yield every rule that a placement violates, in the order of the constraints' fields.

    Labels, kinds of devices, memory, slots and resources follow after the constraints.
    """
    if placement.problem.feasibility.violation(placement.devices) is None:
        return
    rules, on = placement.problem.constraints, placement.assignment
    for operator, device in rules.pins.items():
        if on[operator] != device:
            why = f"{operator!r} is on {on[operator]!r} instead of {device!r}"
            yield Violation(Rule("pins", operator), why)
    for operator, devices in rules.allowed.items():
        if on[operator] not in devices:
            why = f"{operator!r} is on {on[operator]!r}, allowed are {listed(devices)}"
            yield Violation(Rule("allowed", operator), why)
    for i, group in enumerate(rules.colocate):
        if len(used := list(dict.fromkeys(on[name] for name in group))) > 1:
            yield Violation(Rule("colocate", i), f"{listed(group)} are on {listed(used)}")
    for i, group in enumerate(rules.exlocate):
        if shared := _sharing([(on[name], name) for name in dict.fromkeys(group)]):
            yield Violation(Rule("exlocate", i), "; ".join(shared))
    number = dict(zip(placement.problem.cluster.names, _groups(placement), strict=True))
    for i, group in enumerate(rules.apart_groups):
        if shared := _sharing([(number[on[name]], name) for name in dict.fromkeys(group)]):
            yield Violation(Rule("apart_groups", i), "; ".join(shared))
    yield from _of_labels(placement)
    yield from _of_kinds(placement)
    yield from _of_limits(placement)


def _groups(placement: Placement) -> list[str]:
    """Return the group of each device, or its own name where it is in none, (D,)."""
    return [each.group or each.name for each in placement.problem.cluster.devices]


def _sharing(places: list[tuple[str, str]]) -> list[str]:
    """Return which operators share a place, as text, from pairs of place and operator."""
    at: dict[str, list[str]] = {}
    for place, operator in places:
        at.setdefault(place, []).append(operator)
    return [f"{listed(here)} share {place!r}" for place, here in at.items() if len(here) > 1]


def _of_labels(placement: Placement) -> Iterator[Violation]:
    graph, devices = placement.problem.graph, placement.problem.cluster.devices
    for v, labels in graph.requires.items():
        device = devices[placement.devices[v]]
        if missing := [label for label in labels if label not in device.labels]:
            why = f"{graph.names[v]!r} is on {device.name!r}, which lacks {listed(missing)}"
            yield Violation(Rule("requires", graph.names[v]), why)


def _of_kinds(placement: Placement) -> Iterator[Violation]:
    graph, devices = placement.problem.graph, placement.problem.cluster.devices
    for v in graph.seconds_on:
        device = devices[placement.devices[v]]
        if reason := why_not(graph, v, [device]):
            why = f"{graph.names[v]!r} is on {device.name!r}, but {reason}"
            yield Violation(Rule("seconds_on", graph.names[v]), why)


def _of_limits(placement: Placement) -> Iterator[Violation]:
    names = placement.problem.cluster.names
    for limit in placement.problem.feasibility.limits:
        used = np.bincount(placement.devices, limit.of_operators, len(names))
        for d in np.flatnonzero(used > limit.room):
            why = f"it needs {limit.available(used[d])} but has {limit.available(limit.room[d])}"
            yield Violation(Rule(limit.kind, names[d], limit.resource), why)


def violation_grid(found: Sequence[Violation]) -> Grid:
    """Return a table of violated rules."""

    def row(i: int) -> tuple[str, str]:
        return str(found[i].rule), found[i].why

    return Grid(
        ("violated rule", "found"), len(found), row, names=(0, 1), left_out="and {} more violated"
    )
