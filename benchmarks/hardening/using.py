"""What the commands do with what they have read: it ends in numbers, or says why not."""

import json
from contextlib import suppress
from typing import Any

import numpy as np

from streamplace.errors import PlacementError
from streamplace.files.graphs import graph_from, graph_to
from streamplace.files.placements import placement_from, placement_to
from streamplace.integrations.costs import CostForm, Costs
from streamplace.placers.registry import make_placer
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.constraints import Constraints
from streamplace.problem.expansion import to_instances, to_operators
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.throughput import bound, simulate

RATE = 100.0
SMALL = 1000
ON = Cluster([Device("d0", 2500.0), Device("d1", 2500.0, labels=("gpu",))])
UNTOLD = Costs(default=CostForm(instructions=1000.0, payload_bytes=10.0, selectivity=1.0))
"""Of engines' jobs, which seldom tell all numbers."""


class WrongError(AssertionError):
    """What was read does not hold together, or scores what is no number."""


def use_graph(
    graph: StreamGraph, cluster: Cluster | None = None, rules: Constraints | None = None
) -> None:
    """Place a graph and score that; a graph that is written is read again the same.

    Raises
    ------
    WrongError
        If it is not, or a score is no number.
    """
    again = graph_from(json.loads(json.dumps(graph_to(graph), allow_nan=False)), "again")
    if (again.sha256, again.source_rate) != (graph.sha256, graph.source_rate):
        raise WrongError("what is written is not what was read")
    if len(graph.names) > SMALL:
        return
    rate = RATE if graph.source_rate is None else None
    problem = Problem(graph, cluster or ON, source_rate=rate, constraints=rules)
    for name in ("single", "round-robin"):
        with suppress(PlacementError):
            use_placement(make_placer(name)(problem, np.random.default_rng(0)))


def use_graphs(graphs: list[StreamGraph]) -> None:
    """Place the first graphs of a dataset."""
    for graph in graphs[:3]:
        use_graph(graph)


def use_cluster(cluster: Cluster) -> None:
    """Place a graph on a cluster, if it is a small one."""
    if len(cluster.devices) < SMALL // 10:
        use_graph(line(), cluster)


def use_rules(rules: Constraints) -> None:
    """Place a graph by constraints."""
    use_graph(line(), ON, rules)


def use_placement(placement: Placement) -> None:
    """Score a placement, and write it.

    Raises
    ------
    WrongError
        If a figure is no finite number, or what is written is not read again.
    """
    score = simulate(placement)
    figures = {**score.to_dict(), "of": bound(placement.problem)}
    try:
        text = json.dumps(placement_to(placement, score=figures), allow_nan=False)
    except ValueError:
        raise WrongError("a score that is no number") from None
    least, most = -1e-9, placement.problem.source_rate * (1 + 1e-9)
    if not least <= score.throughput <= most:
        raise WrongError(f"a throughput of {score.throughput} at {most}")
    if placement_from(json.loads(text), "again").assignment != placement.assignment:
        raise WrongError("what is written is not what was read")


def use_job(job: LogicalGraph) -> None:
    """Write the graph of an engine's job, its instances one by one where there are few."""
    job = UNTOLD.of(job)
    use_graph(to_operators(job))
    if sum(job.parallelism.values()) < SMALL:
        use_graph(to_instances(job))


def use_facts(facts: Any) -> None:
    """Print facts as ``--json`` does.

    Raises
    ------
    WrongError
        If they hold what is no JSON.
    """
    try:
        json.dumps(facts, allow_nan=False)
    except ValueError:
        raise WrongError("facts that are no JSON") from None


def line() -> StreamGraph:
    """Return the graph of three operators that other files are read for."""
    rows = [("a", 1000.0, 100.0), ("b", 2000.0, 100.0), ("c", 3000.0, 0.0)]
    return StreamGraph(rows, [("a", "b"), ("b", "c")], name="line", source_rate=1000.0)
