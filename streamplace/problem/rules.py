"""The single rules of a problem: each constraint, required label and limit by its name."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.device_kinds import confined
from streamplace.problem.graph import StreamGraph
from streamplace.problem.limits import limits_of
from streamplace.problem.operators import Operator
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
        A field of `Constraints`; ``requires``: the labels of one operator; ``seconds_on``: the
        kinds of devices on which it can run; ``memory``, ``slots`` and ``resources``: the memory of
        one device, its slots, and one of its resources.
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

    def __str__(self) -> str:
        if self.kind in (*OF_OPERATORS, *LIMITS):
            return f"{self.limit} of {self.key}"
        return f"constraints.{self.kind}[{self.key!r}]"


class RuledParts(NamedTuple):
    """The parts of a problem that decide which placements are feasible."""

    graph: StreamGraph
    cluster: Cluster
    constraints: Constraints

    def rules(self) -> Iterator[Rule]:
        """Yield all rules: limits, labels, kinds of devices, then constraints as their fields.

        A limit of a device counts only if all operators together could exceed it.
        """
        names = self.cluster.names
        each = np.arange(len(self.graph.names), dtype=np.int32)
        for limit in limits_of(self.graph, self.cluster, each):
            small = np.flatnonzero(limit.room < limit.needs.sum())
            yield from (Rule(limit.kind, names[d], limit.resource) for d in small)
        for v in self.graph.requires:
            yield Rule("requires", self.graph.names[v])
        for v in confined(self.graph, self.cluster):
            yield Rule("seconds_on", self.graph.names[v])
        for kind in BY_OPERATOR:
            yield from (Rule(kind, name) for name in getattr(self.constraints, kind))
        for kind in BY_NUMBER:
            yield from (Rule(kind, i) for i in range(len(getattr(self.constraints, kind))))

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
        """Return the operators that a rule names; none for limits."""
        if rule.kind in BY_NUMBER:
            group: Sequence[str] = getattr(self.constraints, rule.kind)[rule.key]
            return group
        return () if rule.kind in LIMITS else (str(rule.key),)

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
    return row.requires if Rule("requires", row.name) in kept else ()


def _is_confined(row: Operator, kept: Collection[Rule]) -> bool:
    return Rule("seconds_on", row.name) in kept


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
