"""Feasibility: constraints, labels and limits as one mask over units, and one check."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from streamplace.errors import Fault, InfeasibleError, ProblemError, RuleDeviceError
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.device_kinds import confined, no_device, why_not
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.limits import limits_of
from streamplace.problem.matching import can_all_differ
from streamplace.util.arrays import Bools, Floats, Ints
from streamplace.util.suggest import did_you_mean


class Feasibility:
    """The constraints, labels and limits of a problem, compiled to arrays over units.

    A *unit* is a colocated group, or a single operator that is in no group. A placement is feasible
    if every unit is on a device that its mask allows, no two units of an excluding set share a
    device, no two units of a separating set are on devices of one group, and the units on each
    device need no more memory, slots and resources than it has.

    Attributes
    ----------
    unit_of
        (V,) int32, the unit of each operator.
    unit_count
        U, the number of units.
    allowed
        (U, D) bool, the devices that each unit may run on by pins, allowed devices, labels, kinds
        of devices and limits.
    limits
        Memory, slots and resources, those that some device can run out of.
    excluding
        Tuples of units; no two units of a tuple may share a device.
    separating
        Tuples of units; no two units of a tuple may be on devices of one group.

    Raises
    ------
    ProblemError
        On an unknown operator or device, or if the sum of memory overflows.
    InfeasibleError
        If provably no placement is feasible; the message names the reason.
    """

    def __init__(self, graph: StreamGraph, cluster: Cluster, constraints: Constraints) -> None:
        self._graph, self._cluster = graph, cluster
        check_names(graph, cluster, constraints)
        self.unit_of = _units(graph, constraints.colocate)
        self.unit_count = int(self.unit_of.max()) + 1
        self.limits = limits_of(graph, cluster, self.unit_of)
        self.allowed = self._mask(constraints)
        self.excluding = self._sets(constraints.exlocate)
        self.separating = self._sets(constraints.apart_groups)
        try:
            self._prove_infeasible(constraints)
        except InfeasibleError as error:
            error.infeasible = graph, cluster, constraints
            raise

    @cached_property
    def needs(self) -> Floats:
        """(U, K) counts of each of the K limits that a unit takes; see `Limit`."""
        columns = [limit.needs for limit in self.limits]
        return np.stack(columns, axis=1) if columns else np.zeros((self.unit_count, 0))

    @cached_property
    def room(self) -> Floats:
        """(D, K) counts of each of the K limits that a device has, inf where it has no limit."""
        columns = [limit.room for limit in self.limits]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self._cluster.devices), 0))

    @property
    def operator_needs(self) -> Floats:
        """(V, K) counts of each of the K limits that an operator takes."""
        columns = [limit.of_operators for limit in self.limits]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.unit_of), 0))

    @cached_property
    def relative_needs(self) -> Floats:
        """(U,) largest share that each unit takes of what all units together take of a limit."""
        shares = [limit.needs / limit.needs.sum() for limit in self.limits]
        return np.max(shares, axis=0) if shares else np.zeros(self.unit_count)

    @property
    def rules_text(self) -> str:
        """What restricts placements, for messages: constraints, and limits by name."""
        *first, last = "constraints", *(limit.name for limit in self.limits)
        return f"{', '.join(first)} and {last}" if first else last

    @cached_property
    def is_free(self) -> bool:
        """Whether every placement is feasible."""
        colocated = self.unit_count < len(self._graph.names)
        if self.excluding or self.separating or self.limits or colocated:
            return False
        return self._unmasked or bool(self.allowed.all())

    @property
    def _unmasked(self) -> bool:
        """Whether `allowed` is one True for all, so that large problems need no pass over it."""
        return self.allowed.strides == (0, 0)

    @cached_property
    def masks(self) -> tuple[Bools, Ints]:
        """M masks of devices, (M, D), and the index of each operator's mask, (V,)."""
        if self.is_free:
            return self.allowed[:1], np.zeros_like(self.unit_of)
        return self.allowed, self.unit_of

    @cached_property
    def unit_masks(self) -> tuple[Bools, Ints]:
        """M distinct masks of devices, (M, D), and the index of each unit's mask, (U,)."""
        if self.is_free:
            return self.allowed[:1], np.zeros(self.unit_count, dtype=np.int32)
        packed = np.packbits(self.allowed, axis=1)
        _, first, row_of = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        return self.allowed[first], row_of.ravel().astype(np.int32)

    @cached_property
    def first_of(self) -> Ints:
        """(U,) index of the first operator of each unit."""
        return np.unique(self.unit_of, return_index=True)[1].astype(np.int32)

    def violation(self, devices: Ints) -> str | None:
        """Return the first rule that a placement violates, as text; None if it is feasible.

        Parameters
        ----------
        devices
            (V,) device index of each operator.
        """
        if self.is_free:
            return None
        names, where = self._graph.names, self._cluster.names
        wrong = np.flatnonzero(~self.allowed[self.unit_of, devices])
        if len(wrong):
            v, wrong_device = int(wrong[0]), self._cluster.devices[devices[wrong[0]]]
            reason = why_not(self._graph, v, [wrong_device])
            cause = f": it {reason}" if reason else ""
            return f"operator {names[v]!r} may not run on device {wrong_device.name!r}{cause}"
        leader = np.zeros(self.unit_count, dtype=np.int32)
        leader[self.unit_of] = devices
        apart = np.flatnonzero(leader[self.unit_of] != devices)
        if len(apart):
            moved = f"operator {names[apart[0]]!r}"
            return f"{moved} is not on the device of the operators that it is colocated with"
        if broken := self._not_apart(leader):
            return broken
        for limit in self.limits:
            used = np.bincount(leader, weights=limit.needs, minlength=len(where))
            for d in np.flatnonzero(used > limit.room):
                has = limit.available(limit.room[d])
                return f"device {where[d]!r} would need {limit.text(used[d])} but has {has}"
        return None

    def _not_apart(self, leader: Ints) -> str | None:
        """Return a rule that keeps units apart and that their devices, (U,), violate, or None."""
        where = self._cluster.names
        for group in self.excluding:
            on = leader[list(group)].tolist()
            if len(set(on)) < len(on):
                shared = next(d for d in on if on.count(d) > 1)
                return f"device {where[shared]!r} runs two operators that must not share a device"
        for group in self.separating:
            numbers = self._cluster.group_of[leader[list(group)]].tolist()
            if len(set(numbers)) < len(numbers):
                number = next(g for g in numbers if numbers.count(g) > 1)
                return (
                    f"{self._group_text(number)} runs two operators that must be in different "
                    "groups of devices"
                )
        return None

    def _sets(self, groups: Sequence[Sequence[str]]) -> tuple[tuple[int, ...], ...]:
        """Return the units of groups of operators."""
        index = self._graph.index
        return tuple(
            tuple(int(self.unit_of[index[name]]) for name in dict.fromkeys(group))
            for group in groups
        )

    def _group_text(self, number: int) -> str:
        """Return the name of a group of devices, or of the device that is in none."""
        first = self._cluster.devices[int(np.argmax(self._cluster.group_of == number))]
        return f"device {first.name!r}" if first.group is None else f"group {first.group!r}"

    def _mask(self, constraints: Constraints) -> Bools:
        graph, cluster = self._graph, self._cluster
        shape = (self.unit_count, len(cluster.devices))
        fits = all(limit.needs.max() <= limit.room.min() for limit in self.limits)
        by_kind = confined(graph, cluster)
        if fits and not (constraints.pins or constraints.allowed or graph.requires or by_kind):
            return np.broadcast_to(np.True_, shape)
        mask = np.ones(shape, dtype=np.bool_)
        for limit in self.limits:
            mask &= limit.needs[:, None] <= limit.room[None, :]
        for operator, labels in graph.requires.items():
            carries = [set(labels) <= set(device.labels) for device in cluster.devices]
            mask[self.unit_of[operator]] &= carries
        for operator, runs in by_kind.items():
            mask[self.unit_of[operator]] &= runs
        for names in (constraints.allowed, {v: [d] for v, d in constraints.pins.items()}):
            for operator_name, device_names in names.items():
                among = np.zeros(shape[1], dtype=np.bool_)
                among[[cluster.index[d] for d in device_names]] = True
                mask[self.unit_of[graph.index[operator_name]]] &= among
        return mask

    def _prove_infeasible(self, constraints: Constraints) -> None:
        if not self._unmasked and not self.allowed.any(axis=1).all():
            unit = int(np.argmin(self.allowed.any(axis=1)))
            reasons = ", ".join(self._reasons(unit, constraints))
            fault = f"no device may run {self.describe(unit)}: {reasons}"
            raise InfeasibleError(Fault(fault, operators=self.operators_of(unit)))
        for names, group in zip(constraints.exlocate, self.excluding, strict=True):
            if len(set(group)) < len(group):
                fault = "must be on different devices, but some of them are colocated"
                raise _of_rules(f"{listed(names)} {fault}", names)
            if not can_all_differ(self.allowed[list(group)]):
                raise _of_rules(f"too few devices to keep {listed(names)} apart", names)
        for names, group in zip(constraints.apart_groups, self.separating, strict=True):
            self._prove_inseparable(names, group)
        for limit in self.limits:
            if excess := limit.exceeded_in_all():
                raise InfeasibleError(excess)

    def _prove_inseparable(self, names: Sequence[str], units: tuple[int, ...]) -> None:
        if len(set(units)) < len(units):
            fault = "must be in different groups of devices, but some of them are colocated"
            raise _of_rules(f"{listed(names)} {fault}", names)
        group_of = self._cluster.group_of
        in_groups = np.zeros((len(units), int(group_of.max()) + 1), dtype=np.bool_)
        for row, unit in enumerate(units):
            in_groups[row, group_of[self.allowed[unit]]] = True
        if not can_all_differ(in_groups):
            raise _of_rules(f"too few groups of devices to keep {listed(names)} apart", names)

    def operators_of(self, unit: int) -> tuple[str, ...]:
        """Return the names of a unit's operators."""
        return tuple(self._graph.names[v] for v in np.flatnonzero(self.unit_of == unit))

    def describe(self, unit: int) -> str:
        """Return the names of a unit's operators, as text for a message."""
        names = self.operators_of(unit)
        if len(names) == 1:
            return f"operator {names[0]!r}"
        return f"operators {listed(names)} together"

    def _reasons(self, unit: int, constraints: Constraints) -> list[str]:
        members = np.flatnonzero(self.unit_of == unit)
        names = {self._graph.names[v] for v in members}
        reasons = []
        if labels := sorted({x for v in members for x in self._graph.requires.get(int(v), ())}):
            carrying = [d.name for d in self._cluster.devices if {*labels} <= {*d.labels}]
            where = f"on {listed(carrying)}" if carrying else "on no device"
            requires = "it requires" if len(members) == 1 else "they require"
            reasons.append(f"{requires} {listed(labels)} ({where})")
        for v in members.tolist():
            if reason := why_not(self._graph, v, self._cluster.devices):
                who = "it" if len(members) == 1 else repr(self._graph.names[v])
                reasons.append(f"{who} {reason}")
        reasons += [f"{v!r} is pinned to {d!r}" for v, d in constraints.pins.items() if v in names]
        reasons += [
            f"{v!r} is allowed on {listed(d) if d else 'no device'}"
            for v, d in constraints.allowed.items()
            if v in names
        ]
        needs = "it needs" if len(members) == 1 else "they need"
        too_small = (limit.too_small(unit, self._cluster.names, needs) for limit in self.limits)
        return reasons + [reason for reason in too_small if reason is not None]


def _of_rules(what: str, operators: Sequence[str]) -> InfeasibleError:
    """Return the error of constraints that leave some operators no placement."""
    place, names = ("constraints",), tuple(operators)
    return InfeasibleError(Fault(what, place=place, operators=names, of_constraints=True))


def _units(graph: StreamGraph, groups: Sequence[Sequence[str]]) -> Ints:
    """Return the unit of each operator, (V,); groups that share an operator are one unit."""
    count = len(graph.names)
    if not groups:
        return np.arange(count, dtype=np.int32)
    root = np.arange(count)
    for group in groups:
        members = [graph.index[name] for name in group]
        together = np.isin(root, root[members])
        root[together] = root[together].min(initial=count)
    return np.unique(root, return_inverse=True)[1].astype(np.int32)


def check_names(graph: StreamGraph, cluster: Cluster, constraints: Constraints) -> None:
    """Raise ProblemError if constraints name an unknown operator or device."""
    groups = [
        (f"{kind}[{i}]", group)
        for kind in ("colocate", "exlocate", "apart_groups")
        for i, group in enumerate(getattr(constraints, kind))
    ]
    operators = [("pins", name) for name in constraints.pins]
    operators += [("allowed", name) for name in constraints.allowed]
    operators += [(place, name) for place, group in groups for name in group]
    devices = [(f"pins[{v!r}]", name) for v, name in constraints.pins.items()]
    devices += [
        (f"allowed[{v!r}]", name) for v, names in constraints.allowed.items() for name in names
    ]
    for place, name in operators:
        if name not in graph.index:
            what = f"constraints.{place}: unknown operator {name!r}"
            what += did_you_mean(name, graph.index)
            raise ProblemError(Fault(what, of_constraints=True))
    for place, name in devices:
        if name not in cluster.index:
            what, remedy = no_device(name, cluster.devices)
            raise RuleDeviceError(
                Fault(f"constraints.{place}: {what}", remedy=remedy, of_constraints=True)
            )
