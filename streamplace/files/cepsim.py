"""Files of CEPSim's runner: graphs, and placements, which hold indices."""

from math import isinf
from typing import Any

from pydantic import Field

from streamplace.errors import FormatError, GraphError, UnknownDeviceError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm, Name, Number, Positive, Title
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.graph_checks import STREAMS
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.units import BYTES_PER_MBIT


class _Operator(ForeignForm):
    idx: int
    name: Name
    cpu: Number
    payload: Number


class _Connection(ForeignForm):
    from_vertex: int
    to_vertex: int
    selectivity: Number


class _Graph(ForeignForm):
    name: Title = ""
    operators: list[_Operator] = Field(min_length=1)
    connections: list[_Connection]
    event_rate: Positive


def is_graph(value: Any) -> bool:
    """Return whether a JSON value is a graph of CEPSim rather than one of streamplace."""
    return isinstance(value, dict) and "connections" in value and "streams" not in value


def graph_from(value: Any, where: str, name: str) -> StreamGraph:
    """Read a graph of CEPSim.

    Rates are computed from the selectivities; the weights stored in the file are ignored.

    Raises
    ------
    FormatError
        If the value is not such a graph; the message names `where`, the place in it and the fault.
    """
    form = check(_Graph, value, where)
    names: dict[int, str] = {}
    for i, operator in enumerate(form.operators):
        if operator.idx in names:
            raise FormatError(f"{where}: operators[{i}].idx: {operator.idx} appears twice")
        if isinf(operator.payload * BYTES_PER_MBIT):
            wrong = f"must be finite in bytes (got {operator.payload:g} Mbit)"
            raise FormatError(f"{where}: operators[{i}].payload: {wrong}")
        names[operator.idx] = operator.name
    for i, connection in enumerate(form.connections):
        for end in (connection.from_vertex, connection.to_vertex):
            if end not in names:
                raise FormatError(f"{where}: connections[{i}]: no operator has idx {end}")
        if connection.from_vertex == connection.to_vertex:
            looped = names[connection.from_vertex]
            raise FormatError(f"{where}: connections[{i}]: {looped!r} feeds itself")
    try:
        return StreamGraph(
            [Operator(o.name, o.cpu, o.payload * BYTES_PER_MBIT) for o in form.operators],
            [
                Stream(names[c.from_vertex], names[c.to_vertex], c.selectivity)
                for c in form.connections
            ],
            name=form.name or name,
            source_rate=form.event_rate,
        )
    except GraphError as error:
        if error.fault.place == STREAMS:
            error.update(place=("connections",))
        error.update(origin=where)
        raise FormatError(error.fault) from None


class _Device(ForeignForm):
    idx: int = Field(ge=0)
    ops: list[int]


class _Placements(ForeignForm):
    placements: list[_Device]


def is_placement(value: Any) -> bool:
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
