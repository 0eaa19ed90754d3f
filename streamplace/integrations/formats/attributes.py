"""Attributed graphs: nodes and edges with text attributes, as in DOT and GraphML.

Numbers are written so that they read back exactly. `UNKNOWN` numbers are left out, and absent ones
are `UNKNOWN`. Lists are JSON text.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from streamplace.errors import FormatError, located
from streamplace.files.graphs import constraints_from, constraints_to, uneven_shares
from streamplace.files.reading import check, parse
from streamplace.files.schema import Amounts, ConstraintsForm, Name, SecondsByKind, Shape, Share
from streamplace.integrations.parsing.decimals import DECIMAL
from streamplace.problem.details import DETAILS, OF_COUNTS, STREAM_DETAILS, details_of
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.operators import standard_errors_of
from streamplace.problem.parallelism import FREE
from streamplace.problem.semantics import check_semantics

# The attributes that streamplace uses; others are ignored. A device is written but not read, and
# the name of a node is read but not written.
GRAPH = ("name", "source_rate", "constraints", "firing", "multicast")
NODE = (
    "name",
    "instructions",
    "payload_bytes",
    "memory_bytes",
    "requires",
    "instance_of",
    "cores",
    "resources",
    "instructions_se",
    "payload_bytes_se",
    "seconds_on",
    "type",
    "output_shape",
    "meta_op",
    *OF_COUNTS,
    "source_share",
    "device",
)
EDGE = (
    "selectivity",
    "payload_bytes",
    "selectivity_se",
    *(detail.name for detail in STREAM_DETAILS),
)
TEXTS = frozenset(
    {"requires", "instance_of", "device"}
    | {detail.name for detail in (*DETAILS, *STREAM_DETAILS)}
    | {*GRAPH} - {"source_rate"}
)
"""Attributes that are not numbers."""

_LABELS = TypeAdapter(list[Name])
_AMOUNTS = TypeAdapter(Amounts)
_SECONDS = TypeAdapter(SecondsByKind)
_SHAPE = TypeAdapter(Shape)
_SHARES: TypeAdapter[Mapping[str, float]] = TypeAdapter(dict[Name, Share])
_SHARES_EXAMPLE = 'object such as {"berlin": 0.2}'
Value = TypeVar("Value")
Attributes = dict[str, str]


@dataclass
class AttributedGraph:
    """A graph independent of a file format.

    Attributes
    ----------
    attributes
        Attributes of the graph.
    nodes
        Operator -> its attributes.
    edges
        (source, target, attributes).
    """

    attributes: Attributes = field(default_factory=dict)
    nodes: dict[str, Attributes] = field(default_factory=dict)
    edges: list[tuple[str, str, Attributes]] = field(default_factory=list)


def to_attributed_graph(
    graph: StreamGraph, devices: Mapping[str, str] | None = None
) -> AttributedGraph:
    """Return a stream graph as an attributed graph; `devices` is operator -> its device."""
    attributed = AttributedGraph()
    if graph.name:
        attributed.attributes["name"] = graph.name
    if graph.source_rate is not None:
        attributed.attributes["source_rate"] = repr(graph.source_rate)
    if graph.constraints:
        attributed.attributes["constraints"] = json.dumps(constraints_to(graph.constraints))
    attributed.attributes |= graph.semantics
    shares = uneven_shares(graph)
    for operator in graph.operators:
        attributes = _node(operator)
        if operator.name in shares:
            attributes["source_share"] = repr(shares[operator.name])
        if devices is not None:
            attributes["device"] = devices[operator.name]
        attributed.nodes[operator.name] = attributes
    for stream in graph.streams:
        source_payload = float(graph.payload_bytes[graph.index[stream.source]])
        attributed.edges.append((stream.source, stream.target, _edge(stream, source_payload)))
    return attributed


def _node(operator: Operator) -> Attributes:
    attributes = _numbers(instructions=operator.instructions, payload_bytes=operator.payload_bytes)
    if operator.memory_bytes:
        attributes["memory_bytes"] = repr(operator.memory_bytes)
    if operator.requires:
        attributes["requires"] = json.dumps(list(operator.requires))
    if operator.instance_of:
        attributes["instance_of"] = operator.instance_of
    if operator.cores > 1:
        attributes["cores"] = str(operator.cores)
    return attributes | _details(operator) | _numbers(**standard_errors_of(operator))


def _edge(stream: Stream, payload_of_source: float) -> Attributes:
    attributes = _numbers(selectivity=stream.selectivity)
    if stream.payload_bytes is not None and stream.payload_bytes != payload_of_source:
        attributes["payload_bytes"] = repr(stream.payload_bytes)
    return attributes | _details(stream) | _numbers(**standard_errors_of(stream))


def _details(row: Operator | Stream) -> Attributes:
    details = details_of(row).items()
    return {name: x if isinstance(x, str) else json.dumps(x) for name, x in details}


def _numbers(**numbers: float) -> Attributes:
    return {name: repr(number) for name, number in numbers.items() if not isnan(number)}


def from_attributed_graph(attributed: AttributedGraph, where: str) -> StreamGraph:
    """Return the stream graph of an attributed graph.

    The nodes' ids are the operators' names. If all nodes have a ``name`` and no two the same, these
    names count instead: igraph and others number the ids.

    Raises
    ------
    FormatError
        If an attribute is not valid, or the end of an edge is not a node.
    GraphError
        If it is not a stream graph.
    """
    own = [attributes.get("name", "") for attributes in attributed.nodes.values()]
    named = all(own) and len({*own}) == len(own)
    names = dict(zip(attributed.nodes, own if named else attributed.nodes, strict=True))
    operators = [
        _operator(names[node], attributes, f"{where}: {names[node]!r:.40}")
        for node, attributes in attributed.nodes.items()
    ]
    streams = []
    for source, target, attributes in attributed.edges:
        place = f"{where}: {source!r:.40} -> {target!r:.40}"
        for end in (source, target):
            if end not in attributed.nodes:
                raise FormatError(f"{place}: unknown node {end!r:.40}")
        selectivity = _number(attributes, "selectivity", place)
        payload = _number(attributes, "payload_bytes", place)
        streams.append(
            Stream(
                names[source],
                names[target],
                selectivity,
                None if isnan(payload) else payload,
                _or_zero(attributes, "selectivity_se", place),
                attributes.get("partitioning", ""),
                _json(attributes, "key_shares", "{}", _SHARES, _SHARES_EXAMPLE, place),
            )
        )
    shares = {
        names[node]: _number(attributes, "source_share", f"{where}: {names[node]!r:.40}")
        for node, attributes in attributed.nodes.items()
        if "source_share" in attributes
    }
    rate = _number(attributed.attributes, "source_rate", where)
    rules = attributed.attributes.get("constraints")
    rules_value = None if rules is None else parse(rules, f"{where}: constraints")
    return StreamGraph(
        operators,
        streams,
        name=attributed.attributes.get("name", ""),
        source_rate=None if isnan(rate) else rate,
        source_shares=shares or None,
        constraints=constraints_from(
            None
            if rules_value is None
            else check(ConstraintsForm, rules_value, f"{where}: constraints")
        ),
        **_semantics(attributed.attributes, where),
    )


def _semantics(attributes: Attributes, where: str) -> dict[str, Any]:
    """Return the values of ``firing`` and ``multicast`` that are there."""
    found: dict[str, Any] = {
        name: attributes[name] for name in ("firing", "multicast") if name in attributes
    }
    with located(where, FormatError):
        check_semantics(found.get("firing", "each"), found.get("multicast", "none"))
    return found


def _operator(name: str, attributes: Attributes, place: str) -> Operator:
    cores = _number(attributes, "cores", place)
    if not isnan(cores) and not (cores >= 1 and cores.is_integer()):
        raise FormatError(f"{place}: cores: must be a whole number of at least 1 (got {cores:g})")
    labels = _json(attributes, "requires", "[]", _LABELS, "list of labels", place)
    shape = _json(attributes, "output_shape", "[]", _SHAPE, "list of sizes", place)
    example = 'object such as {"gpu": 0.001}'
    seconds_on = _json(attributes, "seconds_on", "{}", _SECONDS, example, place)
    resources = _json(attributes, "resources", "{}", _AMOUNTS, 'object such as {"gpu": 1}', place)
    return Operator(
        name,
        _number(attributes, "instructions", place),
        _number(attributes, "payload_bytes", place),
        _or_zero(attributes, "memory_bytes", place),
        tuple(labels),
        attributes.get("instance_of", ""),
        1 if isnan(cores) else int(cores),
        resources,
        _or_zero(attributes, "instructions_se", place),
        _or_zero(attributes, "payload_bytes_se", place),
        seconds_on,
        attributes.get("type", ""),
        tuple(shape),
        attributes.get("meta_op", ""),
        **{name: _count(attributes, name, place) for name in OF_COUNTS if name != "scaling"},
        scaling=_json(
            attributes, "scaling", "{}", _SHARES, 'object such as {"sigma": 0.02}', place
        ),
    )


def _count(attributes: Attributes, name: str, place: str) -> Any:
    """Return a number of instances or partitions, or ``free``; None if it is absent."""
    if name not in attributes:
        return None
    text = attributes[name].strip()
    if name == "parallelism" and text == FREE:
        return FREE
    count = _number(attributes, name, place)
    if not count.is_integer():
        raise FormatError(f"{place}: {name}: must be a whole number (got {count:g})")
    return int(count)


def _or_zero(attributes: Attributes, name: str, place: str) -> float:
    """Return the number of an attribute; 0 if it is absent."""
    return _number(attributes, name, place) if name in attributes else 0.0


def _json(
    attributes: Attributes,
    name: str,
    default: str,
    form: TypeAdapter[Value],
    expected: str,
    place: str,
) -> Value:
    """Return the value of an attribute that is JSON text of a form."""
    try:
        value = parse(attributes.get(name, default), f"{place}: {name}")
        return form.validate_python(value, strict=True)
    except ValidationError:
        raise FormatError(f"{place}: {name}: must be a JSON {expected}") from None


def _number(attributes: Attributes, name: str, place: str) -> float:
    """Return the number of an attribute; `UNKNOWN` if it is absent."""
    if name not in attributes:
        return UNKNOWN
    text = attributes[name].strip()
    number = float(text) if DECIMAL.fullmatch(text) else UNKNOWN
    if not 0 <= number < float("inf"):
        raise FormatError(
            f"{place}: {name}: must be a finite number of at least 0 (got {text!r:.40})"
        )
    return number
