"""Slot-sharing groups of a placement, and the labels that pin them to TaskManagers."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streamplace.errors import ProblemError
from streamplace.integrations.flink.chain import COMMITTER, WRITER
from streamplace.integrations.kubernetes_parts import label_value
from streamplace.integrations.pes import devices_of_instances
from streamplace.problem.placement import Placement
from streamplace.problem.symmetry import interchangeable

UNCOUNTED = 1000
"""Amount of a device's own label; every slot on the device takes one."""
CORES, HEAP_MB, MANAGED_MB = 0.1, 8, 1
"""Share of a TaskManager that a slot asks for, if the TaskManager has room for that many."""
MAX_PARALLELISM = 2**15  # of Flink's KeyGroupRangeAssignment, for every operator
ANYWHERE = "(any)"
LABEL_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True)
class Slot:
    """What one slot of a group asks for; Flink only keeps accounts of cores and heap."""

    label: str
    cores: float = CORES
    heap_mb: int = HEAP_MB
    managed_mb: int = MANAGED_MB


@dataclass(frozen=True)
class Group:
    """A slot-sharing group.

    Parameters
    ----------
    slots
        Device -> number of the group's slots there.
    operators
        Names of the operators, as in the job or its uids.
    slot
        What each slot asks for; None without labels.
    """

    name: str
    slots: Mapping[str, int]
    operators: tuple[str, ...]
    slot: Slot | None = None


@dataclass(frozen=True)
class Groups:
    """All groups of a placement.

    Parameters
    ----------
    instances
        Operator -> device -> number of its instances there; empty if the graph has no instances,
        so that every operator keeps the parallelism that it has in the job.
    labels
        Device -> label -> amount that its TaskManager must offer; empty without labels.
    anywhere
        Whether Flink chooses the devices, so that only numbers of instances count.
    """

    groups: tuple[Group, ...]
    instances: Mapping[str, Mapping[str, int]]
    labels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    anywhere: bool = False

    @property
    def group_of(self) -> dict[str, Group]:
        """Operator -> its group."""
        return {name: group for group in self.groups for name in group.operators}

    def parallelism(self, operator: str) -> int | None:
        """Return the number of instances of an operator; None if unknown."""
        return sum(self.instances[operator].values()) if operator in self.instances else None


def groups_of(placement: Placement, labels: bool | None = None) -> Groups:
    """Return the groups of a placement: one per device, and one per operator on several devices.

    Operators whose instances are on the same devices in the same order share a group, so that
    Flink puts instance i of each into the same slot. Groups of one of several jobs begin with its
    name; characters that the properties file reserves are replaced.

    Parameters
    ----------
    labels
        Whether groups ask for labels. None: if devices differ, or if an operator is on several.

    Raises
    ------
    ProblemError
        If the parts of a sink are apart, or an operator has a name that the format reserves or
        more than 32,768 instances.
    """
    devices_of = devices_of_instances(placement)
    divided = bool(placement.problem.graph.instance_of)  # not where --fold kept operators whole
    if labels is None:
        labels = any(len(set(on)) > 1 for on in devices_of.values()) or _differ(placement)
    prefix = f"{label_value(placement.job)}-" if placement.job else ""
    return groups_on(devices_of, list(placement.pes), labels, divided, prefix)


def groups_on(
    devices_of: Mapping[str, Sequence[str]],
    devices: Sequence[str],
    labels: bool,
    divided: bool = True,
    prefix: str = "",
) -> Groups:
    """Return the groups of operators whose devices are known; see `groups_of`.

    Parameters
    ----------
    devices_of
        Operator -> the device of each of its instances.
    devices
        The devices in use; groups are numbered in this order.
    divided
        Whether numbers of instances are set, too.
    prefix
        What the names of all groups begin with.

    Raises
    ------
    ProblemError
        As for `groups_of`.
    """
    _check_sinks(devices_of)
    if divided:
        _check_parallelism(devices_of)
    whole = {name: on for name, on in devices_of.items() if len(set(on)) == 1}
    split: dict[tuple[str, ...], list[str]] = {}
    for name, on in devices_of.items():
        if name not in whole:
            split.setdefault(tuple(on), []).append(name)
    if labels and (reserved := next((name for name in devices_of if name.startswith("@")), None)):
        raise ProblemError(f"{reserved!r}: the name of an operator must not begin with '@'")
    members: dict[str, list[str]] = {}
    for name, on in whole.items():
        members.setdefault(on[0], []).append(name)
    groups = [
        Group(f"{prefix}pe{number}", {device: max(len(whole[name]) for name in here)}, tuple(here))
        for number, device in enumerate(devices)
        if (here := members.get(device))
    ]
    groups += [
        Group(f"{prefix}split{number}", Counter(on), tuple(here))
        for number, (on, here) in enumerate(split.items())
    ]
    instances = {name: Counter(on) for name, on in devices_of.items()} if divided else {}
    return _labelled(groups, instances, devices) if labels else Groups(tuple(groups), instances)


def groups_anywhere(counts: Mapping[str, int]) -> Groups:
    """Return one group of all operators, whose slots Flink chooses; only numbers are set.

    Parameters
    ----------
    counts
        Operator -> number of its instances.
    """
    group = Group("pe0", {ANYWHERE: max(counts.values())}, tuple(counts))
    instances = {name: {ANYWHERE: count} for name, count in counts.items()}
    return Groups((group,), instances, anywhere=True)


def label_names(names: Sequence[str], prefix: str) -> dict[str, str]:
    """Return name -> label: distinct, and of characters that a key of Flink may contain."""
    found: dict[str, str] = {}
    for name in names:
        plain = label = prefix + LABEL_CHARACTERS.sub("_", name)
        number = 2
        while label in found.values():
            label, number = f"{plain}_{number}", number + 1
        found[name] = label
    return found


def _labelled(
    groups: Sequence[Group], instances: Mapping[str, Mapping[str, int]], used: Sequence[str]
) -> Groups:
    """Return the groups with labels; a slot is small enough for the fullest device."""
    slots: Counter[str] = Counter()
    for group in groups:
        slots.update(group.slots)
    devices = label_names(used, "dev_")
    counted = label_names([g.operators[0] for g in groups if len(g.slots) > 1], "parts_")
    offered: dict[str, dict[str, int]] = {device: {devices[device]: UNCOUNTED} for device in used}
    made = []
    for group in groups:
        if len(group.slots) == 1:
            label = devices[next(iter(group.slots))]
        else:
            label = counted[group.operators[0]]
            for device, count in group.slots.items():
                offered[device][label] = count
        most = max(slots[device] for device in group.slots)
        cores = min(CORES, max(int(1000 / most), 1) / 1000)
        slot = Slot(label, cores, max(min(HEAP_MB, 96 // most), 1))
        made.append(Group(group.name, group.slots, group.operators, slot))
    return Groups(tuple(made), instances, offered)


def _differ(placement: Placement) -> bool:
    """Return whether it matters which device a group runs on."""
    return len(set(interchangeable(placement.problem).tolist())) > 1


def _check_parallelism(devices_of: Mapping[str, Sequence[str]]) -> None:
    for name, on in devices_of.items():
        if len(on) > MAX_PARALLELISM:
            raise ProblemError(
                f"{name!r} has {len(on):,} instances, but Flink runs at most {MAX_PARALLELISM:,}"
            )


def _check_sinks(devices_of: Mapping[str, Sequence[str]]) -> None:
    for name, on in devices_of.items():
        writer = name.removesuffix(COMMITTER) + WRITER
        if name.endswith(COMMITTER) and sorted(devices_of.get(writer, on)) != sorted(on):
            raise ProblemError(
                f"{writer!r} and {name!r} are parts of one sink, which Flink cannot split; "
                "use place --whole-operators"
            )
