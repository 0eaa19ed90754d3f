"""Writers of Flink's slot-sharing groups and labels, of a Java class for a job, and for CAPSys."""

import json
from collections import Counter
from importlib.resources import files

from streamplace.engines.flink.groups import Group, Groups, Slot, groups_of
from streamplace.errors import ProblemError
from streamplace.formats.instances import on_one_line
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
# when a TaskManager starts. They fit every placement of this job on these devices, also with other
# numbers of instances: those that begin with parts_ limit the slots of a divided operator on one
# device each. The JobManager needs none of them.
# Leave jobmanager.scheduler unset: the adaptive scheduler ignores labels without a message.
"""
SEPARATOR = "; "


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
        f"@{group.name}={_asked(group.slot)}, cores {group.slot.cores:g}, "
        f"heap_mb {group.slot.heap_mb}, managed_mb {group.slot.managed_mb}\n"
        for group in groups.groups
        if group.slot is not None
    ]
    for name, group in groups.group_of.items():
        instances = groups.parallelism(name)
        more = "" if instances is None else f", parallelism {instances}"
        lines.append(f"{_key(name)}={group.name}{more}\n")
    return "".join(lines)


def _asked(slot: Slot) -> str:
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
    parts = [CONFIGURATION_HEAD]
    for device, labels in groups_of(placement, labels=True).labels.items():
        parts.append(f"--- # {json.dumps(device)}\nexternal-resources: {';'.join(labels)}\n")
        parts += [f"external-resource.{name}.amount: {n}\n" for name, n in labels.items()]
    return "".join(parts)


def write_helper(placement: Placement) -> str:
    """Return the source of ``StreamplaceMapping``, a class that depends on Flink only."""
    return helper_source()


def helper_source() -> str:
    """Return the text of ``StreamplaceMapping.java``."""
    return files(__package__).joinpath("StreamplaceMapping.java").read_text(encoding="utf-8")


def write_capsys(placement: Placement) -> str:
    """Return one line per subtask; the device's name is used as the TaskManager's address.

    Subtasks are named as in Flink, for example ``Map (2/4)`` for the second of four, since CAPSys
    looks for a line's task name inside the subtask's name. The format has no comments.

    Raises
    ------
    ProblemError
        If a subtask's name is part of another subtask's name, since CAPSys would apply its line to
        both, or if a name contains ``"; "`` or a line break.
    """
    tasks = _subtasks(placement)
    for name in (*tasks, *placement.pes):
        if SEPARATOR in name or len(name.splitlines()) != 1:
            raise ProblemError(f"{name!r}: must not contain '; ' or a line break")
    _check_parts(tasks)
    return "".join(f"{task}{SEPARATOR}{device}\n" for task, device in tasks.items())


def _subtasks(placement: Placement) -> dict[str, str]:
    """Return subtask -> its device, in the graph's order; subtasks are named as in Flink."""
    graph = placement.problem.graph
    counts = Counter(graph.owners)
    numbers: Counter[str] = Counter()
    found: dict[str, str] = {}
    for owner, device in zip(graph.owners, placement.assignment.values(), strict=True):
        numbers[owner] += 1
        found[f"{owner} ({numbers[owner]}/{counts[owner]})"] = device
    return found


def _check_parts(tasks: dict[str, str]) -> None:
    """Raise ProblemError if a name is part of another name; all names end in a bracket."""
    lengths = sorted({len(task) for task in tasks})
    for task in tasks:
        ends = [i + 1 for i, letter in enumerate(task) if letter == ")"]
        parts = (task[end - n : end] for end in ends for n in lengths if n <= end)
        if part := next((part for part in parts if part in tasks and part != task), None):
            raise ProblemError(
                f"CAPSys would apply the line for {part!r} to {task!r} too; "
                "rename one of the operators"
            )
