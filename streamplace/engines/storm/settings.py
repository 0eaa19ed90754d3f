"""Storm's settings about executors, in the configuration of a topology or of one component."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from streamplace.files.schema import Amounts, ForeignForm
from streamplace.problem.logical import BY_KEY, AnyDistribution, Distribution, LogicalGraph
from streamplace.util.text import DECIMAL

MIB = 2**20
DEFAULT_HEAP = 128  # MiB of an executor whose component states none, such as the acker
DEFAULT_CPU = 10  # percent of a core, likewise
ON_HEAP = "topology.component.resources.onheap.memory.mb"
OFF_HEAP = "topology.component.resources.offheap.memory.mb"
CPU = "topology.component.cpu.pcore.percent"
LONG_NAMES = {"onheap.memory.mb": ON_HEAP, "offheap.memory.mb": OFF_HEAP, "cpu.pcore.percent": CPU}
"""Names that Storm uses inside of maps of resources -> names of the settings."""
RESOURCES = "topology.component.resources.map"
CONSTRAINTS = "topology.ras.constraints"

_NOT_ALL: dict[str, AnyDistribution] = {
    "all": Distribution.BROADCAST,
    "global": Distribution.FIRST,
    "fields": BY_KEY,
}


def distribution_of(grouping: str) -> AnyDistribution:
    """Return the distribution of a grouping, whose name is in lower case as in Storm's UI.

    ``all`` copies each tuple to all instances, and ``global`` sends it to the first one. All other
    groupings divide the tuples among all instances.
    """
    return _NOT_ALL.get(grouping, Distribution.ALL)


def _number(value: Any) -> Any:
    """Convert numbers that Storm writes as text."""
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"must be a number (got {value!r:.40})") from None


Amount = Annotated[float, BeforeValidator(_number), Field(ge=0, allow_inf_nan=False)]


class Settings(ForeignForm):
    """A configuration: of a topology, whose requests are those of all executors, or a component."""

    on_heap: Amount | None = Field(None, alias=ON_HEAP)
    off_heap: Amount | None = Field(None, alias=OFF_HEAP)
    resources: Amounts | None = Field(None, alias=RESOURCES)
    tasks: int | None = Field(None, alias="topology.tasks", ge=0)
    most_tasks: int | None = Field(None, alias="topology.max.task.parallelism", ge=0)
    constraints: Any = Field(None, alias=CONSTRAINTS)
    spread: Any = Field(None, alias="topology.spread.components")

    @property
    def requests(self) -> dict[str, float]:
        """Resource -> what one executor requests; memory in MiB, CPU in percent of a core."""
        memory = {ON_HEAP: self.on_heap, OFF_HEAP: self.off_heap}
        found = {name: amount for name, amount in memory.items() if amount is not None}
        return found | {
            LONG_NAMES.get(n, n): amount for n, amount in (self.resources or {}).items()
        }

    @property
    def notes(self) -> list[str]:
        """What the reader leaves out of a topology's configuration, one line each."""
        if not self.constraints and not self.spread:
            return []
        return [
            f"{CONSTRAINTS} and topology.spread.components are not read, since they are about "
            "workers and about numbers of executors on a host; add exlocate to the graph's "
            "constraints for operators that need different devices"
        ]


DEFAULT_STREAM = "default"
"""The id of a stream for which a topology states none."""


def is_internal(name: str) -> bool:
    """Return whether a component or stream is internal to Storm."""
    return name.startswith("__")


def requests_of_executor(
    on_heap: float | None, off_heap: float | None, generic: str
) -> dict[str, float]:
    """Return what one executor requests according to Storm's UI; see `Settings.requests`.

    The UI shows Storm's defaults where a component states nothing. They are no facts of the job.

    Parameters
    ----------
    on_heap, off_heap
        MiB.
    generic
        Other resources, such as ``fpga.count=1.0 gpu.count=2.0``.
    """
    heap, other = on_heap or 0.0, off_heap or 0.0
    memory = {} if (heap, other) == (DEFAULT_HEAP, 0) else {ON_HEAP: heap, OFF_HEAP: other}
    return memory | generic_amounts(generic)


def generic_amounts(text: str) -> dict[str, float]:
    """Return resource -> amount, of text such as ``fpga.count=1.0 gpu.count=2.0``."""
    parts = [part.rpartition("=") for part in text.split()]
    others = {name: amount for name, _, amount in parts if name and DECIMAL.fullmatch(amount)}
    return {name: float(amount) for name, amount in others.items()}


def with_requests(
    logical: LogicalGraph, requests: Mapping[str, Mapping[str, float]], notes: Iterable[str] = ()
) -> LogicalGraph:
    """Return a graph with what executors request as the memory and resources of operators.

    Parameters
    ----------
    requests
        Component -> resource -> amount; see `Settings.requests`. CPU is left out, since it is what
        an executor needs at a rate that the document does not contain.
    notes
        Notes to add.
    """
    graph = logical.graph
    of_each = [requests.get(name, {}) for name in graph.names]
    memory = [(of.get(ON_HEAP, 0) + of.get(OFF_HEAP, 0)) * MIB for of in of_each]
    known = LONG_NAMES.values()
    resources = {
        v: generic
        for v, of in enumerate(of_each)
        if (generic := {name: amount for name, amount in of.items() if name not in known})
    }
    filled = logical.with_graph(*graph.with_numbers(memory_bytes=memory, resources=resources))
    return replace(filled, notes=[*logical.notes, *notes])
