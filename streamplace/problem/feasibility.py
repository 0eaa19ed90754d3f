"""Feasibility: constraints, labels and memory as one mask over units, and one check."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from streamplace.errors import InfeasibleError, ProblemError
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.util.arrays import Bools, Ints
from streamplace.util.suggest import did_you_mean


class Feasibility:
    """The constraints of a problem, compiled.

    A *unit* is a colocated group, or an operator of none. Constraints on units are all there is:
    a mask of devices, memory, and sets of units that exclude one another.

    Attributes
    ----------
    unit_of
        (V,) int32: each operator's unit.
    allowed
        (U, D) bool: devices a unit may run on, by pins, allowed devices, labels and memory.
    unit_memory
        (U,) bytes.
    excluding
        Tuples of units of which no two may share a device.

    Raises
    ------
    ProblemError
        On names that the graph or cluster does not have, and memory that overflows.
    InfeasibleError
        Where it is certain that no placement obeys: names what cannot hold.
    """

    def __init__(self, graph: StreamGraph, cluster: Cluster, constraints: Constraints) -> None:
        self._graph, self._cluster = graph, cluster
        _check_names(graph, cluster, constraints)
        self.unit_of = _units(graph, constraints.colocate)
        self.unit_count = int(self.unit_of.max()) + 1
        self.unit_memory = np.bincount(
            self.unit_of, weights=graph.memory_bytes, minlength=self.unit_count
        )
        with np.errstate(over="ignore"):
            if not np.isfinite(self.unit_memory.sum()):
                raise ProblemError("operators: memory_bytes add up to more than a number holds")
        self.allowed = self._mask(constraints)
        self.excluding = tuple(
            tuple(int(self.unit_of[graph.index[name]]) for name in dict.fromkeys(group))
            for group in constraints.exlocate
        )
        self._prove_infeasible(constraints)

    @cached_property
    def memory_bounded(self) -> bool:
        """Whether the memory of some device can run out."""
        limit: float = self._cluster.memory_bytes.min()
        return bool(self.unit_memory.sum() > limit)

    @cached_property
    def is_free(self) -> bool:
        """Whether every placement is feasible."""
        colocated = self.unit_count < len(self._graph.names)
        if self.excluding or self.memory_bounded or colocated:
            return False
        return self.allowed.strides == (0, 0) or bool(self.allowed.all())

    @cached_property
    def masks(self) -> tuple[Bools, Ints]:
        """(M, D) masks of devices, and which of them holds for each operator, (V,)."""
        if self.is_free:
            return self.allowed[:1], np.zeros_like(self.unit_of)
        return self.allowed, self.unit_of

    @cached_property
    def unit_masks(self) -> tuple[Bools, Ints]:
        """(M, D) the different masks of devices, and which of them holds for each unit, (U,)."""
        if self.is_free:
            return self.allowed[:1], np.zeros(self.unit_count, dtype=np.int32)
        packed = np.packbits(self.allowed, axis=1)
        _, first, row_of = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        return self.allowed[first], row_of.ravel().astype(np.int32)

    @cached_property
    def first_of(self) -> Ints:
        """(U,) the first operator of each unit."""
        return np.unique(self.unit_of, return_index=True)[1].astype(np.int32)

    def violation(self, devices: Ints) -> str | None:
        """Return what a placement, (V,) device indices, breaks first; None if it is feasible."""
        if self.is_free:
            return None
        names, where = self._graph.names, self._cluster.names
        wrong = np.flatnonzero(~self.allowed[self.unit_of, devices])
        if len(wrong):
            return (
                f"operator {names[wrong[0]]!r} may not run on device {where[devices[wrong[0]]]!r}"
            )
        leader = np.zeros(self.unit_count, dtype=np.int32)
        leader[self.unit_of] = devices
        apart = np.flatnonzero(leader[self.unit_of] != devices)
        if len(apart):
            return f"operator {names[apart[0]]!r} is apart from those it is colocated with"
        for group in self.excluding:
            on = leader[list(group)].tolist()
            if len(set(on)) < len(on):
                twice = next(d for d in on if on.count(d) > 1)
                return f"device {where[twice]!r} runs two operators that are to be apart"
        used = np.bincount(leader, weights=self.unit_memory, minlength=len(where))
        full = np.flatnonzero(used > self._cluster.memory_bytes)
        if len(full):
            return f"device {where[full[0]]!r} would need {used[full[0]]:g} bytes of memory"
        return None

    def _mask(self, constraints: Constraints) -> Bools:
        graph, cluster = self._graph, self._cluster
        shape = (self.unit_count, len(cluster.devices))
        fits = self.unit_memory.max() <= cluster.memory_bytes.min()
        if fits and not (constraints.pins or constraints.allowed or graph.requires):
            return np.broadcast_to(np.True_, shape)
        mask = self.unit_memory[:, None] <= cluster.memory_bytes[None, :]
        for operator, labels in graph.requires.items():
            carries = [set(labels) <= set(device.labels) for device in cluster.devices]
            mask[self.unit_of[operator]] &= carries
        for names in (constraints.allowed, {v: [d] for v, d in constraints.pins.items()}):
            for operator_name, device_names in names.items():
                among = np.isin(np.arange(shape[1]), [cluster.index[d] for d in device_names])
                mask[self.unit_of[graph.index[operator_name]]] &= among
        return mask

    def _prove_infeasible(self, constraints: Constraints) -> None:
        nowhere = np.flatnonzero(~self.allowed.any(axis=1))
        if len(nowhere):
            unit = int(nowhere[0])
            reasons = ", ".join(self._reasons(unit, constraints))
            raise InfeasibleError(f"no device may run {self.describe(unit)}: {reasons}")
        for names, group in zip(constraints.exlocate, self.excluding, strict=True):
            if len(set(group)) < len(group):
                raise InfeasibleError(f"constraints: {listed(names)} must be together and apart")
            if not _can_all_differ(self.allowed[list(group)]):
                raise InfeasibleError(f"constraints: too few devices to keep {listed(names)} apart")
        needed, there = self.unit_memory.sum(), self._cluster.memory_bytes.sum()
        if needed > there:
            raise InfeasibleError(
                f"memory: operators need {needed:g} bytes, devices have {there:g}"
            )

    def describe(self, unit: int) -> str:
        """Return the operators of a unit by name."""
        names = [self._graph.names[v] for v in np.flatnonzero(self.unit_of == unit)]
        if len(names) == 1:
            return f"operator {names[0]!r}"
        return f"operators {listed(names)} together"

    def _reasons(self, unit: int, constraints: Constraints) -> list[str]:
        members = np.flatnonzero(self.unit_of == unit)
        names = {self._graph.names[v] for v in members}
        reasons = []
        if labels := sorted({x for v in members for x in self._graph.requires.get(int(v), ())}):
            reasons.append(f"it requires {listed(labels)}")
        reasons += [f"{v!r} is pinned to {d!r}" for v, d in constraints.pins.items() if v in names]
        reasons += [
            f"{v!r} is allowed on {listed(d)}" for v, d in constraints.allowed.items() if v in names
        ]
        if self.unit_memory[unit] > self._cluster.memory_bytes.min():
            reasons.append(f"it needs {self.unit_memory[unit]:g} bytes of memory")
        return reasons


def _check_names(graph: StreamGraph, cluster: Cluster, constraints: Constraints) -> None:
    groups = [*enumerate(constraints.colocate), *enumerate(constraints.exlocate)]
    kinds = ["colocate"] * len(constraints.colocate) + ["exlocate"] * len(constraints.exlocate)
    operators = [("pins", name) for name in constraints.pins]
    operators += [("allowed", name) for name in constraints.allowed]
    operators += [
        (f"{k}[{i}]", v) for k, (i, group) in zip(kinds, groups, strict=True) for v in group
    ]
    devices = [(f"pins[{v!r}]", name) for v, name in constraints.pins.items()]
    devices += [
        (f"allowed[{v!r}]", name) for v, names in constraints.allowed.items() for name in names
    ]
    for what, known, named in (
        ("operator", graph.index, operators),
        ("device", cluster.index, devices),
    ):
        for place, name in named:
            if name not in known:
                message = f"constraints.{place}: no {what} is called {name!r}"
                raise ProblemError(message + did_you_mean(name, known))


def _units(graph: StreamGraph, groups: Sequence[Sequence[str]]) -> Ints:
    """Number colocated groups, joined where they overlap, and the operators of none."""
    count = len(graph.names)
    if not groups:
        return np.arange(count, dtype=np.int32)
    root = np.arange(count)
    for group in groups:
        members = [graph.index[name] for name in group]
        together = np.isin(root, root[members])
        root[together] = root[together].min(initial=count)
    return np.unique(root, return_inverse=True)[1].astype(np.int32)


def _can_all_differ(allowed: Bools) -> bool:
    """Whether every row can have a True column of its own (bipartite matching)."""
    if len(allowed) > allowed.shape[1]:
        return False
    row_of: dict[int, int] = {}
    column_of: dict[int, int] = {}
    for row in range(len(allowed)):
        reached_from: dict[int, int] = {}
        column = _free_column(allowed, row, row_of, reached_from)
        if column is None:
            return False
        while True:  # every row on the way gives its column to the one before
            giver = reached_from[column]
            row_of[column] = giver
            if giver == row:
                break
            column, column_of[giver] = column_of[giver], column
        column_of[row] = column
    return True


def _free_column(
    allowed: Bools, row: int, row_of: dict[int, int], reached_from: dict[int, int]
) -> int | None:
    """Search a free column from a row, through columns whose rows might move on."""
    rows = [row]
    while rows:
        looking = rows.pop()
        for column in np.flatnonzero(allowed[looking]).tolist():
            if column not in reached_from:
                reached_from[column] = looking
                if column not in row_of:
                    return int(column)
                rows.append(row_of[column])
    return None
