"""Graphs as the DREAM benchmark was released: payloads in Mbit per tuple, indices for names."""

from typing import Any

from pydantic import Field

from streamplace.errors import FormatError, GraphError
from streamplace.files.reading import check
from streamplace.files.schema import ForeignForm, Name, Number, Positive, Title
from streamplace.problem.graph import Operator, Stream, StreamGraph
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


def looks_like(value: Any) -> bool:
    """Whether a JSON value is a released graph rather than one of ours."""
    return isinstance(value, dict) and "connections" in value and "streams" not in value


def graph_from(value: Any, where: str, name: str) -> StreamGraph:
    """Read a released graph. Rates follow from the selectivities; stored weights are not read."""
    form = check(_Graph, value, where)
    names: dict[int, str] = {}
    for i, operator in enumerate(form.operators):
        if operator.idx in names:
            raise FormatError(f"{where}: operators[{i}].idx: {operator.idx} stands twice")
        names[operator.idx] = operator.name
    for i, connection in enumerate(form.connections):
        for end in (connection.from_vertex, connection.to_vertex):
            if end not in names:
                raise FormatError(f"{where}: connections[{i}]: no operator has the idx {end}")
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
        raise FormatError(f"{where}: {_in_its_words(str(error))}") from None


def _in_its_words(message: str) -> str:
    """Name a fault's place as the released files do."""
    place, colon, fault = message.partition(":")
    place = place.replace("streams", "connections").replace("payload_bytes", "payload")
    return place + colon + fault
