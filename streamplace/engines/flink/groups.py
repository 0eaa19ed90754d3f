"""Slot-sharing groups of a placement, and the labels that pin them to TaskManagers."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from streamplace.engines.flink.chain import COMMITTER, WRITER
from streamplace.errors import ProblemError
from streamplace.formats.labels import label_value
from streamplace.problem.instances import devices_of_instances
from streamplace.problem.placement import Placement
from streamplace.problem.symmetry import interchangeable

UNCOUNTED = 1000
"""Amount of a device's own label; every slot on the device takes one."""
COUNTED, UNLIMITED = 10**10, 10**15
"""Amounts of a label that limits the slots of a group on one device, there and elsewhere.

A slot of a group with n slots on the device asks for the n-th part of the first amount, so that
exactly n fit. Flink adds amounts up as doubles, which are exact up to 2**53.
"""
CORES, HEAP_MB, MANAGED_MB = 0.1, 8, 1
"""Share of a TaskManager that a slot asks for, if the TaskManager has room for that many."""
MAX_PARALLELISM = 2**15  # of Flink's KeyGroupRangeAssignment, for every operator
ANYWHERE = "(any)"
LABEL_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True)
class Slot:
    """What one slot of a group asks for; Flink only keeps accounts of cores and heap.

    Parameters
    ----------
    labels
        Label -> amount.
    """

    labels: Mapping[str, int]
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
        Device -> label -> amount that its TaskManager must offer; empty without labels. They follow
        from the names of the devices and, if the graph has instances, the number of operators, so
        that they fit every placement of a job.
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

    @property
    def used(self) -> list[str]:
        """The devices with slots."""
        return list(dict.fromkeys(device for group in self.groups for device in group.slots))

    @property
    def slots(self) -> int:
        """The number of slots of all groups."""
        return sum(sum(group.slots.values()) for group in self.groups)

    @property
    def counts(self) -> dict[str, int]:
        """Operator -> number of its instances, where they are known."""
        return {name: sum(on.values()) for name, on in self.instances.items()}

    def parallelism(self, operator: str) -> int | None:
        """Return the number of instances of an operator; None if unknown."""
        return self.counts.get(operator)


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
    names = placement.problem.cluster.names
    return groups_on(devices_of, names, labels, divided, prefix)


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
        All devices of the cluster; groups are numbered in the order of those in use.
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
    in_use = {device for on in devices_of.values() for device in on}
    groups = [
        Group(f"{prefix}pe{number}", {device: max(len(whole[name]) for name in here)}, tuple(here))
        for number, device in enumerate(name for name in devices if name in in_use)
        if (here := members.get(device))
    ]
    groups += [
        Group(f"{prefix}split{number}", Counter(on), tuple(here))
        for number, (on, here) in enumerate(split.items())
    ]
    instances = {name: Counter(on) for name, on in devices_of.items()} if divided else {}
    if not labels:
        return Groups(tuple(groups), instances)
    most = len(devices_of) if divided else 0  # groups on several devices; none without instances
    return _with_labels(groups, instances, device_labels(devices, most, prefix))


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


@dataclass(frozen=True)
class DeviceLabels:
    """The labels of the TaskManagers of a cluster.

    Parameters
    ----------
    own
        Device -> the label that only its TaskManager offers.
    counted
        For each group that may be divided: device -> the label that limits its slots there.
    """

    own: Mapping[str, str]
    counted: Sequence[Mapping[str, str]]

    @property
    def offered(self) -> dict[str, dict[str, int]]:
        """Device -> label -> amount that its TaskManager must offer."""
        return {
            device: {self.own[device]: UNCOUNTED}
            | {
                label: COUNTED if other == device else UNLIMITED
                for labels in self.counted
                for other, label in labels.items()
            }
            for device in self.own
        }

    def divided(self, number: int, slots: Mapping[str, int]) -> dict[str, int]:
        """Return what each slot of a divided group asks for: label -> amount.

        Parameters
        ----------
        number
            Number of the group among those that are divided.
        slots
            Device -> number of its slots; none fit on other devices.
        """
        return {
            label: COUNTED // slots[device] if slots.get(device) else COUNTED + 1
            for device, label in self.counted[number].items()
        }


def device_labels(devices: Sequence[str], most: int, prefix: str = "") -> DeviceLabels:
    """Return the labels of a cluster for the placements of a job.

    A slot-sharing group asks for the same amounts with each of its slots. So there is a label per
    device, of which that device offers little and all others more than enough: it limits the slots
    there alone. Groups must not take each other's amounts, and there are at most as many divided
    groups as operators.

    Parameters
    ----------
    most
        The largest number of divided groups.
    prefix
        That of the job's groups; see `groups_on`.
    """
    job = LABEL_CHARACTERS.sub("_", prefix)
    several = range(most if len(devices) > 1 else 0)
    return DeviceLabels(
        label_names(devices, "dev_"),
        [label_names(devices, f"parts_{job}{number}_") for number in several],
    )


def _with_labels(
    groups: Sequence[Group], instances: Mapping[str, Mapping[str, int]], labels: DeviceLabels
) -> Groups:
    """Return the groups with labels; a slot is small enough for the fullest device."""
    slots: Counter[str] = Counter()
    for group in groups:
        slots.update(group.slots)
    made, divided = [], count()
    for group in groups:
        if len(group.slots) == 1:
            asked = {labels.own[device]: 1 for device in group.slots}
        else:
            asked = labels.divided(next(divided), group.slots)
        most = max(slots[device] for device in group.slots)
        cores = min(CORES, max(int(1000 / most), 1) / 1000)
        slot = Slot(asked, cores, max(min(HEAP_MB, 96 // most), 1))
        made.append(Group(group.name, group.slots, group.operators, slot))
    return Groups(tuple(made), instances, labels.offered)


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
