"""Writer of configuration for Storm's Resource Aware Scheduler, as part of a Flux topology."""

from math import ceil
from typing import Any

import numpy as np

from streamplace.errors import ProblemError
from streamplace.integrations.parsing.yaml_writer import to_scalar, to_yaml
from streamplace.integrations.pes import require_source_rate
from streamplace.integrations.whole_operators import operator_devices
from streamplace.problem.graph import StreamGraph
from streamplace.problem.placement import Placement
from streamplace.scoring.flow import flow

STRATEGY = "org.apache.storm.scheduler.resource.strategies.scheduling.ConstraintSolverStrategy"
CPU = "cpuLoad"  # of Flux's VertexDef: an integer, 100 is one core
HEAP = "onHeapMemoryLoad"  # MiB, an integer
MIB = 2**20
ROUNDING = 1e-9  # percent of a core
MAX_COMPONENTS = 2_000  # since the file lists pairs of components
HEADER = """\
# Merge this into the Flux file of the topology. Nimbus must run with
# storm.scheduler: org.apache.storm.scheduler.resource.ResourceAwareScheduler
#
# This sets: which components never share a worker (those on different devices); the CPU that an
# executor needs (100 is one core of its device) and its heap, where known; which hosts to prefer.
# Storm decides: which host a component runs on; which components share a worker; which workers
# share a host.
"""


def write(placement: Placement) -> str:
    """Return YAML with constraints, favoured nodes, and CPU and heap of every component.

    Raises
    ------
    ProblemError
        If instances of an operator are on several devices, there are more than 2,000 operators, or
        the objective is a makespan.
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    """
    device_of = operator_devices(placement)
    if len(device_of) > MAX_COMPONENTS:
        raise ProblemError(
            f"storm-ras supports at most {MAX_COMPONENTS:,} operators (got {len(device_of):,})"
        )
    topology = {
        "topology.scheduler.strategy": STRATEGY,
        "topology.scheduler.favored.nodes": list(placement.pes),
    }
    spouts = _spouts(placement.problem.graph)
    parts: dict[str, list[dict[str, Any]]] = {}
    components = _components(placement)
    for kind, wanted in (("spouts", True), ("bolts", False)):
        chosen = [component for component in components if (component["id"] in spouts) == wanted]
        if chosen:
            parts[kind] = chosen
    return HEADER + to_yaml([{"config": topology}]) + _incompatible(device_of) + to_yaml([parts])


def _spouts(graph: StreamGraph) -> set[str]:
    """Return the operators whose instances all lack input; some instances of a bolt may lack it."""
    sources = {*graph.sources.tolist()}
    return {*graph.owners} - {name for v, name in enumerate(graph.owners) if v not in sources}


def _incompatible(device_of: dict[str, str]) -> str:
    """Return the components that must not share a worker; Storm applies each pair both ways.

    There may be millions of pairs, for which PyYAML takes minutes, so this writes the lines itself.
    """
    names = [(to_scalar(name), device) for name, device in device_of.items()]
    lines = []
    for i, (name, device) in enumerate(names):
        if others := [other for other, its_device in names[i + 1 :] if its_device != device]:
            line = f"      incompatibleComponents: [{', '.join(others)}]"
            lines.append(f"    {name}:\n{line}\n")
    return "".join(["  topology.ras.constraints:\n", *lines] if lines else [])


def _components(placement: Placement) -> list[dict[str, Any]]:
    """Return the needs of one executor of each operator: the maximum over its instances."""
    problem = placement.problem
    require_source_rate(problem, "storm-ras")
    mips = np.array([device.mips for device in problem.cluster.devices])
    percent = flow(problem).work / (mips[placement.devices] * 1e6) * 100
    cpu: dict[str, float] = {}
    memory: dict[str, float] = {}
    for v, operator in enumerate(problem.graph.owners):
        cpu[operator] = max(cpu.get(operator, 0.0), float(percent[v]))
        memory[operator] = max(memory.get(operator, 0.0), float(problem.graph.memory_bytes[v]))
    return [
        {"id": name, CPU: max(1, ceil(cpu[name] - ROUNDING)), **_heap(memory[name])} for name in cpu
    ]


def _heap(memory_bytes: float) -> dict[str, int]:
    return {HEAP: ceil(memory_bytes / MIB)} if memory_bytes else {}
