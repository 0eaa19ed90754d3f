"""Placements: the assignment of operators to devices."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from streamplace.display.mixins import Displayable, Tabular
from streamplace.display.text import quoted, several
from streamplace.display.view import MAX_NAMES, Cell, Grid, Names, View
from streamplace.errors import ProblemError, UnknownDeviceError
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable, relabel
from streamplace.util.arrays import Ints
from streamplace.util.checks import check_str, check_type
from streamplace.util.plugins import load_ours
from streamplace.util.suggest import candidates, did_you_mean
from streamplace.util.text import counted

DEVICES_SHOWN, NAMES_SHOWN = 4, 4
GRAPH_DRAWING = "streamplace.problem.graph_view:graph_drawing"
"""Draws a graph; loaded once a placement is shown."""


class Placement(Displayable, Tabular):
    """An assignment of the operators of a problem to devices; it need not be feasible.

    Parameters
    ----------
    problem
        The problem, as of ``Problem(graph, cluster)``.
    devices
        Operator name -> device name, or (V,) device index of each operator, in the graph's order.
    job
        Name of the job where several jobs share the devices, otherwise empty. Exports name groups
        and objects after it, so that those of two jobs on one cluster differ.

    Raises
    ------
    ProblemError
        If `devices` does not hold one valid device per operator.
    UnknownDeviceError
        If it names an unknown device; this is a subclass of ``ProblemError``.
    """

    def __init__(
        self, problem: Problem, devices: ArrayLike | Mapping[str, str], *, job: str = ""
    ) -> None:
        if not isinstance(problem, Problem):
            instead = "write Placement(Problem(graph, cluster), {operator: device})"
            check_type("Placement: problem", problem, Problem, ProblemError, instead)
        if isinstance(devices, Mapping):
            indices = _indices(problem, devices)
        else:
            indices = np.asarray(devices)
        operators, count = len(problem.graph.names), len(problem.cluster.devices)
        if indices.shape != (operators,) or indices.dtype.kind not in "iu":
            same = indices.shape == (operators,)
            got = f"{indices.dtype}" if same else f"{indices.dtype} of shape {indices.shape}"
            needs = f"{operators} integers, one device index per operator"
            raise ProblemError(f"a placement needs {needs} (got {got})")
        if not 0 <= indices.min() <= indices.max() < count:
            raise ProblemError(f"a placement has a device index outside 0..{count - 1}")
        self.problem, self.job = problem, job
        self.devices: Ints = indices.astype(np.int32)
        self.devices.flags.writeable = False

    @classmethod
    def of(cls, problem: Problem, assignment: Mapping[str, str]) -> "Placement":
        """Return a placement from operator name -> device name; see the constructor for errors."""
        instead = "use operator -> device, or sp.Placement for device indices"
        check_type("assignment:", assignment, Mapping, ProblemError, instead)
        return cls(problem, assignment)

    @property
    def assignment(self) -> MappingProxyType[str, str]:
        """Operator name -> device name, in the graph's order; read-only."""
        where = self.problem.cluster.names
        names = self.problem.graph.names
        found = {name: where[d] for name, d in zip(names, self.devices.tolist(), strict=True)}
        return MappingProxyType(found)

    def to_records(self) -> list[dict[str, Any]]:
        """Return ``operator`` and ``device`` of every operator, in the graph's order."""
        return [{"operator": name, "device": on} for name, on in self.assignment.items()]

    @property
    def pes(self) -> dict[str, tuple[str, ...]]:
        """Device name -> names of the operators fused on it, for devices that run any."""
        names = self.problem.graph.names
        return {
            self.problem.cluster.names[d]: tuple(
                names[v] for v in np.flatnonzero(self.devices == d)
            )
            for d in np.unique(self.devices)
        }

    def canonical(self) -> "Placement":
        """Return the equivalent placement that uses interchangeable devices in index order.

        Devices are interchangeable if they are equal except for their name, have no link overrides
        and appear in no constraint. Among them, the first that the operators use is replaced by the
        one with the lowest index, and so on.
        """
        order = np.arange(len(self.devices), dtype=np.int32)
        devices = relabel(self.devices, interchangeable(self.problem), order)
        return Placement(self.problem, devices, job=self.job)

    def of_job(self, job: str) -> "Placement":
        """Return this placement as that of one of several jobs."""
        return Placement(self.problem, self.devices, job=job)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Placement):
            return NotImplemented
        return self.assignment == other.assignment

    def __hash__(self) -> int:
        return hash(frozenset(self.assignment.items()))

    def operators_on(self, device: int) -> Names:
        """Return the names of the operators on a device: the first `MAX_NAMES` and the count."""
        operators = np.flatnonzero(self.devices == device)
        names = self.problem.graph.names
        return Names(tuple(names[v] for v in operators[:MAX_NAMES]), len(operators))

    def described(self, devices: int, names: int) -> list[str]:
        """Return one line per device that runs operators, with their names.

        Parameters
        ----------
        devices
            Largest number of devices shown; a last line counts the others.
        names
            Largest number of names per device, at most `MAX_NAMES`.
        """
        used = np.unique(self.devices)
        lines = []
        for d in used[:devices]:
            operators = self.operators_on(int(d))
            listed = several(operators.first, names, operators.count)
            lines.append(f"{quoted(self.problem.cluster.names[d])}: {listed}")
        more = len(used) - devices
        return lines + ([f"and {counted(more, 'more device')}"] if more > 0 else [])

    def _view(self) -> View:
        used = np.unique(self.devices).tolist()
        operators = counted(len(self.devices), "operator")
        where = "; ".join(self.described(DEVICES_SHOWN, NAMES_SHOWN))

        def row(i: int) -> tuple[Cell, ...]:
            return self.problem.cluster.names[used[i]], self.operators_on(used[i])

        return View(
            f"Placement: {operators} on {counted(len(used), 'device')}; {where}",
            body=(Grid(("device", "operators"), len(used), row, names=(0, 1)),),
            drawing=load_ours(GRAPH_DRAWING)(
                self.problem.graph, self.devices.tolist(), self.problem.cluster.names
            ),
        )


def _indices(problem: Problem, assignment: Mapping[str, str]) -> Ints:
    """Return the device index of each operator, (V,), of a mapping of names."""
    graph, cluster = problem.graph, problem.cluster
    devices = np.full(len(graph.names), -1, dtype=np.int32)
    for operator, device in assignment.items():
        if operator not in graph.index:
            message = f"assignment: the graph has no operator {operator!r}"
            raise ProblemError(message + did_you_mean(operator, graph.index))
        check_str(f"assignment[{operator!r}]:", device, ProblemError)
        if device not in cluster.index:
            message = f"assignment[{operator!r}]: the cluster has no device {device!r}"
            raise UnknownDeviceError(message + candidates(device, cluster.names))
        devices[graph.index[operator]] = cluster.index[device]
    missing = np.flatnonzero(devices < 0)
    if len(missing):
        raise ProblemError(f"assignment: operator {graph.names[missing[0]]!r} has no device")
    return devices
