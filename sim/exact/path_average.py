"""Bounds under `streamplace.sim.closed_form.path_average`, by a reduction to loads.

Let a placement reach the share r of the sinks' nominal tuples, and let its sources run at the share
a of their rate, which is at most a known one. Tuples are only lost on the way, so each stream still
carries at least f of its nominal tuples, where a (1 - g) + g f = r and g is the share of the sinks'
nominal tuples whose path passes the stream. No link carries more than its capacity, and no device
has more than 1 / r of the work that it can do, since a is at least r. Within the limit 1 / r, the
placement therefore has all CPU loads, without those of messages, and all loads of links if each
stream has f / r of its tuples. Groups of units that this keeps together may lower a, which raises
the bounds on f.
"""

import numpy as np

from streamplace.sim.exact.bounds import Effort, LoadBounds, Verdict
from streamplace.sim.exact.contraction import units_of
from streamplace.sim.flow import ALL, Floats, Flow, Ints
from streamplace.sim.search.instance import (
    Instance,
    ends_of_units,
    streams_of_units,
    with_messages,
)

SOLVED = 1e-10  # share of the throughput that counts as error of the solver, with a margin
# Less hardly raises what streams must carry, and would go on for long.
LOWER = 1e-6  # relative change of the sources' share from which the streams are weighed again


def passing_shares(flow: Flow) -> Floats:
    """Return the share of the sinks' nominal tuples whose path passes each stream, (E,)."""
    reaching = np.zeros(flow.operators)  # tuples at the sinks per tuple that an operator processes
    reaching[flow.sinks] = 1.0
    for e in range(len(flow.source) - 1, -1, -1):  # streams into an operator precede those out
        reaching[flow.source[e]] += flow.selectivity[e] * reaching[flow.target[e]]
    shares: Floats = flow.stream_tuples * reaching[flow.target] / flow.nominal_sink_tuples
    return shares


class PathAverageBounds(LoadBounds):
    """Lower bounds on 1 / relative throughput, divided by the instance's reference.

    Parameters
    ----------
    cpu
        Bounds of the instance by CPU work alone.
    flow, unit_of
        Its flow, and the unit of each operator, (V,).
    """

    def __init__(self, instance: Instance, cpu: LoadBounds, flow: Flow, unit_of: Ints) -> None:
        least = max(cpu.quick, 1.0 / instance.reference)  # at most the source rate is reached
        super().__init__(instance, cpu.identical, least)
        self._sources = 1.0 / (least * instance.reference)
        self._shares = passing_shares(flow)
        self._source = flow.source
        self._ends = ends_of_units(flow, unit_of)[2]
        self._copies = streams_of_units(flow, unit_of)

    def examined(self, limit: float, method: int, effort: Effort) -> Verdict:
        """Examine the placements with at least 1 / `limit` of the throughput; see `LoadBounds`."""
        sources = self._sources
        while True:
            instance = self._carried(1.0 / (limit * self.instance.reference), sources)
            units = units_of(instance)
            verdict = self._examined(instance, units, limit, method, effort)
            if verdict.refuted:
                return verdict._replace(refuted=limit)  # streams carry less at higher limits
            busiest = verdict.alone * self.instance.reference
            if busiest * sources <= 1.0 + LOWER:
                return verdict
            sources = 1.0 / busiest

    def _carried(self, reached: float, sources: float) -> Instance:
        """Return the instance with what streams still carry at a relative throughput."""
        with np.errstate(divide="ignore", invalid="ignore"):
            lost = (sources - reached + SOLVED) / self._shares
        part = np.nan_to_num(np.maximum(sources - lost, 0.0)) / reached
        if self.instance.multicast == ALL:  # a receiver gets a message of the largest one's size
            least = np.full(self._source.max(initial=0) + 1, np.inf)
            np.minimum.at(least, self._source, part)
            part = least[self._source]
        return with_messages(self.instance, part[self._ends], part[self._copies])
