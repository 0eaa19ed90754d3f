"""Profiles of running Storm topologies from documents of the UI."""

import time
import urllib.parse
from collections.abc import Mapping
from dataclasses import replace
from math import isnan
from typing import Any

from streamplace.engines.storm.documents import PAGES, Topology, components_of, topology_from
from streamplace.engines.storm.settings import distribution_of, with_requests
from streamplace.errors import BackendError
from streamplace.files.reading import parse
from streamplace.formats.format import Format, Signs
from streamplace.formats.logical_builder import Link, build_logical_graph
from streamplace.formats.profiling.estimates import Estimate, or_unknown, sum_of
from streamplace.formats.profiling.profile import OperatorProfile, Profile, StreamProfile
from streamplace.formats.profiling.rest import Server
from streamplace.formats.profiling.shares import divided, shares_of
from streamplace.problem.graph import UNKNOWN
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph

PATHS = {"topology": "", "metrics": "/metrics", "visualization": "/visualization"}
NO_BYTES = "Storm does not count bytes; set them in --costs"
SPOUT = "Storm does not measure the time of spouts; set it in --costs"
SENDS_NOTHING = "a sink sends nothing"
NOTHING = "nothing was executed in the window, or the documents do not include it"
NO_TIME = "the documents do not include the length of the window"
NO_UPTIME = "the documents do not include the uptime (/topology/ID), which may be below the window"
RESOLUTION_MS = 1e-3
"""Storm writes times with three decimals (``StatsUtil.floatStr``)."""
TOO_SHORT = f"at most: Storm rounds times to {RESOLUTION_MS:g} ms; set it in --costs"


def documents(
    server: Server, topology: str, timeout_s: float, window_s: int | None = None
) -> tuple[dict[str, Any], str]:
    """Return name -> document of the UI about a topology, and the fault ("" if there is none).

    Parameters
    ----------
    window_s
        Length of the window: 600, 10,800 or 86,400 s. None means all time.

    Raises
    ------
    BackendError
        If the first document is not available.
    """
    base = f"/api/v1/topology/{urllib.parse.quote(topology, safe='')}"
    until = time.monotonic() + timeout_s
    found: dict[str, Any] = {}
    query = "" if window_s is None else f"?window={window_s}"
    try:
        for name, path in PATHS.items():
            found[name] = server.get(base + path + query, until - time.monotonic())
        pages = found[PAGES] = {}
        for name in components_of(found["topology"]):
            path = f"{base}/component/{urllib.parse.quote(name, safe='')}{query}"
            pages[name] = server.get(path, until - time.monotonic())
    except BackendError as error:
        if not found:
            raise
        return found, str(error)
    return found, ""


def fit(value: Any, where: str, mips: float) -> Profile:
    """Return a topology's profile, estimated from its documents; see `read`.

    Instructions are a bolt's mean time per tuple, over all inputs, times the speed; a time that
    Storm rounds to 0 is a bound. There are no standard errors, since the documents contain means
    and sums of the whole window.

    Parameters
    ----------
    mips
        Speed of a core that executors run on, million instructions per second.

    Raises
    ------
    FormatError
        If the documents are not valid. The message names `where`, the place in it and the fault.
    """
    topology = topology_from(value, where)
    logical = logical_graph_from(topology)
    graph = logical.graph
    work = {name: _instructions(topology, name, mips) for name in graph.names}
    offered = graph.source_rate
    unknown = NO_TIME if topology.window is None else NO_UPTIME
    rate = Estimate.missing(unknown) if offered is None else Estimate(offered)
    instructions = [or_unknown(work[name]) for name in graph.names]
    span = min((s for s in (topology.window, topology.uptime_s) if s), default=0.0)
    sinks = {graph.names[v] for v in graph.sinks}
    silent = Estimate.missing(NO_BYTES)
    operators = [
        OperatorProfile(
            name,
            _rate(topology, name, span),
            work[name],
            Estimate.missing(SENDS_NOTHING) if name in sinks else silent,
        )
        for name in graph.names
    ]
    streams = [
        StreamProfile(
            s.source,
            s.target,
            Estimate.missing(NOTHING) if isnan(s.selectivity) else Estimate(s.selectivity),
            silent,
        )
        for s in graph.streams
    ]
    filled = logical.with_graph(*graph.with_numbers(instructions=instructions))
    return Profile(filled, rate, operators, streams, 1, span)


def _instructions(topology: Topology, bolt: str, mips: float) -> Estimate:
    if all(target != bolt for _, _, target in topology.groupings):
        return Estimate.missing(SPOUT)
    ends = [e for e in topology.execute_ms if e[2] == bolt and topology.executed.get(e)]
    executed = sum_of(topology.executed[e] for e in ends)
    if not executed:
        return Estimate.missing(NOTHING)
    ms = sum_of(topology.execute_ms[e] * topology.executed[e] for e in ends) / executed
    if not ms:
        return Estimate(RESOLUTION_MS / 2 * mips * 1e3, None, "bound", TOO_SHORT)
    return Estimate(ms * mips * 1e3)


def _rate(topology: Topology, name: str, span: float) -> Estimate:
    fed = any(target == name for _, _, target in topology.groupings)
    executed = [n for (_, _, target), n in topology.executed.items() if target == name]
    emitted = [n for (source, _), n in topology.emitted.items() if source == name]
    counts = executed if fed else emitted
    if not counts:
        return Estimate.missing(NOTHING)
    return Estimate(sum_of(counts) / span) if span else Estimate.missing(NO_TIME)


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
    processed = _tuples_of_components(topology)
    links = [
        Link(
            source,
            target,
            distribution_of(grouping),
            _ratio(
                topology.emitted.get((source, stream), 0.0 if source in topology.counted else None),
                processed.get(source),
            ),
            stream,
        )
        for (source, stream, target), grouping in topology.groupings.items()
    ]
    rate, shares = _rate_and_shares(topology, processed)
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
    parts = {name: shares_of(tuples) for name, tuples in topology.tuples.items()}
    uneven = divided(logical, {name: each for name, each in parts.items() if each})
    limited = replace(uneven, max_parallelism=topology.most)
    return with_requests(limited, topology.requests, notes)


def _tuples_of_components(topology: Topology) -> dict[str, float]:
    """Return the tuples that each component processed in the window."""
    processed: dict[str, float] = {}
    fed = {target for _, _, target in topology.groupings}
    for (component, _), count in topology.emitted.items():
        if component not in fed:
            processed[component] = processed.get(component, 0.0) + count
    for (_, _, component), count in topology.executed.items():
        processed[component] = processed.get(component, 0.0) + count
    return processed


def _rate_and_shares(
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


FORMAT = Format(
    "storm-ui",
    about="Storm: a topology from the UI's REST API, JSON",
    read=read,
    signs=Signs(
        fields=(
            frozenset({"spouts[].id", "bolts[].id"}),
            frozenset({"spouts[].spoutId"}),
            frozenset({"*.:type"}),
        ),
        around=("visualization", "metrics"),
    ),
)
