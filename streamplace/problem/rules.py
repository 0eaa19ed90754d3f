"""The rules of a problem, each constraint, required label and limit, and what violates them.

A rule of a parallel operator is one rule, as it was stated, for all its instances.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from streamplace.display.view import Grid
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import for_instances
from streamplace.problem.device_kinds import confined, why_not
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.limits import limits_of
from streamplace.problem.operators import Operator
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.seconds import NO_SECONDS

Kind = Literal[
    "pins",
    "allowed",
    "colocate",
    "exlocate",
    "apart_groups",
    "requires",
    "seconds_on",
    "memory",
    "slots",
    "resources",
]
OF_OPERATORS: tuple[Kind, ...] = ("requires", "seconds_on")
LIMITS: tuple[Kind, ...] = ("memory", "slots", "resources")
BY_OPERATOR: tuple[Kind, ...] = ("pins", "allowed")
BY_NUMBER: tuple[Kind, ...] = ("colocate", "exlocate", "apart_groups")


@dataclass(frozen=True)
class Rule:
    """One rule for placements.

    Parameters
    ----------
    kind
        A field of `Constraints`; ``requires``: the labels of one operator or of all its instances;
        ``seconds_on``: the kinds of devices on which it can run; ``memory``, ``slots`` and
        ``resources``: the memory of one device, its slots, and one of its resources.
    key
        Name of the operator or device, or the number of a group in its list.
    resource
        Name of the resource; None for all other kinds.
    """

    kind: Kind
    key: str | int
    resource: str | None = None

    @property
    def limit(self) -> str:
        """The kind, with the resource if there is one."""
        return self.kind if self.resource is None else f"{self.kind}[{self.resource!r}]"

    @property
    def of_constraints(self) -> bool:
        """Whether it is one of the constraints."""
        return self.kind not in (*OF_OPERATORS, *LIMITS)

    def __str__(self) -> str:
        if self.of_constraints:
            return f"constraints.{self.kind}[{self.key!r}]"
        return f"{self.limit} of {self.key}"


class RuledParts(NamedTuple):
    """The parts of a problem that decide which placements are feasible.

    Parameters
    ----------
    constraints
        As they were stated: the name of a parallel operator stands for its instances in the graph.
    """

    graph: StreamGraph
    cluster: Cluster
    constraints: Constraints

    @classmethod
    def of(cls, problem: Problem) -> "RuledParts":
        """Return the parts of a problem."""
        return cls(problem.graph, problem.cluster, problem.constraints.stated)

    def rules(self) -> Iterator[Rule]:
        """Yield all rules: limits, labels, kinds of devices, then constraints as their fields.

        A limit of a device counts only if all operators together could exceed it.
        """
        names = self.cluster.names
        each = np.arange(len(self.graph.names), dtype=np.int32)
        for limit in limits_of(self.graph, self.cluster, each):
            small = np.flatnonzero(limit.room < limit.needs.sum())
            yield from (Rule(limit.kind, names[d], limit.resource) for d in small)
        yield from self._of_operators("requires", self.graph.requires)
        yield from self._of_operators("seconds_on", confined(self.graph, self.cluster))
        for kind in BY_OPERATOR:
            yield from (Rule(kind, name) for name in getattr(self.constraints, kind))
        for kind in BY_NUMBER:
            yield from (Rule(kind, i) for i in range(len(getattr(self.constraints, kind))))

    def _of_operators(self, kind: Kind, which: Iterable[int]) -> Iterator[Rule]:
        owners = self.graph.owners
        yield from (Rule(kind, name) for name in dict.fromkeys(owners[v] for v in which))

    def with_only(self, kept: Collection[Rule]) -> "RuledParts":
        """Return the parts with only some of their rules.

        The operators keep their order and what they take of limits. They have no streams and hardly
        any work, since neither matters to feasibility. Without limits, operators that no rule names
        are left out.
        """
        if any(rule.kind in LIMITS for rule in kept):
            found = list(range(len(self.graph.names)))
        else:
            named = {self.graph.index[name] for rule in kept for name in self.operators_of(rule)}
            found = sorted(named or {0})
        rows = [self.graph.operators[v] for v in found]
        operators = [
            Operator(
                row.name,
                instructions=row.instructions if _is_confined(row, kept) else 1.0,
                payload_bytes=0.0,
                memory_bytes=row.memory_bytes,
                instance_of=row.instance_of,
                requires=_required(row, kept),
                resources=row.resources,
                seconds_on=row.seconds_on if _is_confined(row, kept) else NO_SECONDS,
            )
            for row in rows
        ]
        return RuledParts(
            StreamGraph(operators, source_rate=1.0),
            self._cluster_with(kept),
            constraints_with(self.constraints, kept),
        )

    def operators_of(self, rule: Rule) -> Sequence[str]:
        """Return the operators and instances that a rule is about; none for limits."""
        if rule.kind in LIMITS:
            return ()
        named: Sequence[str] = (str(rule.key),)
        if rule.kind in BY_NUMBER:
            named = getattr(self.constraints, rule.kind)[rule.key]
        return [each for name in named for each in self.graph.instances.get(name, [name])]

    def without(self, rule: Rule) -> "RuledParts":
        """Return the parts without one rule; the graph keeps its numbers.

        ``seconds_on`` is no rule that could be dropped, since it also states times.
        """
        graph, kept = self.graph, {*self.rules()} - {rule}
        if rule.kind == "requires":
            graph = StreamGraph(
                [replace(row, requires=_required(row, kept)) for row in graph.operators],
                graph.streams,
                name=graph.name,
                source_rate=graph.source_rate,
                source_shares={graph.names[v]: float(graph.source_share[v]) for v in graph.sources},
                firing=graph.firing,
                multicast=graph.multicast,
            )
        cluster = self._cluster_with(kept) if rule.kind in LIMITS else self.cluster
        return RuledParts(graph, cluster, constraints_with(self.constraints, kept))

    def _cluster_with(self, kept: Collection[Rule]) -> Cluster:
        """Return the cluster with only those limits that are among some rules."""
        taken = {name: float(self.graph.resource(name).sum()) for name in self.graph.resource_names}
        devices = []
        for device in self.cluster.devices:
            limited = {kind for kind in LIMITS if Rule(kind, device.name) in kept}
            free = {n: x for n, x in taken.items() if Rule("resources", device.name, n) not in kept}
            devices.append(
                replace(
                    device,
                    memory_bytes=device.memory_bytes if "memory" in limited else None,
                    slots=device.slots if "slots" in limited else None,
                    resources={**device.resources, **free},
                )
            )
        return Cluster(devices, self.cluster.network)


def _required(row: Operator, kept: Collection[Rule]) -> tuple[str, ...]:
    return row.requires if Rule("requires", row.instance_of or row.name) in kept else ()


def _is_confined(row: Operator, kept: Collection[Rule]) -> bool:
    return Rule("seconds_on", row.instance_of or row.name) in kept


def constraints_with(constraints: Constraints, kept: Collection[Rule]) -> Constraints:
    """Return the constraints that are among some rules."""
    fields: dict[str, Any] = {
        kind: {v: of for v, of in getattr(constraints, kind).items() if Rule(kind, v) in kept}
        for kind in BY_OPERATOR
    }
    fields |= {
        kind: [g for i, g in enumerate(getattr(constraints, kind)) if Rule(kind, i) in kept]
        for kind in BY_NUMBER
    }
    return replace(constraints, **fields)


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
    problem, on = placement.problem, placement.assignment
    rules, instances = problem.constraints.stated, problem.graph.instances

    def named(operator: str, stated: Mapping[str, Any]) -> list[str]:
        """Return an operator or its instances, without those that are stated themselves."""
        found = instances.get(operator)
        return [operator] if found is None else [name for name in found if name not in stated]

    for operator, device in rules.pins.items():
        if wrong := [name for name in named(operator, rules.pins) if on[name] != device]:
            why = f"{_on(wrong, on)} instead of {device!r}"
            yield Violation(Rule("pins", operator), why)
    for operator, devices in rules.allowed.items():
        if wrong := [name for name in named(operator, rules.allowed) if on[name] not in devices]:
            why = f"{_on(wrong, on)}, allowed are {listed(devices)}"
            yield Violation(Rule("allowed", operator), why)
    for i, group in enumerate(rules.colocate):
        together = for_instances(problem.graph, Constraints(colocate=[group])).colocate
        used = [(names, list(dict.fromkeys(on[name] for name in names))) for names in together]
        if apart := [f"{listed(names)} are on {listed(on)}" for names, on in used if len(on) > 1]:
            yield Violation(Rule("colocate", i), "; ".join(apart))
    number = dict(zip(problem.cluster.names, _groups(placement), strict=True))
    here = {name: name for name in problem.cluster.names}
    separate: tuple[tuple[Kind, Sequence[Sequence[str]], Mapping[str, str]], ...] = (
        ("exlocate", rules.exlocate, here),
        ("apart_groups", rules.apart_groups, number),
    )
    for kind, groups, place in separate:
        for i, group in enumerate(groups):
            members = {name: instances.get(name, [name]) for name in group}
            if shared := _texts_of_shared(members, {name: place[on[name]] for name in on}):
                yield Violation(Rule(kind, i), "; ".join(shared))
    yield from _of_labels(placement)
    yield from _of_kinds(placement)
    yield from _of_limits(placement)


def _groups(placement: Placement) -> list[str]:
    """Return the group of each device, or its own name where it is in none, (D,)."""
    return [each.group or each.name for each in placement.problem.cluster.devices]


def _on(names: Sequence[str], on: Mapping[str, str]) -> str:
    """Return where operators are, such as ``'a' is on 'd0'``."""
    devices = listed(dict.fromkeys(on[name] for name in names))
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'} on {devices}"


def _texts_of_shared(members: Mapping[str, Sequence[str]], at: Mapping[str, str]) -> list[str]:
    """Return which operators share a place, as text.

    Parameters
    ----------
    members
        Operator -> its instances, which may share a place with each other.
    at
        Operator or instance -> its place.
    """
    here: dict[str, dict[str, str]] = {}
    for operator, names in members.items():
        for name in names:
            here.setdefault(at[name], {})[name] = operator
    return [
        f"{listed(found)} share {place!r}"
        for place, found in here.items()
        if len({*found.values()}) > 1
    ]


def _of_labels(placement: Placement) -> Iterator[Violation]:
    graph, devices = placement.problem.graph, placement.problem.cluster.devices

    def lacking(v: int) -> str:
        device = devices[placement.devices[v]]
        missing = [label for label in graph.requires[v] if label not in device.labels]
        return f"which lacks {listed(missing)}" if missing else ""

    return _by_operator("requires", placement, {v: lacking(v) for v in graph.requires})


def _of_kinds(placement: Placement) -> Iterator[Violation]:
    graph, devices = placement.problem.graph, placement.problem.cluster.devices

    def unsuitable(v: int) -> str:
        reason = why_not(graph, v, [devices[placement.devices[v]]])
        return f"but {reason}" if reason else ""

    return _by_operator("seconds_on", placement, {v: unsuitable(v) for v in graph.seconds_on})


def _by_operator(
    kind: Kind, placement: Placement, reasons: Mapping[int, str]
) -> Iterator[Violation]:
    """Yield a violation per operator, with the reasons of its instances; empty ones are none."""
    graph, names = placement.problem.graph, placement.problem.cluster.names
    found: dict[str, list[str]] = {}
    for v, reason in reasons.items():
        if reason:
            why = f"{graph.names[v]!r} is on {names[placement.devices[v]]!r}, {reason}"
            found.setdefault(graph.owners[v], []).append(why)
    for operator, why_each in found.items():
        yield Violation(Rule(kind, operator), "; ".join(why_each))


def _of_limits(placement: Placement) -> Iterator[Violation]:
    names = placement.problem.cluster.names
    for limit in placement.problem.feasibility.limits:
        used = np.bincount(placement.devices, limit.of_operators, len(names))
        for d in np.flatnonzero(used > limit.room):
            why = f"it needs {limit.available(used[d])} but has {limit.available(limit.room[d])}"
            yield Violation(Rule(limit.kind, names[d], limit.resource), why)


def violation_grid(found: Sequence[Violation], name_of: Callable[[Rule], str]) -> Grid:
    """Return a table of violated rules; `name_of` returns the name of one."""

    def row(i: int) -> tuple[str, str]:
        return name_of(found[i].rule), found[i].why

    return Grid(
        ("violated rule", "found"), len(found), row, names=(0, 1), left_out="and {} more violated"
    )
