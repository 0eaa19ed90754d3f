"""Facts of a graph about numbers of instances, for summaries."""

from collections import Counter
from typing import Any

from streamplace.problem.fields import json_value
from streamplace.problem.graph import StreamGraph
from streamplace.problem.operators import OPERATOR_COUNTS


def count_facts(graph: StreamGraph) -> dict[str, Any]:
    """Return the entries about numbers of instances; none for a graph that says nothing of them.

    ``counts`` has what the graph states of each operator, or the number of its instances where the
    graph consists of these; ``partitioning`` and ``key_shares`` have that of each stream.
    """
    instances = Counter(graph.instance_of.values())
    counts = {operator: {"instances": number} for operator, number in instances.items()}
    stated = {
        name: {
            field: json_value(of[v])
            for field in OPERATOR_COUNTS
            if v in (of := getattr(graph, field))
        }
        for v, name in enumerate(graph.names)
    }
    entries = {
        "counts": counts | {name: fields for name, fields in stated.items() if fields},
        "partitioning": _of_streams(graph, "partitioning"),
        "key_shares": _of_streams(graph, "key_shares"),
    }
    return {name: facts for name, facts in entries.items() if facts}


def _of_streams(graph: StreamGraph, field: str) -> dict[str, Any]:
    """Return ``source->target`` -> a detail of the stream; a list for several streams."""
    found: dict[str, list[Any]] = {}
    for e, value in getattr(graph, field).items():
        source, target = graph.stream_source[e], graph.stream_target[e]
        ends = f"{graph.names[source]}->{graph.names[target]}"
        found.setdefault(ends, []).append(json_value(value))
    return {ends: several if len(several) > 1 else several[0] for ends, several in found.items()}
