"""Attributed graphs: nodes and edges with text attributes, as in DOT and GraphML.

Numbers are written so that they read back exactly. `UNKNOWN` numbers are left out, and absent ones
are `UNKNOWN`. Lists are JSON text.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from math import isnan
from typing import Any

from pydantic import TypeAdapter, ValidationError

from streamplace.errors import FormatError, located
from streamplace.files.graphs import constraints_from, constraints_to, uneven_shares
from streamplace.files.reading import check, parse
from streamplace.files.schema import STORED, ConstraintsForm
from streamplace.problem.graph import UNKNOWN, Operator, Stream, StreamGraph
from streamplace.problem.graph_checks import check_semantics
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.operators import (
    COUNT,
    OPERATOR_DETAILS,
    OPERATOR_FIELDS,
    PARALLELISM,
    PARTITIONS,
    STREAM_DETAILS,
    STREAM_FIELDS,
    STREAM_NUMBERS,
    Field,
    Number,
    values_of,
)
from streamplace.problem.parallelism import FLINK, FREE
from streamplace.util.text import DECIMAL

# The attributes that streamplace uses; others are ignored. A device is written but not read, and
# the name of a node is read but not written.
GRAPH = ("name", "source_rate", "constraints", "firing", "multicast")
NODE = ("name", *(each.name for each in OPERATOR_FIELDS), "source_share", "device")
EDGE = tuple(each.name for each in STREAM_FIELDS)
TEXTS = frozenset(
    {"device"}
    | {each.name for each in (*OPERATOR_DETAILS, *STREAM_DETAILS)}
    | {*GRAPH} - {"source_rate"}
)
"""Attributes that are not numbers."""
Attributes = dict[str, str]

_FORMS = {kind: TypeAdapter[Any](form) for kind, form in STORED.items() if kind.text}


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
    clusters
        Operator -> ids of the clusters in which it is drawn, from the outermost one.
    labels
        Id of a cluster -> its label.
    """

    attributes: Attributes = attribute(default_factory=dict)
    nodes: dict[str, Attributes] = attribute(default_factory=dict)
    edges: list[tuple[str, str, Attributes]] = attribute(default_factory=list)
    clusters: dict[str, tuple[str, ...]] = attribute(default_factory=dict)
    labels: Attributes = attribute(default_factory=dict)


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
    return _texts(values_of(operator))


def _edge(stream: Stream, payload_of_source: float) -> Attributes:
    values = values_of(stream, ("selectivity",))
    if values.get("payload_bytes") == payload_of_source:
        del values["payload_bytes"]
    return _texts(values)


def _texts(values: Mapping[str, Any]) -> Attributes:
    """Return values as text, without unknown numbers."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in values.items()
        if value is not None
    }


def from_attributed_graph(
    attributed: AttributedGraph, where: str, notes: Sequence[str] = ()
) -> LogicalGraph:
    """Return the stream graph of an attributed graph, with notes of its reader.

    The nodes' ids are the operators' names. If all nodes have a ``name`` and no two the same, these
    names count instead. Labels of edges are ids of streams.

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
        Operator(
            names[node],
            **_values(OPERATOR_FIELDS, attributes, f"{where}: {names[node]!r:.40}"),
        )
        for node, attributes in attributed.nodes.items()
    ]
    streams, labels = [], []
    for source, target, attributes in attributed.edges:
        labels.append(attributes.get("label", ""))
        place = f"{where}: {source!r:.40} -> {target!r:.40}"
        for end in (source, target):
            if end not in attributed.nodes:
                if end in attributed.labels:
                    raise FormatError(f"{place}: {end!r:.40} is a group; join its nodes instead")
                raise FormatError(f"{place}: unknown node {end!r:.40}")
        values = _values(STREAM_FIELDS, attributes, place)
        streams.append(Stream(names[source], names[target], **values))
    shares = {
        names[node]: _number(attributes, "source_share", f"{where}: {names[node]!r:.40}")
        for node, attributes in attributed.nodes.items()
        if "source_share" in attributes
    }
    rate = _number(attributed.attributes, "source_rate", where)
    rules = attributed.attributes.get("constraints")
    rules_value = None if rules is None else parse(rules, f"{where}: constraints")
    graph = StreamGraph(
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
    return LogicalGraph(graph, notes=notes, ids=_ids(graph, streams, labels))


def _ids(
    graph: StreamGraph, streams: Sequence[Stream], labels: Sequence[str]
) -> dict[tuple[str, str], list[str]]:
    """Return ends -> the labels of the streams between them, in the order of the graph.

    Several streams that differ in more than numbers have none, since their order is another.
    """
    if not any(labels):
        return {}
    several: dict[tuple[str, str], list[tuple[Any, str]]] = {}
    for stream, label in zip(streams, labels, strict=True):
        payload = float(graph.payload_bytes[graph.index[stream.source]])
        values = [getattr(stream, each.name) for each in STREAM_NUMBERS]
        known = [payload if value is None else value for value in values]
        order = [(isnan(value), 0.0 if isnan(value) else value) for value in known]
        details = any(getattr(stream, each.name) for each in STREAM_DETAILS)
        several.setdefault((stream.source, stream.target), []).append(
            (order, "" if details else label)
        )
    return {
        ends: [label for _, label in sorted(each, key=lambda one: one[0])]
        for ends, each in several.items()
    }


def _semantics(attributes: Attributes, where: str) -> dict[str, Any]:
    """Return the values of ``firing`` and ``multicast`` that are there."""
    found: dict[str, Any] = {
        name: attributes[name] for name in ("firing", "multicast") if name in attributes
    }
    with located(where, FormatError):
        check_semantics(found.get("firing", "each"), found.get("multicast", "none"))
    return found


def _values(fields: Iterable[Field], attributes: Attributes, place: str) -> dict[str, Any]:
    """Return the values of fields, by name; absent numbers that may be unknown are."""
    found: dict[str, Any] = {}
    for field in fields:
        name, kind = field.name, field.kind
        if name in attributes:
            found[name] = _value(attributes, field, place)
        elif isinstance(kind, Number) and kind.may_be_unknown and not field.is_optional:
            found[name] = UNKNOWN
    return found


def _value(attributes: Attributes, field: Field, place: str) -> Any:
    """Return the value of an attribute that is there."""
    name, kind = field.name, field.kind
    if isinstance(kind, Number):
        number = _number(attributes, name, place)
        if kind.whole and not (number >= kind.least and number.is_integer()):
            expected = f"must be a whole number of at least {kind.least:g} (got {number:g})"
            raise FormatError(f"{place}: {name}: {expected}")
        return int(number) if kind.whole else number
    if kind in (COUNT, PARALLELISM, PARTITIONS):
        return _count(attributes, field, place)
    if kind not in _FORMS:
        return attributes[name]
    try:
        return _FORMS[kind].validate_python(
            parse(attributes[name], f"{place}: {name}"), strict=True
        )
    except ValidationError:
        raise FormatError(f"{place}: {name}: must be a JSON {kind.text}") from None


def _count(attributes: Attributes, field: Field, place: str) -> Any:
    """Return a number of instances or partitions, or the word that may stand for it."""
    name = field.name
    word = FREE if field.kind is PARALLELISM else FLINK
    if field.kind is not COUNT and attributes[name].strip() == word:
        return word
    count = _number(attributes, name, place)
    if not count.is_integer():
        raise FormatError(f"{place}: {name}: must be a whole number (got {count:g})")
    return int(count)


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
