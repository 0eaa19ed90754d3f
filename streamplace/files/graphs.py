"""Conversion between stream graphs and JSON values, including the published DREAM files."""

from math import isnan
from typing import Any

import numpy as np

from streamplace.errors import FormatError, located
from streamplace.files import dream
from streamplace.files.reading import check
from streamplace.files.schema import ConstraintsForm, GraphForm, ScalingForm
from streamplace.problem.constraints import Constraints
from streamplace.problem.details import details_of
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.operators import standard_errors_of


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
    graph = StreamGraph(
        [
            Operator(
                o.name,
                _number(o.instructions),
                _number(o.payload_bytes),
                o.memory_bytes,
                tuple(o.requires),
                o.instance_of or "",
                o.cores,
                o.resources,
                o.instructions_se,
                o.payload_bytes_se,
                o.seconds_on,
                o.type,
                tuple(o.output_shape),
                o.meta_op,
                o.parallelism,
                o.min_parallelism,
                o.max_parallelism,
                o.partitions,
                _scaling(o.scaling),
            )
            for o in form.operators
        ],
        [
            Stream(
                s.source,
                s.target,
                _number(s.selectivity),
                s.payload_bytes,
                s.selectivity_se,
                s.partitioning,
                s.key_shares,
            )
            for s in form.streams
        ],
        name=form.name or name,
        source_rate=form.source_rate,
        source_shares=form.source_shares,
        constraints=constraints_from(form.constraints),
        firing=form.firing,
        multicast=form.multicast,
    )
    graph.stated_cores = frozenset(o.name for o in form.operators if "cores" in o.model_fields_set)
    return graph


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
        _operator_to(operator, operator.name in graph.stated_cores) for operator in graph.operators
    ]
    default = np.isnan(graph.own_payload_bytes)
    value["streams"] = [
        _stream_to(stream, bool(same)) for stream, same in zip(graph.streams, default, strict=True)
    ]
    if graph.constraints:
        value["constraints"] = constraints_to(graph.constraints)
    return value


def _operator_to(operator: Operator, states_cores: bool) -> dict[str, Any]:
    value: dict[str, Any] = {
        "name": operator.name,
        "instructions": _or_null(operator.instructions),
        "payload_bytes": _or_null(operator.payload_bytes),
    }
    if operator.memory_bytes:
        value["memory_bytes"] = operator.memory_bytes
    if operator.requires:
        value["requires"] = list(operator.requires)
    if operator.instance_of:
        value["instance_of"] = operator.instance_of
    if operator.cores > 1 or states_cores:
        value["cores"] = operator.cores
    return value | details_of(operator) | standard_errors_of(operator)


def _stream_to(stream: Stream, default_payload: bool) -> dict[str, Any]:
    value: dict[str, Any] = {"source": stream.source, "target": stream.target}
    if stream.selectivity != 1.0:
        value["selectivity"] = _or_null(stream.selectivity)
    if not default_payload:
        value["payload_bytes"] = stream.payload_bytes
    return value | details_of(stream) | standard_errors_of(stream)


def _scaling(form: ScalingForm | None) -> dict[str, float]:
    return {} if form is None else form.model_dump(exclude={"comment"})


def _number(value_or_none: float | None) -> float:
    return UNKNOWN if value_or_none is None else value_or_none


def _or_null(number: float) -> float | None:
    return None if isnan(number) else number
