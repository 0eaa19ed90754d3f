"""A reader of recorded executions of workflows in WfFormat, the format of WfCommons, JSON.

Every task becomes an operator, and the files that a task passes on to another one a stream. The
cluster has the machines, and the placement is where each task ran. What a file does not state, and
what is assumed instead, is in the notes of the result.
"""

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from math import ceil, isnan

from streamplace.files.reading import parse
from streamplace.formats.format import Format, Signs
from streamplace.formats.logical_builder import MIPS
from streamplace.networks.wfformat.versions import (
    MachineForm,
    Task,
    Workflow,
    workflow_from,
)
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.graph_checks import Multicast
from streamplace.problem.logical import LogicalGraph
from streamplace.util.text import counted

NETWORK = Network("nic")
"""The network that is assumed, since no file states one."""
ASSUMED_LINKS = (
    f"no bandwidth is stated; assumed: {NETWORK.kind} links of {NETWORK.bandwidth_mbps:g} Mbit/s "
    f"and {NETWORK.latency_s:g} s"
)
ANY_KIND = "machine"
"""The kind of machines about which nothing is stated, or where it is not stated which one ran."""
NO_DEPENDENCIES = (
    "no task depends on another, since the file states neither parents nor children, nor files "
    "that one task writes and another reads"
)
Passed = dict[tuple[int, int], dict[str, None]]
"""Parent and child, as indices of tasks -> the files that the child reads from the parent."""


def read(text: str, where: str) -> LogicalGraph:
    """Read an execution of a workflow.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If it is not a graph without cycles, or a number is out of range.
    ClusterError
        If a number of a machine is out of range, or there are too many machines.
    """
    return graph_of(workflow_from(parse(text, where), where))


def graph_of(workflow: Workflow) -> LogicalGraph:
    """Return the graph of a workflow, with the cluster and the placement that it states.

    Raises
    ------
    GraphError
        If it is not a graph without cycles, or a number is out of range.
    ClusterError
        If a number of a machine is out of range, or there are too many machines.
    """
    tasks = workflow.tasks
    passed, notes = _files_passed(tasks)
    bytes_of = {ends: _total(files, workflow.sizes) for ends, files in passed.items()}
    multicast, inexact = _multicast(passed, bytes_of, workflow.sizes)
    machines = _machines(workflow)
    kinds = _kinds(tasks, machines)
    payload: dict[int, float] = {}
    for (parent, _), size in bytes_of.items():
        payload[parent] = _largest(payload.get(parent, 0.0), size)
    placed = _assignment(tasks, list(machines))
    graph = StreamGraph(
        [
            _operator(task, payload.get(v, 0.0), kinds[placed.get(task.name)])
            for v, task in enumerate(tasks)
        ],
        [
            Stream(
                tasks[parent].name,
                tasks[child].name,
                payload_bytes=None if isnan(size) else size,  # None: that of the operator, unknown
            )
            for (parent, child), size in bytes_of.items()
        ],
        name=workflow.name,
        firing="all",
        multicast=multicast,
    )
    cluster = None
    if machines:
        cluster = Cluster([_device(m, kinds[name]) for name, m in machines.items()], NETWORK)
    return LogicalGraph(
        graph,
        notes=[
            _counts(workflow),
            *_about_machines(workflow, machines, placed),
            *notes,
            *_without_files(passed),
            *_about_files(workflow),
            *inexact,
        ],
        cluster=cluster,
        assignment=placed if cluster is not None and len(placed) == len(tasks) else None,
    )


def _operator(task: Task, payload_bytes: float, kind: str) -> Operator:
    seconds = {} if task.seconds is None else {kind: task.seconds}
    return Operator(
        task.name,
        UNKNOWN,
        payload_bytes,
        cores=max(1, ceil(task.cores or 1)),
        seconds_on=seconds,
        type=task.program,
    )


def _device(machine: MachineForm, kind: str) -> Device:
    cores = max(1, int(machine.cores or 1))
    return Device(machine.name, MIPS, cores, memory_bytes=machine.memory, kind=kind)


def _machines(workflow: Workflow) -> dict[str, MachineForm]:
    """Return the machines by name; those that only tasks name come last."""
    machines = {machine.name: machine for machine in workflow.machines}
    for task in workflow.tasks:
        for name in task.machines:
            if name not in machines:
                machines[name] = MachineForm(nodeName=name)
    return machines


def _kinds(tasks: Sequence[Task], machines: Mapping[str, MachineForm]) -> dict[str | None, str]:
    """Return the kind of each machine, and under None that of tasks that name no machine.

    Machines are of one kind if architecture, vendor and number of cores are equal. The stated clock
    does not count: it is the one of a moment, so that it differs between equal machines.
    """
    kinds: dict[str | None, str] = {}
    for name, machine in machines.items():
        vendor = machine.cpu.vendor if machine.cpu else None
        cores = counted(max(1, int(machine.cores)), "core") if machine.cores else ""
        stated = (machine.architecture or "", str(vendor or ""), cores)
        kinds[name] = " ".join(filter(None, stated)) or ANY_KIND
    several = len({*kinds.values()}) > 1
    if several and any(task.seconds is not None and not task.machines for task in tasks):
        kinds = dict.fromkeys(kinds, ANY_KIND)
    kinds[None] = next(iter(kinds.values()), ANY_KIND)
    return kinds


def _assignment(tasks: Sequence[Task], machines: Sequence[str]) -> dict[str, str]:
    """Return task -> the first machine that it names, or else the only one that there is."""
    only = machines if len(machines) == 1 else ()
    named = ((task.name, task.machines or only) for task in tasks)
    return {name: several[0] for name, several in named if several}


def _files_passed(tasks: Sequence[Task]) -> tuple[Passed, list[str]]:
    """Return the files that tasks pass on, and notes.

    Parents and children are those that are stated. A task also follows the only task that writes a
    file that it reads, unless tasks would then wait for each other.
    """
    writers: dict[str, list[int]] = {}
    for v, task in enumerate(tasks):
        for file in task.outputs:
            writers.setdefault(file, []).append(v)
    passed: Passed = {ends: {} for task in tasks for ends in sorted(task.relatives)}
    implied: Passed = {}
    for v, task in enumerate(tasks):
        for file in task.inputs:
            others = [w for w in writers.get(file, ()) if w != v]
            parents = [w for w in others if (w, v) in passed]
            for w in parents:
                passed[w, v][file] = None
            if not parents and len(others) == 1:
                implied.setdefault((others[0], v), {})[file] = None
    if not implied:
        return passed, [NO_DEPENDENCIES] if len(tasks) > 1 and not passed else []
    how_many = counted(len(implied), "pair")
    if _has_cycle([*passed, *implied]):
        return passed, [
            f"in {how_many} of tasks, one reads a file of the other, but is not its child; these "
            "files are not passed on, since tasks would wait for each other"
        ]
    return passed | implied, [
        f"in {how_many} of tasks, one reads a file of the other; it is taken as its child, "
        "although the file does not say so"
    ]


def _has_cycle(pairs: Sequence[tuple[int, int]]) -> bool:
    order = TopologicalSorter[int]()
    for parent, child in pairs:
        order.add(child, parent)
    try:
        order.prepare()
    except CycleError:
        return True
    return False


def _multicast(
    passed: Passed, bytes_of: Mapping[tuple[int, int], float], sizes: Mapping[str, float | None]
) -> tuple[Multicast, list[str]]:
    """Return how messages are shared, and a note unless they are the files exactly.

    A file that several children read is one message to a device (``device``), of the size of what
    the child on it that reads most reads. That is too little where children read different files,
    and one message per child (``none``) is too much where they read the same. The choice is the
    one with the smaller error if all children of a task are on one other device.
    """
    children: dict[int, list[tuple[int, int]]] = {}
    for ends in passed:
        children.setdefault(ends[0], []).append(ends)
    missing = extra = 0.0
    for streams in children.values():
        files = dict.fromkeys(file for ends in streams for file in passed[ends])
        once, each = _total(files, sizes), [bytes_of[ends] for ends in streams]
        if not isnan(once):
            missing += once - max(each)
            extra += sum(each) - once
    if missing <= extra:
        what = "a task sends one message to a device: of different files that tasks there read of "
        what += f"it, those that one of them reads (at most {missing:.3g} bytes too few)"
        return "device", [what] if missing else []
    what = "a task sends a message to each child: a file that several on one device read counts "
    what += f"for each (at most {extra:.3g} bytes too many)"
    return "none", [what] if extra else []


def _total(files: Mapping[str, None], sizes: Mapping[str, float | None]) -> float:
    """Return the bytes of files; UNKNOWN if that of one is not stated."""
    found = [sizes[file] for file in files]
    return UNKNOWN if None in found else sum(size for size in found if size is not None)


def _largest(a: float, b: float) -> float:
    return UNKNOWN if isnan(a) or isnan(b) else max(a, b)


def _counts(workflow: Workflow) -> str:
    """Return what the file contains, as text."""
    known = sum(size for size in workflow.sizes.values() if size is not None)
    files = f"{counted(len(workflow.sizes), 'file')} of {known:.6g} bytes"
    counts = f"{counted(len(workflow.tasks), 'task')}, {files}, "
    counts += counted(len(workflow.machines), "machine")
    if not workflow.makespan_s:  # a generated workflow states 0
        return f"{counts}; no measured makespan"
    return f"{counts}; measured makespan {workflow.makespan_s:.10g} s"


def _about_machines(
    workflow: Workflow, machines: Mapping[str, MachineForm], placed: Mapping[str, str]
) -> list[str]:
    """Return what the file does not state about machines and run times, one line each."""
    tasks = workflow.tasks
    lines = []

    def say(count: int, of: Sequence[object], what: str, then: str) -> None:
        if count:
            noun = "task" if of is tasks else "machine"
            lines.append(f"{count} of {counted(len(of), noun)} {what}; {then}")

    every = [*machines.values()]
    unnamed = sum(not task.machines for task in tasks)
    say(
        sum(task.seconds is None for task in tasks),
        tasks,
        "without run time",
        "set instructions in a costs file",
    )
    if not machines:
        lines.append(
            f"no machine is stated; run times are those of devices of kind {ANY_KIND!r}, which "
            "those of --cluster need"
        )
    elif len(placed) == len(tasks):
        say(unnamed, tasks, "without machine", "they ran on the only one that the file has")
    else:
        say(unnamed, tasks, "without machine", "so there is no recorded placement")
    say(
        sum(len(task.machines) > 1 for task in tasks),
        tasks,
        "with several machines",
        "the first one counts",
    )
    if machines:
        say(sum(task.cores is None for task in tasks), tasks, "without cores", "1 is assumed")
        say(len(every) - len(workflow.machines), every, "named by tasks only", "nothing is stated")
        say(sum(m.cores is None for m in every), every, "without cores", "1 is assumed")
        say(sum(m.memory is None for m in every), every, "without memory", "no limit is assumed")
        lines.append(ASSUMED_LINKS)
        lines.append("clocks of processors are not read, since run times are measured")
    say(
        sum(task.memory is not None for task in tasks),
        tasks,
        "with memory",
        "it is not read, since a device would need that of all its tasks at once",
    )
    return lines


def _without_files(passed: Passed) -> list[str]:
    """Return a note on children that read no file of their parent."""
    without = sum(not files for files in passed.values())
    if not without:
        return []
    return [
        f"in {without} of {counted(len(passed), 'pair')} of parent and child, the child reads no "
        "file that the parent writes; their streams have 0 bytes"
    ]


def _about_files(workflow: Workflow) -> list[str]:
    """Return what is assumed about files, one line each."""
    sizes, lines = workflow.sizes, []
    if workflow.has_older_sizes:
        lines.append(
            "sizes of files count as bytes, as in WfCommons's migration from versions before 1.4, "
            "although their schema said KB"
        )
    unknown = sum(size is None for size in sizes.values())
    if unknown:
        lines.append(f"{unknown} of {counted(len(sizes), 'file')} without size; see 'unknown'")
    written = {file for task in workflow.tasks for file in task.outputs}
    inputs = {file: None for task in workflow.tasks for file in task.inputs if file not in written}
    if inputs:
        total = sum(sizes[file] or 0.0 for file in inputs)
        lines.append(
            f"{counted(len(inputs), 'file')} of {total:.6g} bytes that no task writes: assumed to "
            "be on every machine from the start"
        )
    return lines


FORMAT = Format(
    "wfformat",
    about="WfCommons: a recorded run of a workflow, JSON, with a cluster and a placement",
    read=read,
    signs=Signs(fields=(frozenset({"workflow", "schemaVersion"}),)),
    has_cluster=True,
    has_placement=True,
)
