"""Placements: which device runs which operator."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from streamplace.display.mixins import Displayable
from streamplace.display.text import quoted, several
from streamplace.display.view import MOST_NAMES, Cell, Grid, Names, View
from streamplace.errors import ProblemError, UnknownDeviceError
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable, relabelled
from streamplace.util.arrays import Ints
from streamplace.util.checks import check_str, check_type
from streamplace.util.suggest import did_you_mean

DEVICES_SHOWN, NAMES_SHOWN = 4, 4


class Placement(Displayable):
    """An answer to a problem, feasible or not.

    Parameters
    ----------
    devices
        (V,) device index of each operator, in the graph's order.

    Raises
    ------
    ProblemError
        If `devices` is not one device of the cluster for each operator of the graph.
    """

    def __init__(self, problem: Problem, devices: ArrayLike) -> None:
        indices = np.asarray(devices)
        operators, count = len(problem.graph.names), len(problem.cluster.devices)
        if indices.shape != (operators,) or indices.dtype.kind not in "iu":
            raise ProblemError(f"a placement needs {operators} device indices, not {indices.shape}")
        if not 0 <= indices.min() <= indices.max() < count:
            raise ProblemError(f"a placement names a device outside 0..{count - 1}")
        self.problem = problem
        self.devices: Ints = indices.astype(np.int32)
        self.devices.flags.writeable = False

    @classmethod
    def of(cls, problem: Problem, assignment: Mapping[str, str]) -> "Placement":
        """Build a placement from operator name -> device name.

        Raises
        ------
        ProblemError
            On an operator that is missing or unknown.
        UnknownDeviceError
            On a device that is; it is a ``ProblemError`` too.
        """
        graph, cluster = problem.graph, problem.cluster
        instead = "operator -> device; sp.Placement takes device indices"
        check_type("assignment:", assignment, Mapping, ProblemError, instead)
        devices = np.full(len(graph.names), -1, dtype=np.int32)
        for operator, device in assignment.items():
            if operator not in graph.index:
                message = f"assignment: the graph has no operator {operator!r}"
                raise ProblemError(message + did_you_mean(operator, graph.index))
            check_str(f"assignment[{operator!r}]:", device, ProblemError)
            if device not in cluster.index:
                message = f"assignment[{operator!r}]: the cluster has no device {device!r}"
                raise UnknownDeviceError(message + did_you_mean(device, cluster.index))
            devices[graph.index[operator]] = cluster.index[device]
        missing = np.flatnonzero(devices < 0)
        if len(missing):
            raise ProblemError(f"assignment: operator {graph.names[missing[0]]!r} has no device")
        return cls(problem, devices)

    @property
    def assignment(self) -> dict[str, str]:
        """Operator name -> device name."""
        where = self.problem.cluster.names
        names = self.problem.graph.names
        return {name: where[d] for name, d in zip(names, self.devices, strict=True)}

    @property
    def pes(self) -> dict[str, tuple[str, ...]]:
        """Device name -> the operators fused on it, for devices that run any."""
        names = self.problem.graph.names
        return {
            self.problem.cluster.names[d]: tuple(
                names[v] for v in np.flatnonzero(self.devices == d)
            )
            for d in np.unique(self.devices)
        }

    def canonical(self) -> "Placement":
        """Return the same placement up to the names of devices that are alike.

        Devices are alike if equal but for their name, on no overridden link and in no constraint;
        of those, the first that the operators use becomes the one of the lowest index, and so on.
        """
        order = np.arange(len(self.devices), dtype=np.int32)
        return Placement(
            self.problem, relabelled(self.devices, interchangeable(self.problem), order)
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Placement):
            return NotImplemented
        return self.assignment == other.assignment

    def __hash__(self) -> int:
        return hash(frozenset(self.assignment.items()))

    def operators_on(self, device: int) -> Names:
        """Return the names of the operators that run on a device, the first of many."""
        operators = np.flatnonzero(self.devices == device)
        names = self.problem.graph.names
        return Names(tuple(names[v] for v in operators[:MOST_NAMES]), len(operators))

    def described(self, devices: int, names: int) -> list[str]:
        """Return a line for each of so many devices: so many names of operators on it.

        Parameters
        ----------
        names
            At most `MOST_NAMES`.
        """
        used = np.unique(self.devices)
        lines = []
        for d in used[:devices]:
            operators = self.operators_on(int(d))
            listed = several(operators.first, names, operators.count)
            lines.append(f"{quoted(self.problem.cluster.names[d])}: {listed}")
        more = len(used) - devices
        return lines + ([f"and {more} more devices"] if more > 0 else [])

    def _view(self) -> View:
        used = np.unique(self.devices).tolist()
        many = "devices" if len(used) > 1 else "device"
        where = "; ".join(self.described(DEVICES_SHOWN, NAMES_SHOWN))

        def row(i: int) -> tuple[Cell, ...]:
            return self.problem.cluster.names[used[i]], self.operators_on(used[i])

        return View(
            f"Placement: {len(self.devices)} operators on {len(used)} {many}; {where}",
            body=(Grid(("device", "operators"), len(used), row, names=(0, 1)),),
        )
