"""What executors of Storm need, and what those on one device hold together."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np

from sim.work import work_of
from streamplace.integrations.pes import require_source_rate
from streamplace.integrations.storm.settings import DEFAULT_CPU, DEFAULT_HEAP, MIB
from streamplace.integrations.whole_operators import devices_of_instances
from streamplace.problem.cluster import Device
from streamplace.problem.placement import Placement
from streamplace.scoring.flow import flow

CORE = 100  # percent
ROUNDING = 1e-9  # percent of a core


@dataclass(frozen=True)
class Executors:
    """The executors of one component; each requests the same.

    Parameters
    ----------
    on
        Device -> number of executors there.
    cpu
        Percent of a core that one executor needs.
    heap
        MiB that one executor needs; None if unknown.
    """

    on: Mapping[str, int]
    cpu: int
    heap: int | None

    @property
    def count(self) -> int:
        """Number of executors."""
        return sum(self.on.values())


@dataclass(frozen=True)
class Held:
    """What the executors on a device and an acker request together: percent of a core, and MiB."""

    device: Device
    cpu: int
    heap: int

    @property
    def fits(self) -> bool:
        """Whether the device has that much CPU; Storm starts a topology only if all of it fits."""
        return self.cpu <= CORE * self.device.cores


def executors_of(placement: Placement) -> dict[str, Executors]:
    """Return component -> its executors, whose needs are the largest of its instances.

    Raises
    ------
    ProblemError
        If the objective is a makespan.
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    problem = placement.problem
    require_source_rate(problem, "storm-ras")
    mips = np.array([device.mips for device in problem.cluster.devices])
    work = work_of(flow(problem), placement.devices)
    percent = work / (mips[placement.devices] * 1e6) * CORE
    cpu: dict[str, float] = {}
    memory: dict[str, float] = {}
    for v, operator in enumerate(problem.graph.owners):
        cpu[operator] = max(cpu.get(operator, 0.0), float(percent[v]))
        memory[operator] = max(memory.get(operator, 0.0), float(problem.graph.memory_bytes[v]))
    return {
        name: Executors(
            Counter(on),
            max(1, ceil(cpu[name] - ROUNDING)),
            ceil(memory[name] / MIB) if memory[name] else None,
        )
        for name, on in devices_of_instances(placement).items()
    }


def held_on(placement: Placement, executors: Mapping[str, Executors]) -> list[Held]:
    """Return what each device in use holds, in the cluster's order, if it has one worker.

    Storm adds its defaults: 128 MiB for an executor whose component states no memory, and 128 MiB
    and 10% of a core for the acker that it puts into each worker.
    """
    cpu: Counter[str] = Counter()
    heap: Counter[str] = Counter()
    for each in executors.values():
        for device, count in each.on.items():
            cpu[device] += count * each.cpu
            heap[device] += count * (DEFAULT_HEAP if each.heap is None else each.heap)
    return [
        Held(device, cpu[device.name] + DEFAULT_CPU, heap[device.name] + DEFAULT_HEAP)
        for device in placement.problem.cluster.devices
        if device.name in cpu
    ]
