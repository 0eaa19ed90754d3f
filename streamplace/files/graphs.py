"""Conversion between stream graphs and JSON values, including the published DREAM files."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamplace.errors import FormatError, located
from streamplace.files import dream
from streamplace.files.reading import check
from streamplace.files.schema import ConstraintsForm, Form, GraphForm
from streamplace.problem.constraints import Constraints
from streamplace.problem.fields import Detail, Field, Number
from streamplace.problem.graph import UNKNOWN, Stream, StreamGraph
from streamplace.problem.graph_checks import endpoints, index_of
from streamplace.problem.operators import OPERATOR_FIELDS, STREAM_FIELDS, values_of


def graph_from(value: Any, where: str, name: str = "") -> StreamGraph:
    """Read a graph from a JSON value; `name` is used if the value has none.

    Raises
    ------
    FormatError
        If the value is not a graph; the message names `where`, the place in it and the fault.
    """
    with located(where, FormatError):
        if dream.looks_like(value):
            return dream.graph_from(value, where, name)
        if _is_flink_plan(value):
            raise FormatError(
                f"{where}: is a plan of Flink; use streamplace import --from flink-plan to make a "
                "graph of it"
            )
        return from_form(check(GraphForm, value, where), name)


def _is_flink_plan(value: Any) -> bool:
    """Return whether a JSON value is a plan of Flink, alone or as in ``GET /jobs/ID/plan``."""
    plan = value.get("plan", value) if isinstance(value, dict) else None
    nodes = plan.get("nodes") if isinstance(plan, dict) and "operators" not in plan else None
    first = nodes[0] if isinstance(nodes, list) and nodes else None
    return isinstance(first, dict) and "parallelism" in first


def from_form(form: GraphForm, name: str = "") -> StreamGraph:
    """Build the graph that a checked form describes."""
    names = [row.name for row in form.operators]
    index = index_of(names)
    values = {each.column: _column(each, form.operators) for each in OPERATOR_FIELDS}
    values |= {each.column: _column(each, form.streams) for each in STREAM_FIELDS}
    graph = StreamGraph.from_columns(
        names,
        ends=endpoints([(row.source, row.target) for row in form.streams], index),
        **values,
        name=form.name or name,
        source_rate=form.source_rate,
        source_shares=form.source_shares,
        source_rates=form.source_rates,
        constraints=constraints_from(form.constraints),
        firing=form.firing,
        multicast=form.multicast,
    )
    stated = (row.name for row in form.operators if "cores" in row.model_fields_set)
    graph.stated_cores = frozenset(stated)
    return graph


def _column(field: Field, rows: Sequence[Any]) -> Any:
    """Return the values of a field in checked rows, by index if it is a detail."""
    name = field.name
    if isinstance(field.kind, Number):
        values = [getattr(row, name) for row in rows]
        return [UNKNOWN if value is None else value for value in values]
    found = {i: value for i, row in enumerate(rows) if (value := getattr(row, name))}
    if not isinstance(field.default, Mapping):
        return found
    return {i: _mapping(field, rows[i], value) for i, value in found.items()}


def _mapping(field: Field, row: Any, value: Any) -> Any:
    """Return a value that is a mapping; messages name the operator, or the ends of the stream."""
    assert isinstance(field.kind, Detail)
    place = f"operator {row.name!r:.40}" if hasattr(row, "name") else ""
    place = place or f"stream {row.source!r:.40} -> {row.target!r:.40}"
    plain = value.model_dump(exclude={"comment"}) if isinstance(value, Form) else value
    return field.kind.check(f"{place}: {field.name}", plain)


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
    value["operators"] = [
        {"name": operator.name}
        | values_of(operator, ("cores",) if operator.name in graph.stated_cores else ())
        for operator in graph.operators
    ]
    default = np.isnan(graph.own_payload_bytes).tolist()
    value["streams"] = [
        _stream_to(stream, same) for stream, same in zip(graph.streams, default, strict=True)
    ]
    if graph.constraints:
        value["constraints"] = constraints_to(graph.constraints)
    return value


def _stream_to(stream: Stream, default_payload: bool) -> dict[str, Any]:
    values = values_of(stream)
    if default_payload:
        values.pop("payload_bytes", None)
    return {"source": stream.source, "target": stream.target} | values
