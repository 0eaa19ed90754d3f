"""Summaries of files of graphs, clusters and placements."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from streamplace.errors import FormatError
from streamplace.files import cepsim, clusters, graphs
from streamplace.files.assignments import with_graph_beside
from streamplace.files.datasets import file_and_name, iter_values, read_dataset, resolve
from streamplace.files.other_kinds import refuse_other_folder, refuse_other_kind
from streamplace.files.placement_columns import NPZ, holds_placement
from streamplace.files.placements import placement_from, read_placement
from streamplace.files.reading import name_of
from streamplace.files.stored_objectives import objective_to
from streamplace.problem.assumptions import GuessedCosts
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_view import Shape
from streamplace.problem.operators import OPERATOR_COUNTS, json_value
from streamplace.problem.placement import Placement
from streamplace.problem.resources import whole_amounts


def summary(path: str | Path) -> dict[str, Any]:
    """Return facts about a file of graphs, of clusters or of a placement.

    Raises
    ------
    FormatError
        If the file is none of these; the message names its kind, if that is known.
    """
    found = resolve(path)
    if found.is_dir():
        refuse_other_folder(found, name_of(path))
    if found.is_dir() or found.name.endswith(NPZ) or file_and_name(found) is not None:
        is_placed = found.is_file() and holds_placement(found)
        return _placement(read_placement(found)) if is_placed else _graphs(read_dataset(found))
    values = list(iter_values(found))
    if not values:
        raise FormatError(f"{name_of(path)}: holds no graph")
    where, _, value = values[0]
    refuse_other_kind(value, name_of(path))
    if isinstance(value, dict) and "devices" in value and len(values) > 1:
        return _clusters([clusters.cluster_from(value, where) for where, _, value in values])
    if isinstance(value, dict) and len(values) == 1:
        if "devices" in value:
            return _cluster(clusters.cluster_from(value, where))
        if cepsim.is_placement(value):
            used = cepsim.devices_used(value, where)
            return {"kind": "CEPSim placement", "devices_used": used}
        if "assignment" in value:
            return _placement(placement_from(with_graph_beside(value, found), where))
    return _graphs([graphs.graph_from(value, where, name) for where, name, value in values])


def _graphs(found: list[StreamGraph]) -> dict[str, Any]:
    return _graph(found[0]) if len(found) == 1 else _dataset(found)


def _graph(graph: StreamGraph) -> dict[str, Any]:
    return {
        "kind": "graph",
        "name": graph.name,
        "operators": len(graph.names),
        "streams": len(graph.streams),
        **{name: value for name, value in asdict(Shape.of(graph)).items() if value is not None},
        "sources": [graph.names[v] for v in graph.sources],
        "sinks": [graph.names[v] for v in graph.sinks],
        "source_rate": graph.source_rate,
        "constraints": bool(graph.constraints or graph.requires),
        **_resources(graph.resources.values()),
        **graph.semantics,
        **count_facts(graph),
        **_counts("types", graph.type.values()),
        **_counts("seconds_on", (kind for times in graph.seconds_on.values() for kind in times)),
        "unknown": graph.unknown,
        **_guesses_of(graph),
        "sha256": graph.sha256,
    }


def _guesses_of(graph: StreamGraph) -> dict[str, Any]:
    """Return the entry of the costs that are typical values; nothing if there are none."""
    if not (graph.typical or graph.typical_streams):
        return {}
    typical, costs, operators = GuessedCosts.of(graph)
    return {"typical_costs": {"typical": typical, "costs": costs, "operators": list(operators)}}


def _dataset(found: list[StreamGraph]) -> dict[str, Any]:
    rates = {graph.source_rate for graph in found if graph.source_rate is not None}
    return {
        "kind": "dataset",
        "graphs": len(found),
        "operators": _spread([len(graph.names) for graph in found]),
        "streams": _spread([len(graph.streams) for graph in found]),
        "source_rates": sorted({min(rates), max(rates)}) if rates else [],
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"min": min(values), "median": float(np.median(values)), "max": max(values)}


def _cluster(cluster: Cluster, graph: StreamGraph | None = None) -> dict[str, Any]:
    """Return the facts of a cluster; with a graph, only the resources that its operators need."""
    offered = (device.resources for device in cluster.devices)
    if graph is not None:
        needed = graph.resource_names
        offered = ({name: each[name] for name in needed if name in each} for each in offered)
    return {
        "kind": "cluster",
        "devices": list(cluster.names),
        "total_mips": float(cluster.capacity.sum() / 1e6),
        "network": cluster.network.kind,
        "bandwidth_mbps": cluster.network.bandwidth_mbps,
        "links_that_differ": len(cluster.network.overrides),
        **_groups(cluster),
        **_of_devices("slots", {d.name: d.slots for d in cluster.devices}),
        **_of_devices("prices", {d.name: d.price for d in cluster.devices}),
        **_counts("kinds", (d.kind for d in cluster.devices if d.kind is not None)),
        **_resources(offered),
    }


def _clusters(found: list[Cluster]) -> dict[str, Any]:
    devices = [device for cluster in found for device in cluster.devices]
    return {
        "kind": "clusters",
        "clusters": len(found),
        "devices": _spread([len(cluster.devices) for cluster in found]),
        "total_mips": _spread([float(cluster.capacity.sum() / 1e6) for cluster in found]),
        **_counts("networks", (cluster.network.kind for cluster in found)),
        **_counts("kinds", (d.kind for d in devices if d.kind is not None)),
    }


def _resources(several: Iterable[Mapping[str, float]]) -> dict[str, Any]:
    """Return the entry of the sum of all resources; nothing if there are none."""
    sums: dict[str, list[float]] = {}
    for resources in several:
        for name, amount in resources.items():
            sums.setdefault(name, []).append(amount)
    totals = {name: fsum(amounts) for name, amounts in sorted(sums.items())}
    return {"resources": whole_amounts(totals)} if totals else {}


def _counts(key: str, names: Iterable[str]) -> dict[str, Any]:
    """Return the entry of how often each name occurs; nothing if there are none."""
    counts = Counter(names)
    return {key: dict(sorted(counts.items()))} if counts else {}


def _groups(cluster: Cluster) -> dict[str, Any]:
    """Return the groups of devices and the limits of what they share; empty without groups."""
    if not cluster.groups:
        return {}
    uplinks = {
        u.group: {"up_mbps": u.up_mbps, "down_mbps": u.down_mbps} for u in cluster.network.uplinks
    }
    return {
        "groups": {
            group: [device.name for device in cluster.devices if device.group == group]
            for group in cluster.groups
        },
        "uplinks": uplinks,
    }


def _of_devices(key: str, values: Mapping[str, float | None]) -> dict[str, Any]:
    """Return the entry of a number of each device that has it; nothing if none has."""
    known = {name: value for name, value in values.items() if value is not None}
    return {key: known} if known else {}


def _placement(placement: Placement) -> dict[str, Any]:
    problem = placement.problem
    return {
        "kind": "placement",
        "graph": _graph(problem.graph),
        "constraints": bool(problem.constraints or problem.graph.requires),
        "cluster": _cluster(problem.cluster, problem.graph),
        **problem.objective.entries(),
        **objective_to(problem.objective),
        "pes": {device: list(operators) for device, operators in placement.pes.items()},
    }


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
