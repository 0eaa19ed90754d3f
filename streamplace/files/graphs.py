"""Conversion between stream graphs and JSON values, including those of CEPSim."""

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from streamplace.errors import FormatError, located
from streamplace.files import cepsim
from streamplace.files.reading import check, name_of, read_json
from streamplace.files.schema import ConstraintsForm, Form, GraphForm
from streamplace.files.schema_fields import RowColumns
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import UNKNOWN, StreamGraph
from streamplace.problem.graph_checks import STREAM_PAYLOAD, endpoints, index_of
from streamplace.problem.operators import (
    OPERATOR_FIELDS,
    STREAM_FIELDS,
    Field,
    Number,
    in_files,
    json_value,
)


def read_constraints(path: str | Path) -> Constraints:
    """Read a file that holds the ``constraints`` object of a graph file."""
    value, where = read_json(path), name_of(path)
    if isinstance(value, dict) and "constraints" in value and "format" not in value:
        expected = "the object that a graph has in 'constraints', such as {\"pins\": {…}}"
        raise FormatError(f"{where}: holds more than constraints; write only {expected}")
    return constraints_from(check(ConstraintsForm, value, where))


def graph_from(value: Any, where: str, name: str = "") -> StreamGraph:
    """Read a graph from a JSON value; `name` is used if the value has none.

    Raises
    ------
    FormatError
        If the value is not a graph; the message names `where`, the place in it and the fault.
    """
    with located(where, FormatError):
        if cepsim.is_graph(value):
            return cepsim.graph_from(value, where, name)
        return from_form(check(GraphForm, value, where), name)


def from_form(form: GraphForm, name: str = "") -> StreamGraph:
    """Build the graph that a checked form describes."""
    operators, streams = form.operators, form.streams
    names = operators.all_of("name")
    sources, targets = streams.all_of("source"), streams.all_of("target")

    def place_of_stream(e: int) -> str:
        return f"stream {sources[e]!r:.40} -> {targets[e]!r:.40}"

    columns = {
        each.column: _column(each, operators, lambda v: f"operator {names[v]!r:.40}")
        for each in OPERATOR_FIELDS
    }
    columns |= {each.column: _column(each, streams, place_of_stream) for each in STREAM_FIELDS}
    graph = StreamGraph.from_columns(
        names,
        ends=endpoints(sources, targets, index_of(names)),
        **columns,
        name=form.name or name,
        source_rate=form.source_rate,
        source_shares=form.source_shares,
        source_rates=form.source_rates,
        constraints=constraints_from(form.constraints),
        firing=form.firing,
        multicast=form.multicast,
    )
    graph.stated_cores = frozenset(names[v] for v in operators.stating("cores"))
    return graph


def _column(field: Field, rows: RowColumns, place: Callable[[int], str]) -> Any:
    """Return the values of a field in checked rows, by index if it is a detail.

    It is None for an optional number that no row states. Messages about a value that is a mapping
    begin with the place of its row.
    """
    kind = field.kind
    if not field.required and field.name not in rows.fields:
        return None if isinstance(kind, Number) else {}
    if isinstance(kind, Number):
        return [UNKNOWN if value is None else value for value in rows.all_of(field.name)]
    found = {i: value for i, value in rows.stated(field.name).items() if value}
    if not isinstance(field.default, Mapping):
        return found
    return {i: kind.check(f"{place(i)}: {field.name}", _plain(value)) for i, value in found.items()}


def _plain(value: Any) -> Any:
    return value.model_dump(exclude={"comment"}) if isinstance(value, Form) else value


def constraints_from(form: ConstraintsForm | None) -> Constraints:
    """Return the constraints of a checked form."""
    if form is None:
        return Constraints()
    return Constraints(form.pins, form.colocate, form.exlocate, form.allowed, form.apart_groups)


def constraints_to(constraints: Constraints) -> dict[str, Any]:
    """Return constraints as a JSON value, without empty fields."""
    value = {
        "pins": dict(constraints.pins),
        "colocate": [list(group) for group in constraints.colocate],
        "exlocate": [list(group) for group in constraints.exlocate],
        "allowed": {operator: list(names) for operator, names in constraints.allowed.items()},
        "apart_groups": [list(group) for group in constraints.apart_groups],
    }
    return {key: rules for key, rules in value.items() if rules}


def uneven_shares(graph: StreamGraph) -> dict[str, float]:
    """Return source -> its share of the source rate; empty if all shares are equal."""
    shares = graph.source_share[graph.sources]
    if (shares == 1.0 / len(shares)).all():
        return {}
    return {graph.names[v]: float(graph.source_share[v]) for v in graph.sources}


def graph_to(graph: StreamGraph) -> dict[str, Any]:
    """Return a graph as a JSON value, without fields at their default."""
    value: dict[str, Any] = {"format": "streamplace-graph", "version": 1}
    if graph.name:
        value["name"] = graph.name
    if graph.source_rate is not None:
        value["source_rate"] = graph.source_rate
    if shares := uneven_shares(graph):
        value["source_shares"] = shares
    value |= graph.semantics
    names = graph.names
    ends = zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True)
    cores = [graph.index[name] for name in graph.stated_cores]
    value["operators"] = [{"name": name} for name in names]
    _add_values(value["operators"], graph, OPERATOR_FIELDS, {"cores": cores})
    value["streams"] = [{"source": names[u], "target": names[v]} for u, v in ends]
    _add_values(value["streams"], graph, STREAM_FIELDS, {})
    if graph.constraints:
        value["constraints"] = constraints_to(graph.constraints)
    return value


def _add_values(
    rows: Sequence[dict[str, Any]],
    graph: StreamGraph,
    fields: Sequence[Field],
    also: Mapping[str, Sequence[int]],
) -> None:
    """Add to each row its values that are not at their default, in the order of files.

    Parameters
    ----------
    also
        Field -> indices of rows that state it even if it is the default.
    """
    for field in in_files(fields):
        if field is STREAM_PAYLOAD:
            shown, column = ~np.isnan(graph.own_payload_bytes), graph.own_payload_bytes
        elif isinstance(field.kind, Number):
            column = getattr(graph, field.column)
            shown = (column != field.default) | field.required
            shown[list(also.get(field.name, []))] = True
        else:
            for i, detail in getattr(graph, field.column).items():
                rows[i][field.name] = json_value(detail)
            continue
        numbers = column[shown].tolist()
        if field.is_whole:
            numbers = map(int, numbers)
        for i, number in zip(np.flatnonzero(shown).tolist(), numbers, strict=True):
            rows[i][field.name] = None if isnan(number) else number
