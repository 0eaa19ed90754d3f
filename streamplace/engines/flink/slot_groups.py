"""Writers of Flink's slot-sharing groups and labels, and of a Java class for a job."""

import json
from importlib.resources import files

from streamplace.engines.flink.groups import Group, Groups, Slot, groups_of
from streamplace.formats.format import Format
from streamplace.formats.instances import ascii_names, on_one_line
from streamplace.formats.losses import resources
from streamplace.problem.placement import Placement

HEAD = """\
# Written by `streamplace export --to flink`: operator = slot-sharing group. The class
# StreamplaceMapping (`--to flink-helper`) reads this file. A group takes one slot unless its line
# below says otherwise. Give each TaskManager one slot (taskmanager.numberOfTaskSlots: 1) and
# start one TaskManager per slot.
"""
LABELLED_HEAD = """\
# Written by `streamplace export --to flink`: operator = slot-sharing group. The class
# StreamplaceMapping (`--to flink-helper`) reads this file. Each group asks for a label, an external
# resource that the TaskManager of its device offers; a group on several devices asks for one per
# device, whose amount limits its slots there. Each TaskManager needs the lines that
# `--to flink-config` writes. Not with jobmanager.scheduler: adaptive, which ignores labels.
# cores and heap_mb are only accounted; managed_mb is the real share of managed memory (RocksDB).
"""
CONFIGURATION_HEAD = """\
# Written by `streamplace export --to flink-config`: labels, one part per device of the cluster.
# Add each part to the config.yaml of the device's TaskManager and restart it once; labels are fixed
# when a TaskManager starts. The JobManager needs none of them. They fit every placement
# {which}.
# Leave jobmanager.scheduler unset: the adaptive scheduler ignores labels without a message.
"""
DIVIDED = """\
of this job on these devices, also with other numbers of instances: those that begin with parts_
# limit the slots of a divided operator on one device each"""
WHOLE = """\
of this job on these devices that divides no operator; before one is divided, write them anew from
# a placement of instances"""


def write(placement: Placement) -> str:
    """Return properties ``operator=group``, one line per operator of the job.

    PEs are numbered in the order of the cluster's devices; unused devices have no number. The key
    of an operator is its name in the job, or its uid. If devices differ, or the instances of an
    operator are on several, each group has a line ``@group=label …`` for its label.

    Raises
    ------
    ProblemError
        If the parts of a sink are apart, or an operator's name begins with ``@``.
    """
    groups = groups_of(placement)
    head = LABELLED_HEAD if groups.labels else HEAD
    comments = [f"# {group.name}: {_comment(group)}\n" for group in groups.groups]
    return head + "".join(comments) + mapping(groups)


def mapping(groups: Groups) -> str:
    """Return the lines of the file without comments."""
    lines = [
        f"@{group.name}={_labels_of_slot(group.slot)}, cores {group.slot.cores:g}, "
        f"heap_mb {group.slot.heap_mb}, managed_mb {group.slot.managed_mb}\n"
        for group in groups.groups
        if group.slot is not None
    ]
    for name, group in groups.group_of.items():
        instances = groups.parallelism(name)
        more = "" if instances is None else f", parallelism {instances}"
        lines.append(f"{_key(name)}={group.name}{more}\n")
    return "".join(lines)


def _labels_of_slot(slot: Slot) -> str:
    """Return the labels of a slot; an amount of 1 is left out."""
    rows = slot.labels.items()
    return ", ".join(f"label {name}" + (f" {n}" if n > 1 else "") for name, n in rows)


def _comment(group: Group) -> str:
    several = len(group.slots) > 1
    parts: list[str] = []
    for device, slots in group.slots.items():
        name, count = on_one_line(device), f"{slots} slots" if slots > 1 else "1 slot"
        if several:
            parts.append(f"{slots if parts else count} on {name}")
        else:
            parts.append(f"{name}, needs {count}" if slots > 1 else name)
    if several:
        return f"{', '.join(parts)}; Flink chooses which instance takes which"
    chooses = (
        "; Flink chooses which, unless they are applied with --labels"
        if group.slot is None and sum(group.slots.values()) > 1
        else ""
    )
    return parts[0] + chooses


def _key(name: str) -> str:
    r"""Escape a key for java.util.Properties; characters beyond ASCII become ``\uXXXX``."""
    escaped = []
    for letter in name:
        if letter in " \\=:#!":
            escaped.append("\\" + letter)
        elif " " < letter <= "~":
            escaped.append(letter)
        else:
            units = letter.encode("utf-16-be")
            escaped += [f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)]
    return "".join(escaped)


def write_configuration(placement: Placement) -> str:
    """Return the lines that each TaskManager's configuration needs for its labels, as YAML.

    There is one document per device of the cluster.

    Raises
    ------
    ProblemError
        As for ``--to flink``.
    """
    which = DIVIDED if placement.problem.graph.instance_of else WHOLE
    parts = [CONFIGURATION_HEAD.format(which=which)]
    for device, labels in groups_of(placement, labels=True).labels.items():
        parts.append(f"--- # {json.dumps(device)}\nexternal-resources: {';'.join(labels)}\n")
        parts += [f"external-resource.{name}.amount: {n}\n" for name, n in labels.items()]
    return "".join(parts)


def helper_source(placement: Placement | None = None) -> str:
    """Return the text of ``StreamplaceMapping.java``, which depends on Flink only."""
    return files(__package__).joinpath("StreamplaceMapping.java").read_text(encoding="utf-8")


def _instances(placement: Placement) -> str:
    split = [g for g in groups_of(placement).groups if len(g.slots) > 1]
    names = [name for group in split for name in group.operators]
    if not names:
        return ""
    some = ascii_names(names)
    return f"Flink chooses which instances of {some} run on which device; counts are kept"


def _slots(placement: Placement) -> str:
    groups = groups_of(placement)
    several = [g.name for g in groups.groups if g.slot is None and max(g.slots.values()) > 1]
    if not several:
        return ""
    return f"Flink chooses the TaskManagers of the slots of {ascii_names(several)}"


def _memory(placement: Placement) -> str:
    if not placement.problem.graph.memory_bytes.any():
        return ""
    return (
        "memory is not carried over; give each TaskManager what the placement counts on its device"
    )


GROUPS = Format(
    "flink",
    about="Flink: slot-sharing groups, operator=peN, with labels if devices differ",
    write=write,
    comment="# ",
    losses=(_instances, _slots, resources, _memory),
)
CONFIGURATION = Format(
    "flink-config",
    about="Flink: the lines that each TaskManager's configuration needs for its labels",
    write=write_configuration,
    comment="# ",
    losses=(_instances, resources, _memory),
)
HELPER = Format(
    "flink-helper",
    about="Flink: the Java class that sets those groups in a job; needs no PLACEMENT",
    write=helper_source,
    needs_placement=False,
)
