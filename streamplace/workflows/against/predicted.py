"""The predicted use of CPU time by a placement at measured source rates."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from sim.closed_form.bottleneck import utilisations
from sim.work import instructions_of, work_of
from streamplace.problem.constraints import Constraints
from streamplace.problem.objective import Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats


class Predicted:
    """The loads of a placement, with instances of an operator taken together.

    Parameters
    ----------
    rates
        Source -> tuples/s that it emits in the running job. Sources that are missing keep their
        share of the total.
    """

    def __init__(self, placement: Placement, rates: Mapping[str, float]) -> None:
        problem, graph = placement.problem, placement.problem.graph
        self.placement, self.owners = placement, graph.owners
        share = dict.fromkeys(rates, 0.0)
        for v in graph.sources:
            if graph.owners[v] in share:
                share[graph.owners[v]] += float(graph.source_share[v])
        covered = sum(share.values())
        self.source_rate = sum(rates.values()) / covered
        scaled = graph.source_share.copy()
        for v in graph.sources:
            owner = graph.owners[v]
            if owner in rates and share[owner] > 0:
                scaled[v] *= rates[owner] / share[owner] / self.source_rate
        shares = {graph.names[v]: float(scaled[v] / scaled.sum()) for v in graph.sources}
        now = graph.with_numbers(source_shares=shares)[0]
        objective = Throughput.of(self.source_rate, "bottleneck", problem.target_utilisation)
        self.problem = Problem(now, problem.cluster, objective=objective, constraints=Constraints())
        self.flow = flow(self.problem)
        self.core_speed = np.array([device.mips * 1e6 for device in problem.cluster.devices])

    @cached_property
    def of_devices(self) -> dict[str, float]:
        """Device -> its utilisation, with the overhead of messages."""
        of_share = utilisations(self.flow, self.placement.devices)[0]
        loads = of_share * self.problem.target_utilisation
        return dict(zip(self.problem.cluster.names, loads.tolist(), strict=True))

    @cached_property
    def cores(self) -> dict[str, float]:
        """Operator -> the cores that its instances keep busy."""
        return self._sums(
            work_of(self.flow, self.placement.devices) / self.core_speed[self.placement.devices]
        )

    @cached_property
    def tuples(self) -> dict[str, float]:
        """Operator -> the tuples/s of its instances."""
        return self._sums(self.flow.operator_tuples)

    @cached_property
    def instructions(self) -> dict[str, float]:
        """Operator -> its instructions per tuple."""
        devices = self.placement.devices
        work = self._sums(work_of(self.flow, devices))
        plain = self._sums(instructions_of(self.flow, devices))
        counts = self._sums(np.ones(len(self.owners)))
        return {
            name: work[name] / tuples if tuples > 0 else plain[name] / counts[name]
            for name, tuples in self.tuples.items()
        }

    @cached_property
    def selectivity(self) -> dict[tuple[str, str], float]:
        """Stream -> tuples that arrive per tuple that its source operator processes."""
        found: dict[tuple[str, str], float] = {}
        ends = zip(self.flow.source.tolist(), self.flow.target.tolist(), strict=True)
        for (v, w), tuples in zip(ends, self.flow.stream_tuples.tolist(), strict=True):
            key = self.owners[v], self.owners[w]
            found[key] = found.get(key, 0.0) + tuples
        return {
            key: tuples / self.tuples[key[0]]
            for key, tuples in found.items()
            if self.tuples[key[0]] > 0
        }

    @property
    def sources(self) -> list[str]:
        """The operators without inputs."""
        graph = self.placement.problem.graph
        return list(dict.fromkeys(graph.owners[v] for v in graph.sources))

    def _sums(self, values: Floats) -> dict[str, float]:
        found: dict[str, float] = {}
        for name, value in zip(self.owners, values.tolist(), strict=True):
            found[name] = found.get(name, 0.0) + value
        return found
