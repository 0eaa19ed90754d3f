"""Placements in the format of CEPSim's runner: device and operator indices."""

from typing import Any

from pydantic import Field

from streamplace.errors import FormatError, UnknownDeviceError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem


class _Device(ForeignForm):
    idx: int = Field(ge=0)
    ops: list[int]


class _Placements(ForeignForm):
    placements: list[_Device]


def looks_like(value: Any) -> bool:
    """Return whether a JSON value is a CEPSim placement rather than one of streamplace."""
    return isinstance(value, dict) and "placements" in value and "assignment" not in value


def devices_used(value: Any, where: str) -> int:
    """Return the number of devices that a placement uses."""
    return sum(bool(entry.ops) for entry in check(_Placements, value, where).placements)


def placement_from(value: Any, problem: Problem, where: str) -> Placement:
    """Read a placement; indices refer to the graph's operators and the cluster's devices."""
    names, devices = problem.graph.names, problem.cluster.names
    assignment: dict[str, str] = {}
    for i, entry in enumerate(check(_Placements, value, where).placements):
        if entry.idx >= len(devices):
            raise UnknownDeviceError(
                f"placements[{i}].idx: the cluster has no device {entry.idx}; its devices have the "
                f"numbers 0 to {len(devices) - 1}"
            )
        for j, operator in enumerate(entry.ops):
            place = f"{where}: placements[{i}].ops[{j}]"
            if not 0 <= operator < len(names):
                raise FormatError(f"{place}: the graph has no operator {operator}")
            if names[operator] in assignment:
                raise FormatError(f"{place}: operator {operator} is placed twice")
            assignment[names[operator]] = devices[entry.idx]
    return Placement.of(problem, assignment)


def placement_to(placement: Placement) -> dict[str, Any]:
    """Return a placement as a JSON value for CEPSim's runner."""
    devices = placement.devices
    return {
        "placements": [
            {"idx": d, "ops": [v for v, on in enumerate(devices.tolist()) if on == d]}
            for d in sorted(set(devices.tolist()))
        ]
    }
