"""The load of a chain of operators: a fluid model with one source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf


@dataclass
class Load:
    """What a job is offered, and what its operators need.

    Parameters
    ----------
    rate_s
        Tuples per second that the source is offered.
    work_s
        Operator -> busy seconds per tuple; operators that are absent need none. NaN: they have no
        busy time, as sources of Flink's former interface.
    skew
        Operator -> share of its tuples that its first instance gets; evenly where absent.
    slower
        Factor by which operators of jobs started later are slower.
    buffers
        Whether buffers take all tuples that an operator cannot process, so that no operator before
        it is held back.
    fetched_s
        Tuples per second that the source can fetch; it is not busy while it waits for them.
    """

    rate_s: float = 100.0
    work_s: dict[str, float] = field(default_factory=lambda: {"count": 0.006})
    skew: dict[str, float] = field(default_factory=dict)
    slower: float = 1.0
    buffers: bool = False
    fetched_s: float = inf

    def shares(self, name: str, instances: int) -> list[float]:
        """Return the share of an operator's tuples that each instance gets."""
        first = self.skew.get(name, 1 / instances) if instances > 1 else 1.0
        rest = (1 - first) / max(instances - 1, 1)
        return [first, *[rest] * (instances - 1)]

    def flows_s(self, counts: Mapping[str, int], slower: float = 1.0) -> dict[str, float]:
        """Return operator -> the tuples per second that it processes, at most those offered."""
        flow_s, flows_s = min(self.rate_s, self.fetched_s), dict[str, float]()
        for name, instances in counts.items():
            busiest = max(self.shares(name, instances)) * self.work_s.get(name, 0.0) * slower
            if busiest > 0:
                flow_s = min(flow_s, 1 / busiest)
            flows_s[name] = flow_s
        return flows_s if self.buffers else dict.fromkeys(counts, flow_s)

    def busy(self, name: str, instances: int, flow_s: float, slower: float = 1.0) -> list[float]:
        """Return the share of time that each instance is busy at a flow."""
        work_s = self.work_s.get(name, 0.0) * slower
        return [flow_s * share * work_s for share in self.shares(name, instances)]
