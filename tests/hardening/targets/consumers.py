"""Uses of values after reading, as in commands: placing, scoring and writing them."""

import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from streamplace.errors import PlacementError
from streamplace.files.graphs import graph_from, graph_to
from streamplace.files.placements import placement_from, placement_to
from streamplace.formats.costs import Costs, DefaultForm
from streamplace.jobs.files import jobs_from, jobs_to
from streamplace.jobs.jobs import Jobs
from streamplace.jobs.place import place_jobs
from streamplace.makespan.score import MakespanScore
from streamplace.placers.registry import make_placer
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.constraints import Constraints
from streamplace.problem.expansion import to_instances, to_operators
from streamplace.problem.graph import StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.parallelism import FREE
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.throughput import bound, simulate
from streamplace.workflows.simulate import score_of
from tests.corpus.line_graph import line_graph

TINY = sys.float_info.min  # below, numbers have fewer digits than are compared

SOURCE_RATE = 100.0
MAX_OPERATORS = 1000  # larger graphs are not placed, since that takes too long
CLUSTER = Cluster([Device("d0", 2500.0), Device("d1", 2500.0, labels=("gpu",))])
DEFAULT_COSTS = Costs(default=DefaultForm(instructions=1000.0, payload_bytes=10.0, selectivity=1.0))
"""Costs for jobs of stream engines, whose documents seldom contain all of them."""


class InconsistencyError(AssertionError):
    """A value from a file is inconsistent, or its score is not a number."""


def use_graph(
    graph: StreamGraph, cluster: Cluster | None = None, rules: Constraints | None = None
) -> None:
    """Place a graph and score the placements; write the graph and read it again.

    Raises
    ------
    InconsistencyError
        If the graph read again differs, or a score is not a number.
    """
    again = graph_from(json.loads(json.dumps(graph_to(graph), allow_nan=False)), "again")
    if (again.sha256, again.source_rate) != (graph.sha256, graph.source_rate):
        raise InconsistencyError("the value changed when it was written and read again")
    instances = [count for count in graph.parallelism.values() if count != FREE]
    if len(graph.names) + sum(instances) > MAX_OPERATORS:
        return
    rate = SOURCE_RATE if graph.source_rate is None else None
    problem = Problem(graph, cluster or offering(graph), source_rate=rate, constraints=rules)
    for name in ("single", "round-robin"):
        with suppress(PlacementError):
            use_placement(make_placer(name)(problem, np.random.default_rng(0)))


def offering(graph: StreamGraph) -> Cluster:
    """Return two devices, one of which offers all labels and resources that a graph asks for."""
    labels = {label for labels in graph.requires.values() for label in labels}
    resources = dict.fromkeys(graph.resource_names, 1e6)
    everything = Device("d1", 2500.0, labels=tuple(sorted({*labels, "gpu"})), resources=resources)
    return Cluster([Device("d0", 2500.0), everything])


def use_graphs(graphs: list[StreamGraph]) -> None:
    """Place the first graphs of a dataset."""
    for graph in graphs[:3]:
        use_graph(graph)


def use_cluster(cluster: Cluster) -> None:
    """Place a graph on a cluster, unless the cluster is large."""
    if len(cluster.devices) < MAX_OPERATORS // 10:
        use_graph(line_graph(), cluster)


def use_pass(
    graph: StreamGraph, cluster: Cluster, recorded: Mapping[str, str] | None = None
) -> None:
    """Place a graph on the cluster of its file under the makespan objective, unless it is large.

    Parameters
    ----------
    recorded
        The placement that the file has, if it has one.
    """
    if len(graph.names) > MAX_OPERATORS or len(cluster.devices) > MAX_OPERATORS // 10:
        return
    problem = Problem(graph, cluster, objective=Makespan())
    for name in ("single", "heft"):
        with suppress(PlacementError):
            use_placement(make_placer(name)(problem, np.random.default_rng(0)))
    if recorded is not None:
        use_placement(Placement.of(problem, recorded))


def use_rules(rules: Constraints) -> None:
    """Place a graph under constraints."""
    use_graph(line_graph(), CLUSTER, rules)


def use_jobs(jobs: Jobs) -> None:
    """Place jobs together; write them and read them again.

    Raises
    ------
    InconsistencyError
        If the jobs read again differ, or a figure is not finite.
    """
    again = jobs_from(json.loads(json.dumps(jobs_to(jobs), allow_nan=False)), "again", Path())
    if [job.offered for job in again] != [job.offered for job in jobs]:
        raise InconsistencyError("the value changed when it was written and read again")
    if sum(len(job.graph.names) for job in jobs) > MAX_OPERATORS:
        return
    with suppress(PlacementError):
        result = place_jobs(jobs, CLUSTER, placer="single")
        try:
            json.dumps(result.to_dict(), allow_nan=False)
        except ValueError:
            raise InconsistencyError("a figure is not a number") from None


def use_placement(placement: Placement) -> None:
    """Score a placement, write it, and read it again.

    Raises
    ------
    InconsistencyError
        If a figure is not finite, or the placement read again differs.
    """
    is_pass = isinstance(placement.problem.objective, Makespan)
    figures = _makespan_of(placement) if is_pass else _throughput_of(placement)
    try:
        text = json.dumps(placement_to(placement, score=figures), allow_nan=False)
    except ValueError:
        raise InconsistencyError("a figure is not a number") from None
    if placement_from(json.loads(text), "again").assignment != placement.assignment:
        raise InconsistencyError("the value changed when it was written and read again")


def _throughput_of(placement: Placement) -> dict[str, Any]:
    score = simulate(placement)
    limit = placement.problem.source_rate * (1 + 1e-9)
    if not -1e-9 <= score.throughput <= limit:
        raise InconsistencyError(
            f"a throughput of {score.throughput} is not between 0 and the source rate {limit}"
        )
    return {**score.to_dict(), "of": bound(placement.problem)}


def _makespan_of(placement: Placement) -> dict[str, Any]:
    score = score_of(placement)
    least = (score.bound_s or 0.0) * (1 - 1e-9) if isinstance(score, MakespanScore) else 0.0
    if not least - TINY <= score.value < inf:
        raise InconsistencyError(f"a makespan of {score.value} is not finite or below {least}")
    return score.to_dict()


def use_job(job: LogicalGraph) -> None:
    """Use the graph of a job, its expansion into instances if it is small, and its own cluster."""
    job = DEFAULT_COSTS.of(job)
    use_graph(to_operators(job))
    if job.cluster is not None:
        use_pass(to_operators(job), job.cluster, job.assignment)
    if sum(job.parallelism.values()) < MAX_OPERATORS:
        use_graph(to_instances(job))


def use_result(result: Any) -> None:
    """Serialise a result as ``--json`` does.

    Raises
    ------
    InconsistencyError
        If the result is not JSON.
    """
    try:
        json.dumps(result, allow_nan=False)
    except ValueError:
        raise InconsistencyError("the result is not JSON") from None
