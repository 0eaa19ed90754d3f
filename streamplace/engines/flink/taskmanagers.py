"""Reader of Flink's TaskManagers as a cluster, less what running jobs hold."""

from collections import Counter
from typing import Annotated

from pydantic import Field

from streamplace.engines.devices import Devices
from streamplace.files.reading import check, parse
from streamplace.files.schema import Amounts, ForeignForm, Name, Number, Title
from streamplace.formats.format import Format, Signs
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph_checks import listed
from streamplace.util.text import counted

MIB = 2**20
Slots = Annotated[int, Field(ge=0, lt=2**31)]


class _Resource(ForeignForm):
    cores: Number = Field(alias="cpuCores")
    heap_mb: Number = Field(alias="taskHeapMemory")
    off_heap_mb: Number = Field(0.0, alias="taskOffHeapMemory")
    managed_mb: Number = Field(alias="managedMemory")
    labels: Amounts = Field(alias="extendedResources", default_factory=dict)

    @property
    def memory_bytes(self) -> float:
        """What operators may use."""
        return (self.heap_mb + self.off_heap_mb + self.managed_mb) * MIB


class _Hardware(ForeignForm):
    cores: Number = Field(alias="cpuCores")


class _TaskManager(ForeignForm):
    id: Name
    path: Title = ""
    slots: Slots = Field(alias="slotsNumber")
    free_slots: Slots = Field(alias="freeSlots")
    total: _Resource | None = Field(None, alias="totalResource")
    free: _Resource | None = Field(None, alias="freeResource")
    hardware: _Hardware | None = None
    blocked: bool | None = None

    @property
    def host(self) -> str:
        """The host in its path, such as ``pekko.tcp://flink@HOST:PORT/user/rpc/…``."""
        return self.path.partition("@")[2].partition("/")[0].rpartition(":")[0]


class _TaskManagers(ForeignForm):
    taskmanagers: list[_TaskManager]


def read(text: str, where: str) -> tuple[Cluster, list[str]]:
    """Read the answer of ``/taskmanagers``: a device for each TaskManager with a free slot.

    Its name is the TaskManager's id. Where the machine has fewer cores than Flink assumes, those
    of the machine count.

    Raises
    ------
    FormatError
        If the text is not valid, or no slot is free. The message names `where`, the place in it and
        the fault.
    """
    form = check(_TaskManagers, parse(text, where), where)
    devices, by_slots = Devices(where, "TaskManager"), list[str]()
    for i, each in enumerate(form.taskmanagers):
        if each.blocked:
            devices.leave_out(each.id, "blocked")
        elif not each.free_slots:
            devices.leave_out(each.id, "without a free slot")
        else:
            _add(devices, each, by_slots, f"taskmanagers[{i}].id")
    taken = sum(each.slots - each.free_slots for each in form.taskmanagers)
    if taken:
        devices.note(
            f"what running jobs hold is deducted: {counted(taken, 'slot')}; 'profile flink "
            "--cluster-out' writes the cluster of a running job"
        )
    if by_slots:
        devices.note(f"no resources are stated, so a core is assumed per slot: {listed(by_slots)}")
    shared = Counter(each.host for each in form.taskmanagers if each.host)
    if several := [host for host, count in shared.items() if count > 1]:
        devices.note(f"several TaskManagers on a host share its cores: {listed(several)}")
    return devices.cluster()


def _add(devices: Devices, each: _TaskManager, by_slots: list[str], place: str) -> None:
    total, free = each.total, each.free
    if total is None or free is None or not total.cores:  # as in lists of Flink before 1.12
        by_slots.append(each.id)
        devices.add(each.id, each.free_slots, place=place)
        return
    cores = min(total.cores, each.hardware.cores if each.hardware else total.cores)
    cores *= free.cores / total.cores
    devices.add(each.id, cores, free.memory_bytes, resources=free.labels, place=place)


FORMAT = Format(
    "flink-taskmanagers",
    about="Flink: a cluster, of /taskmanagers",
    read_cluster=read,
    signs=Signs(fields=(frozenset({"taskmanagers[].slotsNumber"}),)),
)
