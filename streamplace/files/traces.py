"""Time series of engine runs as JSON values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.engine import RunMetrics
from streamplace.problem.placement import Placement


def trace_to(placement: Placement, found: RunMetrics) -> dict[str, Any]:
    """Return the time series of a run, and each sink's results, as a JSON value.

    Rates are means since the previous sample, in tuples/s; queues are in tuples at each sample. A
    utilisation of 1 is a whole device or link, whatever the target utilisation. sim/README.md has
    a table of the fields.
    """
    graph, cluster = placement.problem.graph, placement.problem.cluster
    most = placement.problem.target_utilisation
    sources, sinks = graph.sources, graph.sinks
    series, path_means = found.series, found.sink_path_mean_throughputs
    links = [int(i) for i in found.trace.link[1:]]
    uplinks = [i for i, link in enumerate(links) if link >= cluster.own_links]
    return {
        "format": "streamplace-trace",
        "version": 1,
        "tick_s": found.trace.tick_s,
        "measured_from_s": found.trace.begin.tick * found.trace.tick_s,
        "settled": found.settled,
        "queued": found.queued,
        "in_flight": found.in_flight,
        "dropped": found.dropped,
        "at_s": _rounded(series.at_s),
        "sources": [
            {
                "operator": graph.names[v],
                "offered_rate": _rounded(series.offered[:, s]),
                "rate": _rounded(series.processed[:, v]),
                "dropped_rate": _rounded(series.dropped[:, s]),
                "waiting": _rounded(series.backlog[:, s]),
            }
            for s, v in enumerate(sources)
        ],
        "operators": [
            {
                "name": name,
                "device": placement.assignment[name],
                "rate": _rounded(series.processed[:, v]),
                "utilisation": _rounded(series.busy[:, v] * most),
                "blocked": _rounded(series.blocked[:, v]),
                "gathered": _rounded(series.gathered[:, v]),
            }
            for v, name in enumerate(graph.names)
        ],
        "streams": [
            {
                "source": stream.source,
                "target": stream.target,
                "rate": _rounded(series.sent[:, e]),
                "waiting": _rounded(series.waiting[:, e]),
                "in_flight": _rounded(series.in_flight[:, e]),
            }
            for e, stream in enumerate(graph.streams)
        ],
        "devices": [
            {
                "name": name,
                "utilisation": _rounded(series.device_utilisation[:, d] * most),
                "stalled": _rounded(series.device_stalled[:, d]),
            }
            for d, name in enumerate(cluster.names)
        ],
        "links": [
            dict(zip(("from", "to"), cluster.resource_ends(link), strict=True))
            | _of_link(found, i, most)
            for i, link in enumerate(links)
            if link < cluster.own_links
        ],
        **({"uplinks": [_of_uplink(placement, found, i) for i in uplinks]} if uplinks else {}),
        "sinks": [
            {
                "operator": graph.names[v],
                "rate": _rounded(series.processed[:, v]),
                "mean_latency_s": _rounded(series.mean_latency_s[:, s]),
                "path_mean_throughput": (
                    None if path_means is None else _rounded(series.path_mean_throughput[:, s])
                ),
                "measured": {
                    "rate": float(found.sink_rates[s]),
                    "latency_s": found.latency_s(s),
                    "path_mean_throughput": None if path_means is None else float(path_means[s]),
                },
            }
            for s, v in enumerate(sinks)
        ],
    }


def _of_uplink(placement: Placement, found: RunMetrics, i: int) -> dict[str, Any]:
    problem = placement.problem
    number = int(found.trace.link[i + 1]) - problem.cluster.own_links
    group, direction, _ = problem.cluster.limited_uplinks[number]
    return {"group": group, "direction": direction} | _of_link(found, i, problem.target_utilisation)


def _of_link(found: RunMetrics, i: int, most: float) -> dict[str, list[float | None]]:
    series = found.series
    return {
        "utilisation": _rounded(series.link_utilisation[:, i + 1] * most),
        "full": _rounded(series.link_full[:, i + 1]),
        "stalled": _rounded(series.link_stalled[:, i + 1]),
    }


def _rounded(column: NDArray[np.float64]) -> list[float | None]:
    """Return numbers rounded to nine significant digits, and None for NaN."""
    return [None if np.isnan(x) else float(f"{x:.9g}") for x in column]
