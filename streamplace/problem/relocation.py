"""The cost of moving operators from one placement to another, in seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamplace.errors import ProblemError
from streamplace.problem.cluster import Cluster
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.checks import check_number

BITS_PER_BYTE = 8.0

ByType = Mapping[str, float]
"""Type of an operator (`Operator.type`) -> a number."""


@dataclass(frozen=True)
class Relocation:
    """An operator that moves from one device to another.

    Parameters
    ----------
    operator, source, target
        Names of the operator, and of its old and its new device.
    migration_s
        Seconds that its bytes take from the old to the new device; 0 if the old one is gone.
    startup_s
        Seconds that it takes to start on the new device.
    """

    operator: str
    source: str
    target: str
    migration_s: float
    startup_s: float

    @property
    def seconds(self) -> float:
        """The cost of the move in seconds."""
        return self.migration_s + self.startup_s


class SendingTimes:
    """Times of messages between the devices of a cluster if nothing delays them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._mbps = cluster.link_column("bandwidth_mbps")
        self._latency_s = cluster.link_column("latency_s")

    def seconds(self, size_bytes: float, source: str, target: str) -> float:
        """Return the time of a message between two different devices, in seconds."""
        index, count = self._cluster.index, len(self._cluster.devices)
        a, b = index[source], index[target]
        links = [a * count + b] if self._cluster.network.by_pair else [a, count + b]
        mbps, latency_s = self._mbps[links].min(), self._latency_s[links].max()
        return float(size_bytes * BITS_PER_BYTE / (mbps * 1e6) + latency_s)


@dataclass(frozen=True)
class RelocationCost:
    """What moves cost: bytes sent from the old to the new device, and a start on the new one.

    An operator that is new or that stays costs nothing. If the old device is not in the cluster any
    more, no bytes can be sent from it, and the operator only starts.

    Parameters
    ----------
    startup_s
        Kind of device (`Device.kind`) -> type of operator (`Operator.type`) -> seconds to start;
        0 where nothing is stated.
    state_bytes
        Type of operator -> bytes of state that a move sends; `Operator.memory_bytes` where nothing
        is stated, as for ``--move-cost``.
    static_bytes
        Type of operator -> further bytes that a move sends, such as the weights of a network. It is
        empty where they are on every device.

    Raises
    ------
    ProblemError
        On a number that is negative or not finite.
    """

    startup_s: Mapping[str, ByType] = field(default_factory=dict)
    state_bytes: ByType = field(default_factory=dict)
    static_bytes: ByType = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind, times in self.startup_s.items():
            _check(f"startup_s[{kind!r}]", times)
        _check("state_bytes", self.state_bytes)
        _check("static_bytes", self.static_bytes)

    def seconds(
        self, problem: Problem, before: Placement | Mapping[str, str], after: Placement
    ) -> float:
        """Return the cost of all moves between two placements, one after the other, in seconds.

        Parameters
        ----------
        problem
            The problem in which the moves take place: its cluster has the links.
        before
            The old placement, or operator -> device. It may belong to another graph and another
            cluster; operators and devices are matched by name.
        after
            The new placement, on a cluster with the devices of the problem's.

        Raises
        ------
        ProblemError
            If an operator or device of the new placement is not in the problem.
        """
        return sum((move.seconds for move in self.moves(problem, before, after)), 0.0)

    def moves(
        self, problem: Problem, before: Placement | Mapping[str, str], after: Placement
    ) -> tuple[Relocation, ...]:
        """Return the moves between two placements, in the graph's order; see `seconds`."""
        old = before.assignment if isinstance(before, Placement) else before
        times = SendingTimes(problem.cluster)
        return tuple(
            self._move(problem, times, operator, old[operator], target)
            for operator, target in Placement.of(problem, after.assignment).assignment.items()
            if old.get(operator, target) != target
        )

    def _move(
        self, problem: Problem, times: SendingTimes, operator: str, source: str, target: str
    ) -> Relocation:
        graph, cluster = problem.graph, problem.cluster
        v = graph.index[operator]
        what, kind = graph.type.get(v, ""), cluster.devices[cluster.index[target]].kind
        sent = self.state_bytes.get(what, float(graph.memory_bytes[v]))
        sent += self.static_bytes.get(what, 0.0)
        migration_s = 0.0
        if source in cluster.index:
            migration_s = times.seconds(sent, source, target)
        startup_s = self.startup_s.get(kind or "", {}).get(what, 0.0)
        return Relocation(operator, source, target, migration_s, startup_s)


def _check(where: str, numbers: ByType) -> None:
    """Refuse a number that is negative or not finite."""
    for what, value in numbers.items():
        place = f"relocation: {where}[{what!r}]"
        check_number(place, value, ProblemError)
        if not 0 <= value < float("inf"):
            raise ProblemError(f"{place} must be at least 0 and finite (got {value:g})")
