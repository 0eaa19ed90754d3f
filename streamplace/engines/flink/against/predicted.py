"""What a placement predicts for a running job: the hosts of its devices, and their CPU time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from streamplace.formats.profiling.profile import JobUse
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph_checks import listed
from streamplace.problem.objective import Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.bottleneck import utilisations
from streamplace.sim.work import instructions_of, work_of
from streamplace.util.arrays import Floats


def devices_of_hosts(
    placement: Placement, use: JobUse, names: Mapping[str, str]
) -> tuple[dict[str, str], str]:
    """Return host -> the device that it stands for, and a note if operators decided which.

    A host stands for the device whose label it has, else for the device of its name, else for the
    device of which it runs most operators.

    Parameters
    ----------
    names
        Operator of the placement -> its name in the job.
    """
    hosts = [*use.busy_hosts, *use.idle_hosts]
    found = {host: device for device, host in use.labelled.items() if host in hosts}
    devices = [name for name in placement.problem.cluster.names if name not in found.values()]
    found |= {host: host for host in hosts if host not in found and host in devices}
    free_devices = [name for name in devices if name not in found]
    common = _common(placement, use, names, free_devices, [h for h in hosts if h not in found])
    by_operators: dict[str, str] = {}
    for (device, host), _ in sorted(common.items(), key=lambda each: -each[1]):
        if host not in by_operators and device not in by_operators.values():
            by_operators[host] = device
    pairs = ", ".join(f"{host!r} is {device!r}" for host, device in by_operators.items())
    note = f"TaskManagers matched to devices by the operators that they run: {pairs}"
    return found | by_operators, note if by_operators else ""


def _common(
    placement: Placement,
    use: JobUse,
    names: Mapping[str, str],
    devices: Sequence[str],
    hosts: Sequence[str],
) -> Counter[tuple[str, str]]:
    """Return (device, host) -> the number of instances that are on both."""
    common: Counter[tuple[str, str]] = Counter()
    for operator, placed in _instances_on(placement).items():
        here = Counter(use.hosts.get(names.get(operator, ""), ()))
        for device, count in placed.items():
            for host, running in here.items():
                if device in devices and host in hosts:
                    common[device, host] += min(count, running)
    return common


def note_on_misplaced(
    placement: Placement, use: JobUse, names: Mapping[str, str], device_of: Mapping[str, str]
) -> str:
    """Return a note on the operators that do not run where they were placed; empty if all do."""
    wrong = []
    for operator, placed in _instances_on(placement).items():
        running = Counter(use.hosts.get(names.get(operator, ""), ()))
        where = Counter({device_of.get(host, host): count for host, count in running.items()})
        divided = sum(placed.values()) == sum(where.values())
        same = where == placed if divided else set(where) == set(placed)
        if where and not same:
            wrong.append(operator)
    return f"not running where they were placed: {listed(wrong)}" if wrong else ""


def _instances_on(placement: Placement) -> dict[str, Counter[str]]:
    """Return operator -> device -> the number of its instances there."""
    names, found = placement.problem.cluster.names, dict[str, Counter[str]]()
    owners = placement.problem.graph.owners
    for owner, device in zip(owners, placement.devices.tolist(), strict=True):
        found.setdefault(owner, Counter())[names[device]] += 1
    return found


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
