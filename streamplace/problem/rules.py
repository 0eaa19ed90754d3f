"""The single rules of a problem: each constraint, required label and memory limit by its name."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.operators import Operator

Kind = Literal["pins", "allowed", "colocate", "exlocate", "apart_groups", "requires", "memory"]
BY_OPERATOR: tuple[Kind, ...] = ("pins", "allowed")
BY_NUMBER: tuple[Kind, ...] = ("colocate", "exlocate", "apart_groups")


@dataclass(frozen=True)
class Rule:
    """One rule for placements.

    Parameters
    ----------
    kind
        A field of `Constraints`; ``requires``: the labels of one operator; ``memory``: the memory
        of one device.
    key
        Name of the operator or device, or the number of a group in its list.
    """

    kind: Kind
    key: str | int

    def __str__(self) -> str:
        if self.kind in ("requires", "memory"):
            return f"{self.kind} of {self.key}"
        return f"constraints.{self.kind}[{self.key!r}]"


class RuledParts(NamedTuple):
    """The parts of a problem that decide which placements are feasible."""

    graph: StreamGraph
    cluster: Cluster
    constraints: Constraints

    def rules(self) -> Iterator[Rule]:
        """Yield all rules: memory, then labels, then constraints in the order of their fields.

        The memory of a device counts only if all operators together could exceed it.
        """
        needed = float(self.graph.memory_bytes.sum())
        for device in self.cluster.devices:
            if device.memory_bytes is not None and needed > device.memory_bytes:
                yield Rule("memory", device.name)
        for v in self.graph.requires:
            yield Rule("requires", self.graph.names[v])
        for kind in BY_OPERATOR:
            yield from (Rule(kind, name) for name in getattr(self.constraints, kind))
        for kind in BY_NUMBER:
            yield from (Rule(kind, i) for i in range(len(getattr(self.constraints, kind))))

    def with_only(self, kept: Collection[Rule]) -> "RuledParts":
        """Return the parts with only some of their rules.

        The operators keep their order and memory. They have no streams and hardly any work, since
        neither matters to feasibility.
        """
        operators = [
            replace(row, instructions=1.0, payload_bytes=0.0, requires=_required(row, kept))
            for row in self.graph.operators
        ]
        return RuledParts(
            StreamGraph(operators, source_rate=1.0),
            _cluster_with(self.cluster, kept),
            constraints_with(self.constraints, kept),
        )

    def without(self, rule: Rule) -> "RuledParts":
        """Return the parts without one rule; the graph keeps its numbers."""
        graph, kept = self.graph, {*self.rules()} - {rule}
        if rule.kind == "requires":
            graph = StreamGraph(
                [replace(row, requires=_required(row, kept)) for row in graph.operators],
                graph.streams,
                name=graph.name,
                source_rate=graph.source_rate,
                source_shares={graph.names[v]: float(graph.source_share[v]) for v in graph.sources},
            )
        cluster = _cluster_with(self.cluster, kept) if rule.kind == "memory" else self.cluster
        return RuledParts(graph, cluster, constraints_with(self.constraints, kept))


def _required(row: Operator, kept: Collection[Rule]) -> tuple[str, ...]:
    return row.requires if Rule("requires", row.name) in kept else ()


def _cluster_with(cluster: Cluster, kept: Collection[Rule]) -> Cluster:
    """Return a cluster in which only devices whose memory is among some rules have a limit."""
    devices = [
        device if Rule("memory", device.name) in kept else replace(device, memory_bytes=None)
        for device in cluster.devices
    ]
    return Cluster(devices, cluster.network)


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
