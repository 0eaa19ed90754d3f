"""Reader of Storm's supervisors as a cluster, less what running topologies hold."""

from collections import Counter
from typing import Annotated

from pydantic import Field

from streamplace.engines.devices import Devices
from streamplace.engines.storm.settings import MIB, Amount, generic_amounts
from streamplace.files.reading import check, parse
from streamplace.files.schema import ForeignForm, Name, Title
from streamplace.formats.format import Format, Signs
from streamplace.problem.cluster import Cluster
from streamplace.util.text import counted

CORE = 100.0  # percent
DEFAULT_CPU = 400.0
"""What Storm says of a supervisor whose ``supervisor.cpu.capacity`` is not set."""
Slots = Annotated[int, Field(ge=0, lt=2**31)]


class _Supervisor(ForeignForm):
    id: Name
    host: Name
    slots: Slots = Field(alias="slotsTotal")
    used_slots: Slots = Field(0, alias="slotsUsed")
    cpu: Amount = Field(alias="totalCpu")
    memory_mb: Amount | None = Field(None, alias="totalMem")
    used_cpu: Amount = Field(0.0, alias="usedCpu")
    used_cpu_of_manual: Amount = Field(0.0, alias="usedCPU")  # as in the sample of Storm's manual
    used_memory_mb: Amount = Field(0.0, alias="usedMem")
    resources: Title | None = Field(None, alias="availGenericResources")
    blacklisted: bool | None = None


class _Supervisors(ForeignForm):
    supervisors: list[_Supervisor]


def read(text: str, where: str) -> tuple[Cluster, list[str]]:
    """Read the answer of ``/api/v1/supervisor/summary``.

    A device has the name of its host, or the supervisor's id where a host has several.

    Raises
    ------
    FormatError
        If the text is not valid, or no slot is free. The message names `where`, the place in it and
        the fault.
    """
    form = check(_Supervisors, parse(text, where), where)
    devices, used = Devices(where, "supervisor"), 0
    hosts = Counter(each.host for each in form.supervisors)
    for i, each in enumerate(form.supervisors):
        name = each.host if hosts[each.host] == 1 else each.id
        used += each.used_slots
        if each.blacklisted:
            devices.leave_out(name, "blacklisted")
        elif each.used_slots >= each.slots:
            devices.leave_out(name, "without a free slot")
        else:
            taken = each.used_cpu or each.used_cpu_of_manual
            memory = None if each.memory_mb is None else each.memory_mb - each.used_memory_mb
            devices.add(
                name,
                (each.cpu - taken) / CORE,
                None if memory is None else memory * MIB,
                resources=generic_amounts(each.resources or ""),
                place=f"supervisors[{i}].id",
            )
    if used:
        devices.note(f"what running topologies hold is deducted: {counted(used, 'slot')}")
    if form.supervisors and all(each.cpu == DEFAULT_CPU for each in form.supervisors):
        devices.note(
            f"totalCpu is {DEFAULT_CPU:g} everywhere, which Storm says of any machine unless "
            "supervisor.cpu.capacity is set: check the cores"
        )
    return devices.cluster()


FORMAT = Format(
    "storm-supervisors",
    about="Storm: a cluster, of the UI's /api/v1/supervisor/summary",
    read_cluster=read,
    signs=Signs(fields=(frozenset({"supervisors[].slotsTotal"}),)),
)
