"""Versions of WfFormat, the format of WfCommons: where each keeps tasks, files and machines.

Version 1.5 divides a workflow into ``specification`` (tasks, files) and ``execution`` (run times,
machines). Up to version 1.4 tasks hold all of it, and files are listed with each task. Versions
before 1.4 have other names for some fields.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from streamplace.errors import FormatError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm, Name, Number, Title
from streamplace.util.suggest import did_you_mean

KB = 1000.0
"""Bytes, as ``wfcommons-migrate-instance.py`` takes them."""


class CpuForm(ForeignForm):
    """The processor of a machine; ``count`` is the older name of ``coreCount``."""

    cores: Number | None = Field(None, alias="coreCount")
    count: Number | None = None
    vendor: Title | None = None


class MachineForm(ForeignForm):
    """A machine."""

    name: Name = Field(alias="nodeName")
    architecture: Title | None = None
    memory_bytes: Number | None = Field(None, alias="memoryInBytes")
    older_memory: Number | None = Field(None, alias="memory")
    cpu: CpuForm | None = None

    @property
    def memory(self) -> float | None:
        """The bytes of memory, which versions before 1.4 state in KB; None: not stated."""
        older = None if self.older_memory is None else KB * self.older_memory
        return older if self.memory_bytes is None else self.memory_bytes

    @property
    def cores(self) -> float | None:
        """The number of cores, which may be a fraction; None: not stated."""
        if self.cpu is None:
            return None
        return self.cpu.count if self.cpu.cores is None else self.cpu.cores


class CommandForm(ForeignForm):
    """The command of a task."""

    program: Title | None = None


class FileForm(ForeignForm):
    """A file, in version 1.5."""

    id: Name
    size: Number | None = Field(None, alias="sizeInBytes")


class SpecifiedForm(ForeignForm):
    """A task of the specification, in version 1.5."""

    id: Name
    parents: list[str] = Field(default_factory=list)
    children: list[str] = Field(default_factory=list)
    inputs: list[Name] = Field(default_factory=list, alias="inputFiles")
    outputs: list[Name] = Field(default_factory=list, alias="outputFiles")


class ExecutedForm(ForeignForm):
    """A task of the execution, in version 1.5; its drafts had one ``machine``."""

    id: Name
    seconds: Number | None = Field(None, alias="runtimeInSeconds")
    cores: Number | None = Field(None, alias="coreCount")
    memory: Number | None = Field(None, alias="memoryInBytes")
    machines: list[Name] | None = None
    machine: Name | None = None
    command: CommandForm | None = None


class SpecificationForm(ForeignForm):
    """The first half of a workflow, in version 1.5."""

    tasks: list[SpecifiedForm] = Field(min_length=1)
    files: list[FileForm] | None = None


class ExecutionForm(ForeignForm):
    """The second half of a workflow, in version 1.5."""

    makespan: Number | None = Field(None, alias="makespanInSeconds")
    tasks: list[ExecutedForm] = Field(default_factory=list)
    machines: list[MachineForm] | None = None


class DividedForm(ForeignForm):
    """A workflow, in version 1.5."""

    specification: SpecificationForm
    execution: ExecutionForm | None = None


class LinkedFileForm(ForeignForm):
    """A file of a task, up to version 1.4."""

    name: Name
    path: Title | None = None
    size: Number | None = Field(None, alias="sizeInBytes")
    older_size: Number | None = Field(None, alias="size")
    link: Literal["input", "output"]


class TaskForm(ForeignForm):
    """A task, up to version 1.4."""

    name: Name
    id: Title | None = None
    parents: list[str] = Field(default_factory=list)
    children: list[str] = Field(default_factory=list)
    files: list[LinkedFileForm] = Field(default_factory=list)
    seconds: Number | None = Field(None, alias="runtimeInSeconds")
    older_seconds: Number | None = Field(None, alias="runtime")
    cores: Number | None = None
    memory: Number | None = Field(None, alias="memoryInBytes")
    older_memory: Number | None = Field(None, alias="memory")
    machine: Name | None = None
    command: CommandForm | None = None

    @property
    def joined(self) -> str:
        """The name with the id, which stands for the task where its name alone does not."""
        return f"{self.name}_{self.id}" if self.id else self.name


class UndividedForm(ForeignForm):
    """A workflow, up to version 1.4; before version 1.3, its tasks are called ``jobs``."""

    makespan: Number | None = Field(None, alias="makespanInSeconds")
    older_makespan: Number | None = Field(None, alias="makespan")
    tasks: list[TaskForm] = Field(default_factory=list)
    jobs: list[TaskForm] = Field(default_factory=list)
    machines: list[MachineForm] | None = None


class DividedFileForm(ForeignForm):
    """A file of version 1.5."""

    name: Title = ""
    workflow: DividedForm


class UndividedFileForm(ForeignForm):
    """A file of version 1.4 or before."""

    name: Title = ""
    workflow: UndividedForm


@dataclass(frozen=True)
class Task:
    """A task, as all versions describe it.

    Attributes
    ----------
    relatives
        Pairs of a parent and a child, of which one is this task, as indices of tasks.
    inputs, outputs
        The ids of the files that it reads and writes.
    seconds, cores, memory
        Run time, number of cores and bytes of memory; None: not stated.
    machines
        The names of the machines on which it ran.
    program
        The name of its program; empty if it is not stated.
    """

    name: str
    relatives: frozenset[tuple[int, int]]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    seconds: float | None = None
    cores: float | None = None
    memory: float | None = None
    machines: tuple[str, ...] = ()
    program: str = ""


@dataclass(frozen=True)
class Workflow:
    """A workflow, as all versions describe it.

    Attributes
    ----------
    sizes
        File -> its size in bytes; None: not stated.
    makespan_s
        The measured makespan in seconds; None: not stated.
    has_older_sizes
        Whether sizes have the name that they had before version 1.4, whose schema said KB.
    """

    name: str
    tasks: Sequence[Task]
    sizes: Mapping[str, float | None]
    machines: Sequence[MachineForm]
    makespan_s: float | None
    has_older_sizes: bool = False


def workflow_from(value: Any, where: str) -> Workflow:
    """Return the workflow of a JSON value of any version.

    Raises
    ------
    FormatError
        If it is not valid, or refers to a task or file that it does not contain. The message names
        `where`, the place in it and the fault.
    """
    workflow = value.get("workflow") if isinstance(value, dict) else None
    if isinstance(workflow, dict) and "specification" in workflow:
        return _of_version_1_5(check(DividedFileForm, value, where), where)
    return _of_version_1_4(check(UndividedFileForm, value, where), where)


def _of_version_1_5(file: DividedFileForm, where: str) -> Workflow:
    """Return a workflow of version 1.5."""
    specified = file.workflow.specification
    executed = file.workflow.execution or ExecutionForm.model_construct()
    here, execution = f"{where}: workflow.specification", f"{where}: workflow.execution"
    index = unique((task.id for task in specified.tasks), f"{here}.tasks", "id")
    runs = unique((task.id for task in executed.tasks), f"{execution}.tasks", "id")
    machines = executed.machines or []
    unique((machine.name for machine in machines), f"{execution}.machines", "nodeName")
    for name, i in runs.items():
        find(name, index, f"{execution}.tasks[{i}].id", "task")
    files = specified.files
    numbers = unique((each.id for each in files or ()), f"{here}.files", "id")
    sizes = {} if files is None else {name: files[i].size for name, i in numbers.items()}
    tasks = []
    for i, task in enumerate(specified.tasks):
        place = f"{here}.tasks[{i}]"
        for field, names in (("inputFiles", task.inputs), ("outputFiles", task.outputs)):
            for n, name in enumerate(names):
                if files is None:
                    sizes.setdefault(name, None)
                find(name, sizes, f"{place}.{field}[{n}]", "file")
        run = executed.tasks[runs[task.id]] if task.id in runs else None
        tasks.append(
            Task(
                task.id,
                _relatives(i, task, index, place),
                tuple(dict.fromkeys(task.inputs)),
                tuple(dict.fromkeys(task.outputs)),
                **({} if run is None else _of_run(run, run.machines or ())),
            )
        )
    return Workflow(file.name, tasks, sizes, machines, executed.makespan)


def _of_version_1_4(file: UndividedFileForm, where: str) -> Workflow:
    """Return a workflow of version 1.4 or before."""
    workflow = file.workflow
    field = "tasks" if workflow.tasks or not workflow.jobs else "jobs"
    forms, here = workflow.tasks or workflow.jobs, f"{where}: workflow.{field}"
    if not forms:
        raise FormatError(f"{here}: must have at least one task")
    count = Counter(task.name for task in forms)
    names = [task.name if count[task.name] == 1 else task.joined for task in forms]
    index = unique(names, here, "name")
    for other in ("joined", "id"):  # other ways to refer to a task
        for i, task in enumerate(forms):
            index.setdefault(getattr(task, other) or task.name, i)
    machines = workflow.machines or []
    unique((machine.name for machine in machines), f"{where}: workflow.machines", "nodeName")
    sizes: dict[str, float | None] = {}
    tasks = []
    for i, task in enumerate(forms):
        linked: dict[str, dict[str, None]] = {"input": {}, "output": {}}
        for each in task.files:
            name = (each.path or "") + each.name
            linked[each.link][name] = None
            size = each.older_size if each.size is None else each.size
            known = sizes.get(name)
            sizes[name] = size if known is None or (size or 0.0) > known else known
        tasks.append(
            Task(
                names[i],
                _relatives(i, task, index, f"{here}[{i}]"),
                tuple(linked["input"]),
                tuple(linked["output"]),
                **_of_run(task, ()),
            )
        )
    makespan = workflow.older_makespan if workflow.makespan is None else workflow.makespan
    older = any(each.size is None and each.older_size for task in forms for each in task.files)
    return Workflow(file.name, tasks, sizes, machines, makespan, older)


def _of_run(run: ExecutedForm | TaskForm, machines: Sequence[str]) -> dict[str, Any]:
    """Return the fields of `Task` that say how it ran."""
    seconds = run.seconds
    if seconds is None and isinstance(run, TaskForm):
        seconds = run.older_seconds
    memory = run.memory
    if memory is None and isinstance(run, TaskForm) and run.older_memory is not None:
        memory = KB * run.older_memory
    named = machines or (() if run.machine is None else (run.machine,))
    return {
        "seconds": seconds,
        "cores": run.cores,
        "memory": memory,
        "machines": tuple(dict.fromkeys(named)),
        "program": (run.command.program if run.command else None) or "",
    }


def _relatives(
    i: int, task: SpecifiedForm | TaskForm, index: Mapping[str, int], place: str
) -> frozenset[tuple[int, int]]:
    parents = (find(p, index, f"{place}.parents[{n}]", "task") for n, p in enumerate(task.parents))
    children = (
        find(c, index, f"{place}.children[{n}]", "task") for n, c in enumerate(task.children)
    )
    return frozenset((parent, i) for parent in parents) | {(i, child) for child in children}


def unique(names: Iterable[str], place: str, field: str) -> dict[str, int]:
    """Return the index of each name; refuse a name that appears twice.

    Raises
    ------
    FormatError
        If one does.
    """
    index: dict[str, int] = {}
    for i, name in enumerate(names):
        if index.setdefault(name, i) != i:
            raise FormatError(f"{place}[{i}].{field}: {name!r:.80} appears twice")
    return index


def find(name: str, known: Mapping[str, Any], place: str, what: str) -> Any:
    """Return what a name stands for; refuse one that is not known.

    Raises
    ------
    FormatError
        If it is not.
    """
    if name not in known:
        raise FormatError(f"{place}: unknown {what} {name!r:.80}{did_you_mean(name, tuple(known))}")
    return known[name]
