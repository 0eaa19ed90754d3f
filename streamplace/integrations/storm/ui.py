"""Reader of running Storm topologies from documents of the UI; instructions stay unknown."""

from collections.abc import Mapping
from dataclasses import replace

from streamplace.files.reading import parse
from streamplace.integrations.logical_builder import Link, build_logical_graph
from streamplace.integrations.storm.documents import Topology, topology_from
from streamplace.integrations.storm.groupings import distribution_of
from streamplace.integrations.storm.settings import with_requests
from streamplace.problem.graph import UNKNOWN
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph


def read(text: str, where: str) -> LogicalGraph:
    """Read a visualization, ``/metrics``, or an object of several documents.

    A stream's selectivity is the number of tuples that its source emitted on it ÷ the number that
    the source executed. For a spout, the latter is what it emits on all its streams. A stream that
    is not among those counted had no tuple.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If the topology is not a stream graph.
    """
    return logical_graph_from(topology_from(parse(text, where), where))


def logical_graph_from(topology: Topology) -> LogicalGraph:
    """Return the logical graph of a topology; see `read`.

    Raises
    ------
    GraphError
        If the topology is not a stream graph.
    """
    processed = _processed(topology)
    links = [
        Link(
            source,
            target,
            distribution_of(grouping),
            _ratio(
                topology.emitted.get((source, stream), 0.0 if source in topology.counted else None),
                processed.get(source),
            ),
        )
        for (source, stream, target), grouping in topology.groupings.items()
    ]
    rate, shares = _offered(topology, processed)
    logical = build_logical_graph(
        [*topology.executors],
        links,
        name=topology.name,
        parallelism=topology.executors,
        source_rate=rate,
        source_shares=shares,
    )
    alone = [
        logical.graph.names[v]
        for v in logical.graph.sources
        if logical.graph.names[v] in topology.bolts
    ]
    notes = [*topology.notes]
    if alone:
        which = listed(alone)
        notes.append(
            f"no stream leads to the bolts {which}, since none carried a tuple in the window"
        )
    limited = replace(logical, max_parallelism=topology.most)
    return with_requests(limited, topology.requests, notes)


def _processed(topology: Topology) -> dict[str, float]:
    """Return the tuples that each component processed in the window."""
    processed: dict[str, float] = {}
    fed = {target for _, _, target in topology.groupings}
    for (component, _), count in topology.emitted.items():
        if component not in fed:
            processed[component] = processed.get(component, 0.0) + count
    for (_, _, component), count in topology.executed.items():
        processed[component] = processed.get(component, 0.0) + count
    return processed


def _offered(
    topology: Topology, processed: Mapping[str, float]
) -> tuple[float | None, dict[str, float] | None]:
    """Return the source rate and shares, if the counts of all sources are known.

    A bolt with neither input nor output in the window counts as a source of no tuples.
    """
    fed = {target for _, _, target in topology.groupings}
    counts = {
        name: processed.get(name, 0.0 if name in topology.bolts else None)
        for name in topology.executors
        if name not in fed
    }
    known = {name: count for name, count in counts.items() if count is not None}
    total = sum(known.values())
    if len(known) < len(counts) or not 0 < total < float("inf"):
        return None, None
    shares = {name: count / total for name, count in known.items()}
    spans = [span for span in (topology.window, topology.uptime_s) if span]
    if topology.uptime_s is None or not spans:
        return None, shares
    rate = total / min(spans)
    return (rate if 0 < rate < float("inf") else None), shares


def _ratio(sent: float | None, processed: float | None) -> float:
    if sent is None or not processed:
        return UNKNOWN
    ratio = sent / processed
    return ratio if ratio < float("inf") else UNKNOWN
