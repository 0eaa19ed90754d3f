"""Placements <-> files: ours carry the whole problem, CEPSim's carry indices alone."""

from pathlib import Path
from typing import Any

from streamplace.cluster import Cluster
from streamplace.errors import ClusterError, FormatError, GraphError, ProblemError
from streamplace.files import cepsim, clusters, graphs
from streamplace.files.formats import PlacementForm, ProblemForm
from streamplace.files.text import check, read_json
from streamplace.graph import StreamGraph
from streamplace.placement import Placement
from streamplace.problem import Model, Problem


def read_placement(
    path: str | Path,
    *,
    graph: StreamGraph | None = None,
    cluster: Cluster | None = None,
    source_rate: float | None = None,
    model: Model | None = None,
) -> Placement:
    """Read a placement. What is not given comes from the file's own problem.

    Where the file has none (CEPSim), it comes from the graph, the default cluster and
    ``bottleneck``.

    Raises
    ------
    FormatError
        If the file is none, or is one of another graph or cluster.
    """
    value, where = read_json(path), str(path)
    try:
        if not cepsim.looks_like(value):
            return _ours(check(PlacementForm, value, where), graph, cluster, source_rate, model)
        if graph is None:
            raise FormatError(f"{where}: a CEPSim placement carries no graph, so give one")
        problem = Problem(graph, cluster, source_rate=source_rate, model=model or "bottleneck")
        return cepsim.placement_from(value, problem, where)
    except (GraphError, ClusterError, ProblemError) as error:
        raise FormatError(f"{where}: {error}") from None


def placement_to(placement: Placement, **result: Any) -> dict[str, Any]:
    """Return a placement with its whole problem as a JSON value.

    Parameters
    ----------
    result
        ``placer``, ``score``, ``bound`` and ``gap``, where they are known.
    """
    problem = placement.problem
    own: dict[str, Any] = {
        "graph": graphs.graph_to(problem.graph),
        "graph_sha256": problem.graph.sha256,
        "cluster": clusters.cluster_to(problem.cluster),
        "source_rate": problem.source_rate,
        "model": problem.model,
    }
    if problem.constraints:
        own["constraints"] = graphs.constraints_to(problem.constraints)
    return {
        "format": "streamplace-placement",
        "version": 1,
        **result,
        "assignment": placement.assignment,
        "problem": own,
    }


def _ours(
    form: PlacementForm,
    graph: StreamGraph | None,
    cluster: Cluster | None,
    source_rate: float | None,
    model: Model | None,
) -> Placement:
    own = form.problem
    if graph is not None and graph.sha256 != own.graph_sha256:
        raise ProblemError(f"is a placement of another graph{_called(own, graph)}")
    if graph is None:
        graph = graphs.from_form(own.graph)
        if graph.sha256 != own.graph_sha256:
            raise ProblemError("problem.graph: does not match problem.graph_sha256")
    problem = Problem(
        graph,
        clusters.from_form(own.cluster) if cluster is None else cluster,
        source_rate=own.source_rate if source_rate is None else source_rate,
        constraints=graphs.constraints_from(own.constraints),
        model=model or own.model,
    )
    return Placement.of(problem, form.assignment)


def _called(own: ProblemForm, graph: StreamGraph) -> str:
    if own.graph.name == graph.name:
        return ""
    return f": of {own.graph.name!r}, not {graph.name!r}"
