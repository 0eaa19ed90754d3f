"""Recorded runs of scientific workflows, simulated under what their files state and do not state.

`read` gives the simulated makespans of a run. `MANAGERS` are workflow managers: each hands out one
task at a time, for which it takes a time for the task and a time for every byte of the files that
the task reads and writes. A time passes before it learns of the end of a parent, and before a task
that it dispatched starts. They are simulated as a device of one core with an operator before each
task.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import streamplace as sp
from streamplace.errors import FormatError
from streamplace.files.reading import read_json
from streamplace.formats.documents import read_document
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.networks.wfformat.versions import Workflow, workflow_from
from streamplace.problem.graph_view import levels_of
from streamplace.util.arrays import Floats

STATED, FREE = sp.Network("nic"), sp.Network("free", None, 0.0)
GIGABIT = 1000.0  # Mbit/s
SEED = 0


class Manager(NamedTuple):
    """What a workflow manager costs.

    Attributes
    ----------
    task_s
        Seconds for each task, one after another.
    notice_s
        Seconds until a start or an end is known, for any number of tasks at a time.
    mbps
        Bandwidth of the one link through which all files of tasks pass, in Mbit/s.
    """

    task_s: float
    notice_s: float
    mbps: float

    def seconds(self, size_bytes: float) -> float:
        """Return the time for which a task with files of this size occupies the manager."""
        return self.task_s + 8e-6 * size_bytes / self.mbps


MANAGERS = [
    Manager(*each)
    for each in product(
        (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0),
        (0.0, 7.5, 15.0, 30.0, 60.0, 120.0),
        (inf, 8 * GIGABIT, GIGABIT, GIGABIT / 2, GIGABIT / 4),
    )
]


@dataclass(frozen=True)
class Run:
    """A recorded run; times are makespans in seconds.

    Parameters
    ----------
    is_placed
        Whether every task names its machine.
    levels
        Number of tasks on the longest path.
    run_times_s, file_bytes
        Total of the run times, and of the files that tasks read and write.
    whole_s
        Number of tasks whose run times are whole seconds: what rounding may hide at most.
    measured_s
        The recorded makespan.
    path_s, free_s, linked_s
        Simulated with a core for every task, with the recorded cores, and with links as well.
    used_s
        With the cores that tasks used on average, and links.
    serial_s
        With one core on each machine, and links.
    managed_s
        (M,) with each of `MANAGERS`, without links.
    bound_s
        Lower bound on the makespans of all placements on the same machines.
    auto_s
        That of the placement of `auto`; None on a single machine.
    """

    system: str
    application: str
    is_placed: bool
    tasks: int
    levels: int
    run_times_s: float
    file_bytes: float
    whole_s: float
    measured_s: float
    path_s: float
    free_s: float
    linked_s: float
    used_s: float
    serial_s: float
    managed_s: Floats
    bound_s: float
    auto_s: float | None


def read(path: Path, seconds: float) -> Run:
    """Read a run and simulate it; `auto` has these CPU seconds.

    Raises
    ------
    StreamplaceError
        If it cannot be read, or does not say where every task ran, or its makespan.
    """
    job = read_document(str(path), "wfformat")
    value: dict[str, Any] = read_json(path)
    workflow = workflow_from(value, str(path))
    if job.cluster is None or job.assignment is None or not workflow.makespan_s:
        raise FormatError(f"{path}: does not say where every task ran, or its makespan")
    graph, placed, devices = job.graph, job.assignment, job.cluster.devices
    linked = sp.Cluster(devices, STATED)
    found = sp.place(
        graph, linked, placer=f"auto:seconds={seconds}", objective=sp.Makespan(), seed=SEED
    )
    size_bytes = bytes_of(workflow)
    run_times = [task.seconds or 0.0 for task in workflow.tasks]
    return Run(
        value.get("runtimeSystem", {}).get("name", "unknown"),
        path.name.split("__")[-1].partition("-")[0],
        all(task.machines for task in workflow.tasks),
        len(graph.names),
        1 + max(levels_of(graph)),
        sum(run_times),
        sum(size_bytes.values()),
        float(sum(each == round(each) for each in run_times)),
        workflow.makespan_s,
        _makespan(graph, _with_cores(devices, len(graph.names), FREE), placed),
        _makespan(graph, sp.Cluster(devices, FREE), placed),
        _makespan(graph, linked, placed),
        _makespan(_with_used_cores(graph, value), linked, placed),
        _makespan(graph, _with_cores(devices, 1, STATED), placed),
        managed(graph, devices, placed, size_bytes),
        found.score.bound_s or 0.0,
        found.score.makespan_s if len(devices) > 1 else None,
    )


def bytes_of(workflow: Workflow) -> dict[str, float]:
    """Return the bytes that each task reads and writes; files without a size count as empty."""
    return {
        task.name: sum(workflow.sizes[file] or 0.0 for file in (*task.inputs, *task.outputs))
        for task in workflow.tasks
    }


def managed(
    graph: sp.StreamGraph,
    machines: tuple[sp.Device, ...],
    placed: Mapping[str, str],
    size_bytes: Mapping[str, float],
) -> Floats:
    """Return the makespans of a placement with each of `MANAGERS`, (M,), in seconds."""
    makespans = np.empty(len(MANAGERS))
    waits = sorted({manager.notice_s for manager in MANAGERS})
    for wait in waits:
        chosen = [m for m, manager in enumerate(MANAGERS) if manager.notice_s == wait]
        hosts = [sp.Device(f"manager {m}", 1.0, kind=f"manager {m}") for m in chosen]
        asked = [
            sp.Operator(
                f"start {name}",
                0.0,
                1.0,
                seconds_on={f"manager {m}": MANAGERS[m].seconds(size_bytes[name]) for m in chosen},
            )
            for name in graph.names
        ]
        own = [replace(each, instructions=0.0, payload_bytes=1.0) for each in graph.operators]
        streams = [sp.Stream(each.source, f"start {each.target}") for each in graph.streams]
        streams += [sp.Stream(f"start {name}", name) for name in graph.names]
        problem = sp.Problem(
            sp.StreamGraph([*own, *asked], streams, firing="all"),
            sp.Cluster([*machines, *hosts], sp.Network("free", None, wait)),
            objective=sp.Makespan(),
        )
        rows = [
            sp.Placement.of(
                problem, {**placed, **dict.fromkeys((each.name for each in asked), host.name)}
            ).devices
            for host in hosts
        ]
        makespans[chosen] = MakespanEvaluator(problem).makespans(np.array(rows))
    return makespans


def _makespan(graph: sp.StreamGraph, cluster: sp.Cluster, placed: Mapping[str, str]) -> float:
    problem = sp.Problem(graph, cluster, objective=sp.Makespan())
    devices = sp.Placement.of(problem, placed).devices
    return float(MakespanEvaluator(problem).makespans(devices)[0])


def _with_cores(devices: tuple[sp.Device, ...], cores: int, network: sp.Network) -> sp.Cluster:
    return sp.Cluster([replace(each, cores=cores) for each in devices], network)


def _with_used_cores(graph: sp.StreamGraph, value: dict[str, Any]) -> sp.StreamGraph:
    """Return the graph with the cores of each task that its mean use of processors needs."""
    workflow = value["workflow"]
    execution = workflow.get("execution", workflow)
    rows = execution.get("tasks") or workflow.get("jobs") or ()
    used = {row.get("id", row.get("name")): (row.get("avgCPU") or 0.0) / 100.0 for row in rows}
    operators = [
        replace(each, cores=max(each.cores, ceil(round(used.get(each.name, 0.0), 1))))
        for each in graph.operators
    ]
    return sp.StreamGraph(
        operators, graph.streams, firing=graph.firing, multicast=graph.multicast, name=graph.name
    )
