"""Writer of configuration for Storm's Resource Aware Scheduler, as part of a Flux topology."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np

from sim.work import work_of
from streamplace.errors import ProblemError
from streamplace.integrations.parsing.yaml_writer import to_scalar, to_yaml
from streamplace.integrations.pes import require_source_rate
from streamplace.integrations.whole_operators import devices_of_instances
from streamplace.problem.graph import StreamGraph
from streamplace.problem.placement import Placement
from streamplace.scoring.flow import flow

STRATEGY = "org.apache.storm.scheduler.resource.strategies.scheduling.ConstraintSolverStrategy"
PARALLELISM = "parallelism"  # of Flux's VertexDef: the number of executors
CPU = "cpuLoad"  # of Flux's VertexDef: an integer, 100 is one core
HEAP = "onHeapMemoryLoad"  # MiB, an integer
ON_A_NODE = "maxNodeCoLocationCnt"  # of topology.ras.constraints: executors of a component
MIB = 2**20
ROUNDING = 1e-9  # percent of a core
MAX_COMPONENTS = 2_000  # since the file lists pairs of components
HEADER = """\
# Merge this into the Flux file of the topology. Nimbus must run with
# storm.scheduler: org.apache.storm.scheduler.resource.ResourceAwareScheduler
#
# This sets: which components never share a worker (those on different devices); the CPU that an
# executor needs (100 is one core of its device) and its heap, where known; which hosts to prefer;
# how many executors a component has, where the graph states or has instances.
# Storm decides: which host a component runs on; which components share a worker; which workers
# share a host.
"""


def write(placement: Placement) -> str:
    """Return YAML with constraints, favoured nodes, and CPU and heap of every component.

    If the graph states or has instances, it also has the number of executors of every component,
    and how many of a component on several devices may share a host: as many as on the device with
    the most.

    Raises
    ------
    ProblemError
        If there are more than 2,000 operators, or the objective is a makespan.
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    devices_of = devices_of_instances(placement)
    if len(devices_of) > MAX_COMPONENTS:
        raise ProblemError(
            f"storm-ras supports at most {MAX_COMPONENTS:,} operators (got {len(devices_of):,})"
        )
    topology = {
        "topology.scheduler.strategy": STRATEGY,
        "topology.scheduler.favored.nodes": list(placement.pes),
    }
    spouts = _spouts(placement.problem.graph)
    parts: dict[str, list[dict[str, Any]]] = {}
    components = _components(placement, devices_of)
    for kind, wanted in (("spouts", True), ("bolts", False)):
        chosen = [component for component in components if (component["id"] in spouts) == wanted]
        if chosen:
            parts[kind] = chosen
    return HEADER + to_yaml([{"config": topology}]) + _constraints(devices_of) + to_yaml([parts])


def _spouts(graph: StreamGraph) -> set[str]:
    """Return the operators whose instances all lack input; some instances of a bolt may lack it."""
    sources = {*graph.sources.tolist()}
    return {*graph.owners} - {name for v, name in enumerate(graph.owners) if v not in sources}


def _constraints(devices_of: Mapping[str, Sequence[str]]) -> str:
    """Return the constraints of components, as lines of YAML.

    Components without a common device must not share a worker; Storm applies each pair both ways.
    There may be millions of pairs, for which PyYAML takes minutes, so this writes the lines itself.
    """
    names = [(to_scalar(name), Counter(on)) for name, on in devices_of.items()]
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
    return "".join(["  topology.ras.constraints:\n", *lines] if lines else [])


def _components(
    placement: Placement, devices_of: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """Return the needs of one executor of each operator: the maximum over its instances."""
    problem = placement.problem
    require_source_rate(problem, "storm-ras")
    mips = np.array([device.mips for device in problem.cluster.devices])
    work = work_of(flow(problem), placement.devices)
    percent = work / (mips[placement.devices] * 1e6) * 100
    cpu: dict[str, float] = {}
    memory: dict[str, float] = {}
    for v, operator in enumerate(problem.graph.owners):
        cpu[operator] = max(cpu.get(operator, 0.0), float(percent[v]))
        memory[operator] = max(memory.get(operator, 0.0), float(problem.graph.memory_bytes[v]))
    return [
        {
            "id": name,
            **({PARALLELISM: len(devices_of[name])} if problem.graph.instance_of else {}),
            CPU: max(1, ceil(cpu[name] - ROUNDING)),
            **_heap(memory[name]),
        }
        for name in cpu
    ]


def _heap(memory_bytes: float) -> dict[str, int]:
    return {HEAP: ceil(memory_bytes / MIB)} if memory_bytes else {}
