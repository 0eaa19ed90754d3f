"""Notes on exports: what a format loses of a placement, and what it assumes."""

import re
from collections.abc import Callable

from streamplace.engines.flink.groups import groups_of
from streamplace.engines.kubernetes.deployments import assumed_nodes
from streamplace.engines.kubernetes.parts import lost_numbers, shared_requests
from streamplace.engines.kubernetes.resources import assumed_names, rounded_up
from streamplace.engines.storm.ras import assumed_capacities, assumed_room
from streamplace.formats.instances import devices_of_instances, shown
from streamplace.problem.placement import Placement
from streamplace.problem.symmetry import interchangeable

ACCELERATOR = re.compile(r"gpu|tpu|npu|fpga|cuda|accelerator", re.IGNORECASE)
COMMENTS = {
    "flink": "# ",
    "flink-config": "# ",
    "storm-ras": "# ",
    "kubernetes": "# ",
    "ibm-spl": "// ",
}
"""Format -> how its comments begin; other formats have none."""
ASSUMED: dict[str, tuple[Callable[[Placement], str], ...]] = {
    "kubernetes": (assumed_names, shared_requests, assumed_nodes),
    "storm-ras": (assumed_capacities, assumed_room),
}
"""Format -> what finds its assumptions."""


def losses(placement: Placement, kind: str) -> list[str]:
    """Return the facts that are lost in a format, one sentence each."""
    return [sentence for find in FINDERS.get(kind, ()) if (sentence := find(placement))]


def assumptions(placement: Placement, kind: str) -> list[str]:
    """Return what a format assumes about a placement, one sentence each."""
    return [sentence for find in ASSUMED.get(kind, ()) if (sentence := find(placement))]


def with_notes(text: str, placement: Placement, kind: str) -> str:
    """Return an export with what it loses and assumes as comments, if the format has comments."""
    if kind not in COMMENTS:
        return text
    notes = [f"Lost: {each}" for each in losses(placement, kind)]
    notes += [f"Assumed: {each}" for each in assumptions(placement, kind)]
    return "".join(f"{COMMENTS[kind]}{note}\n" for note in notes) + text


def _accelerators(placement: Placement) -> str:
    graph = placement.problem.graph
    names = [
        graph.names[v]
        for v, labels in graph.requires.items()
        if any(ACCELERATOR.search(label) for label in labels) and v not in graph.resources
    ]
    if not names:
        return ""
    who, require, need = (
        ("it", "requires", "needs") if len(names) == 1 else ("they", "require", "need")
    )
    return (
        f"the work of {shown(names)}, which {require} an accelerator, is counted as CPU; "
        f"set what {who} {need} by hand"
    )


def _resources(placement: Placement) -> str:
    names = placement.problem.graph.resource_names
    if not names:
        return ""
    return (
        f"the file does not reserve {shown(names)}, which the placement counts; "
        "reserve what is needed by hand"
    )


def _memory(placement: Placement) -> str:
    if not placement.problem.graph.memory_bytes.any():
        return ""
    return (
        "memory is not carried over; give each TaskManager what the placement counts on its device"
    )


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
        f"Storm chooses which executors of {shown(split)} run on which host, and how many, up to "
        "the most that the placement has on one device"
    )


def _operators(placement: Placement) -> str:
    return "only the number of PEs is kept; use ibm-spl for which operator runs where"


def _instances(placement: Placement) -> str:
    split = [g for g in groups_of(placement).groups if len(g.slots) > 1]
    names = [name for group in split for name in group.operators]
    if not names:
        return ""
    return f"Flink chooses which instances of {shown(names)} run on which device; counts are kept"


def _slots(placement: Placement) -> str:
    groups = groups_of(placement)
    several = [g.name for g in groups.groups if g.slot is None and max(g.slots.values()) > 1]
    if not several:
        return ""
    return f"Flink chooses the TaskManagers of the slots of {shown(several)}"


FINDERS: dict[str, tuple[Callable[[Placement], str], ...]] = {
    "flink": (_instances, _slots, _resources, _memory),
    "flink-config": (_instances, _resources, _memory),
    "capsys": (_resources,),
    "storm-ras": (_hosts, _executors, _accelerators, _resources),
    "kubernetes": (_accelerators, rounded_up, lost_numbers),
    "ray": (_resources,),
    "ibm-spl": (_resources,),
    "ibm-overlay": (_operators,),
}
"""Format -> what finds its losses."""
