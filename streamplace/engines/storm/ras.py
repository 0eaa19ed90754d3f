"""Writer of configuration for Storm's Resource Aware Scheduler, as part of a Flux topology."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from streamplace.engines.storm.settings import (
    CONSTRAINTS,
    DEFAULT_CPU,
    DEFAULT_HEAP,
    MIB,
    is_internal,
)
from streamplace.errors import ProblemError
from streamplace.formats.format import Format
from streamplace.formats.instances import ascii_names, require_source_rate
from streamplace.formats.losses import accelerators, resources
from streamplace.formats.yaml import to_scalar, to_yaml
from streamplace.problem.cluster import Device
from streamplace.problem.graph import StreamGraph
from streamplace.problem.instances import devices_of_instances
from streamplace.problem.placement import Placement
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.flow import flow
from streamplace.sim.work import work_of

CORE = 100  # percent
ROUNDING = 1e-9  # percent of a core
STRATEGY = "org.apache.storm.scheduler.resource.strategies.scheduling.ConstraintSolverStrategy"
PARALLELISM = "parallelism"  # of Flux's VertexDef: the number of executors
CPU = "cpuLoad"  # of Flux's VertexDef: an integer, 100 is one core
HEAP = "onHeapMemoryLoad"  # MiB, an integer
ON_A_NODE = "maxNodeCoLocationCnt"  # of topology.ras.constraints: executors of a component
MAX_COMPONENTS = 2_000  # since the file lists pairs of components
WORKER_HEAP = "topology.worker.max.heap.size.mb"
DEFAULT_WORKER_HEAP = 768
STATES = "topology.ras.constraint.max.state.search"
DEFAULT_STATES, MAX_STATES = 10_000, 100_000  # the scheduler gives up at as many executors
DEFAULT_CORES, DEFAULT_MEMORY = 4, 4096  # what Storm takes a supervisor to offer; MiB
HEADER = """\
# Merge this into the Flux file of the topology. Nimbus must run with
# storm.scheduler: org.apache.storm.scheduler.resource.ResourceAwareScheduler
#
# This sets: which components never share a worker (those on different devices); the CPU that an
# executor needs (100 is one core of its device) and its heap, where known; the heap of a worker;
# which hosts to prefer; how many executors a component has, where the graph states or has
# instances.
# Storm decides: which host a component runs on; which components share a worker; which workers
# share a host.
#
# The storm.yaml of each supervisor has to state what its host offers (Storm takes 4 cores and
# 4096 MiB otherwise):
"""


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


def write(placement: Placement) -> str:
    """Return YAML with constraints, favoured nodes, and CPU and heap of every component.

    If the graph states or has instances, it also has the number of executors of every component,
    and how many of a component on several devices may share a host: as many as on the device with
    the most.

    Raises
    ------
    ProblemError
        If there are more than 2,000 operators or 100,000 executors, an operator has a name that
        Storm reserves, or the objective is a makespan.
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    executors = executors_of(placement)
    held = held_on(placement, executors)
    _check(executors, len(held))
    states = sum(each.count for each in executors.values()) + len(held)
    topology = {
        "topology.scheduler.strategy": STRATEGY,
        "topology.scheduler.favored.nodes": list(placement.pes),
        WORKER_HEAP: max(DEFAULT_WORKER_HEAP, *(each.heap for each in held)),
        **({STATES: MAX_STATES} if states >= DEFAULT_STATES else {}),
    }
    counted = bool(placement.problem.graph.instance_of)
    spouts = _spouts(placement.problem.graph)
    parts: dict[str, list[dict[str, Any]]] = {}
    for name, each in executors.items():
        kind = "spouts" if name in spouts else "bolts"
        parts.setdefault(kind, []).append(_component(name, each, counted))
    ordered = {kind: parts[kind] for kind in ("spouts", "bolts") if kind in parts}
    head = HEADER + _supervisors(held)
    return head + to_yaml([{"config": topology}]) + _constraints(executors) + to_yaml([ordered])


def assumed_capacities(placement: Placement) -> str:
    """Return what supervisors must offer, as text; empty if Storm takes them to offer it anyway."""
    held = held_on(placement, executors_of(placement))
    if all(each.device.cores == DEFAULT_CORES and each.heap <= DEFAULT_MEMORY for each in held):
        return ""
    return (
        "the storm.yaml of each supervisor states the capacity of its host, as listed in the file, "
        f"since Storm takes {DEFAULT_CORES} cores and {DEFAULT_MEMORY} MiB otherwise"
    )


def assumed_room(placement: Placement) -> str:
    """Return on which devices Storm has too little CPU for the topology, as text; empty if none."""
    full = [e.device.name for e in held_on(placement, executors_of(placement)) if not e.fits]
    if not full:
        return ""
    return (
        f"the executors on {ascii_names(full)} and an acker, which takes {DEFAULT_CPU}% of a core, "
        "need more CPU than there is, and Storm starts a topology only if all of it fits; place "
        "it with a lower --target-utilisation"
    )


def _spouts(graph: StreamGraph) -> set[str]:
    """Return the operators whose instances all lack input; some instances of a bolt may lack it."""
    sources = {*graph.sources.tolist()}
    return {*graph.owners} - {name for v, name in enumerate(graph.owners) if v not in sources}


def _constraints(executors: Mapping[str, Executors]) -> str:
    """Return the constraints of components, as lines of YAML.

    Components without a common device must not share a worker; Storm applies each pair both ways.
    There may be millions of pairs, for which PyYAML takes minutes, so this writes the lines itself.
    """
    names = [(to_scalar(name), each.on) for name, each in executors.items()]
    lines = []
    for i, (name, devices) in enumerate(names):
        rules = []
        if len(devices) > 1:
            rules.append(f"      {ON_A_NODE}: {max(devices.values())}\n")
        others = [other for other, theirs in names[i + 1 :] if devices.keys().isdisjoint(theirs)]
        if others:
            rules.append(f"      incompatibleComponents: [{', '.join(others)}]\n")
        if rules:
            lines += [f"    {name}:\n", *rules]
    return "".join([f"  {CONSTRAINTS}:\n", *lines] if lines else [])


def _component(name: str, executors: Executors, counted: bool) -> dict[str, Any]:
    return {
        "id": name,
        **({PARALLELISM: executors.count} if counted else {}),
        CPU: executors.cpu,
        **({} if executors.heap is None else {HEAP: executors.heap}),
    }


def _supervisors(held: Sequence[Held]) -> str:
    """Return a comment on the supervisor of each device."""
    return "".join(
        f"# {to_scalar(each.device.name)}: supervisor.cpu.capacity: {CORE * each.device.cores}, "
        f"supervisor.memory.capacity.mb: {each.heap} or more\n"
        for each in held
    )


def _check(executors: Mapping[str, Executors], workers: int) -> None:
    if len(executors) > MAX_COMPONENTS:
        raise ProblemError(
            f"storm-ras supports at most {MAX_COMPONENTS:,} operators (got {len(executors):,})"
        )
    count = sum(each.count for each in executors.values())
    if count + workers >= MAX_STATES:
        raise ProblemError(
            f"storm-ras supports fewer than {MAX_STATES:,} executors, one acker per device "
            f"included (got {count + workers:,})"
        )
    if reserved := next((name for name in executors if is_internal(name)), None):
        raise ProblemError(f"{reserved!r}: Storm reserves names that begin with '__'; rename it")


def _hosts(placement: Placement) -> str:
    if len(set(interchangeable(placement.problem).tolist())) == 1:
        return ""
    return (
        "devices differ, but Storm chooses the host of each component; addResource in the "
        "topology's code and supervisor.resources.map tie a component to a host"
    )


def _executors(placement: Placement) -> str:
    split = [name for name, on in devices_of_instances(placement).items() if len({*on}) > 1]
    if not split:
        return ""
    return (
        f"Storm chooses which executors of {ascii_names(split)} run on which host, and how many, "
        "up to the most that the placement has on one device"
    )


FORMAT = Format(
    "storm-ras",
    about="Storm: executors, constraints and CPU for the Resource Aware Scheduler, YAML",
    write=write,
    comment="# ",
    losses=(_hosts, _executors, accelerators, resources),
    assumptions=(assumed_capacities, assumed_room),
)
