"""What a file holds, in a few facts."""

from pathlib import Path
from typing import Any

import numpy as np

from streamplace.cluster import Cluster
from streamplace.files import cepsim, clusters
from streamplace.files.datasets import iter_graphs
from streamplace.files.placements import read_placement
from streamplace.files.shipped import resolve
from streamplace.files.text import read_json
from streamplace.graph import StreamGraph
from streamplace.placement import Placement


def summary(path: str | Path) -> dict[str, Any]:
    """Return facts about a graph, dataset, cluster or placement file."""
    found = resolve(path)
    if found.suffix == ".json" and found.is_file():
        value = read_json(found)
        if isinstance(value, dict) and "devices" in value:
            return _cluster(clusters.cluster_from(value, str(path)))
        if cepsim.looks_like(value):
            return _cepsim(value)
        if isinstance(value, dict) and "assignment" in value:
            return _placement(read_placement(found))
    graphs = list(iter_graphs(path))
    return _graph(graphs[0]) if len(graphs) == 1 else _dataset(graphs)


def _graph(graph: StreamGraph) -> dict[str, Any]:
    return {
        "kind": "graph",
        "name": graph.name,
        "operators": len(graph.names),
        "streams": len(graph.streams),
        "sources": [graph.names[v] for v in graph.sources],
        "sinks": [graph.names[v] for v in graph.sinks],
        "source_rate": graph.source_rate,
        "constraints": bool(graph.constraints or graph.requires),
        "sha256": graph.sha256,
    }


def _dataset(graphs: list[StreamGraph]) -> dict[str, Any]:
    operators = [len(graph.names) for graph in graphs]
    streams = [len(graph.streams) for graph in graphs]
    rates = sorted({graph.source_rate for graph in graphs if graph.source_rate is not None})
    return {
        "kind": "dataset",
        "graphs": len(graphs),
        "operators": _spread(operators),
        "streams": _spread(streams),
        "source_rates": rates if len(rates) <= 1 else [rates[0], rates[-1]],
    }


def _spread(values: list[int]) -> dict[str, float]:
    if not values:
        return {}
    return {"min": min(values), "median": float(np.median(values)), "max": max(values)}


def _cluster(cluster: Cluster) -> dict[str, Any]:
    return {
        "kind": "cluster",
        "devices": list(cluster.names),
        "total_mips": float(cluster.capacity.sum() / 1e6),
        "network": cluster.network.kind,
        "bandwidth_mbps": cluster.network.bandwidth_mbps,
        "links_that_differ": len(cluster.network.overrides),
    }


def _cepsim(value: dict[str, Any]) -> dict[str, Any]:
    used = [entry for entry in value["placements"] if entry.get("ops")]
    return {"kind": "CEPSim placement", "devices_used": len(used)}


def _placement(placement: Placement) -> dict[str, Any]:
    problem = placement.problem
    return {
        "kind": "placement",
        "graph": _graph(problem.graph),
        "cluster": _cluster(problem.cluster),
        "source_rate": problem.source_rate,
        "model": problem.model,
        "pes": {device: list(operators) for device, operators in placement.pes.items()},
    }
