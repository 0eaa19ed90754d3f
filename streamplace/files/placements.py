"""Placement files: those of streamplace hold the whole problem, those of CEPSim only indices."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from streamplace.errors import (
    FormatError,
    OtherGraphError,
    ProblemError,
    StreamplaceError,
    UnknownDeviceError,
    UsageError,
    located,
    within,
)
from streamplace.files import cepsim, clusters, graphs
from streamplace.files.assignments import (
    assignment_from,
    csv_of,
    is_assignment,
    read_placement_json,
)
from streamplace.files.datasets import read_graph
from streamplace.files.json_text import to_json, write_json
from streamplace.files.npz import read_columns
from streamplace.files.placement_columns import NPZ, write_placement_columns
from streamplace.files.reading import STDIO, check, folder_of, name_of
from streamplace.files.schema import GraphFileForm, PlacementForm, ProblemForm
from streamplace.files.stored_objectives import (
    objective_to,
    stored_objective,
    throughput_to,
)
from streamplace.problem.cluster import Cluster
from streamplace.problem.counts import expanded, for_instances
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model, Objective, Throughput
from streamplace.problem.objectives import name_of_objective
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem, check_known
from streamplace.util.checks import check_type
from streamplace.util.text import file_in_shell

RESULTS = (
    *("placer", "score", "bound", "gap", "fewer_devices"),
    *("confidence", "latency", "inputs", "jobs"),
)
"""Optional fields of a placement file."""
EMBEDDED = 100_000
"""Operators of the largest graph that a placement in JSON embeds, if it knows the graph's file.

This takes some 30 MB and one second to read. A larger graph would be nearly the whole file.
"""


def read_placement(
    path: str | Path,
    *,
    graph: StreamGraph | None = None,
    cluster: Cluster | None = None,
    source_rate: float | Iterable[float] | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
    objective: Objective | None = None,
    by_name: bool = False,
) -> Placement:
    """Read a placement. Arguments that are None are taken from the problem in the file.

    `objective` replaces that of the file, but not its source rates, model and target utilisation;
    these have their own arguments.

    CEPSim files hold no problem, nor do CSV files with the header ``operator,device`` and JSON
    files ``{"assignment": {operator: device}}``. The defaults are then the graph's source rate, the
    default cluster, ``bottleneck`` and a target utilisation of 1.

    Parameters
    ----------
    graph, cluster
        Those that the placement is of.
    source_rate
        Tuples/s over all sources: one rate, or several.
    model
        The throughput model, as for `place`.
    target_utilisation
        Usable share of each device and link, above 0 and at most 1.
    objective
        See above.
    by_name
        Whether to accept a placement of a graph with the same operators and other numbers. A source
        rate and constraints that the file has from its own graph are then taken from `graph`.

    Raises
    ------
    FormatError
        If the file is not a placement, is a placement of another graph or cluster, or uses an
        objective that no installed package registers.
    """
    return placement_from(
        read_placement_json(path),
        name_of(path),
        graph=graph,
        cluster=cluster,
        source_rate=source_rate,
        model=model,
        target_utilisation=target_utilisation,
        objective=objective,
        by_name=by_name,
    )


def placement_from(
    value: Any,
    where: str,
    *,
    graph: StreamGraph | None = None,
    cluster: Cluster | None = None,
    source_rate: float | Iterable[float] | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
    objective: Objective | None = None,
    by_name: bool = False,
) -> Placement:
    """Read a placement from a JSON value; see `read_placement`."""
    if graph is not None:
        check_known(graph, has_rate=True)  # not a fault of this file
    with located(where, FormatError):
        if not (is_assignment(value) or cepsim.is_placement(value)):
            form = check(PlacementForm, value, where)
            stored = stored_objective(form.problem, objective)
            changed = stored.with_changes(source_rate, model, target_utilisation)
            if by_name and graph is not None and _has_its_operators(form, graph):
                return _by_name(form, graph, cluster, changed, is_set=source_rate is not None)
            return _from_form(form, graph, cluster, changed)
        if graph is None:
            what = "an assignment" if is_assignment(value) else "a CEPSim placement"
            how = _how_to_add_a_graph(value, where, objective)
            raise ProblemError(f"{what} holds no graph; {how}")
    # A fault of the graph, such as a missing source rate, is not in this file.
    changed = (objective or Throughput()).with_changes(source_rate, model, target_utilisation)
    problem = Problem(graph, cluster, objective=changed)
    with located(where, FormatError):
        if is_assignment(value):
            return Placement.of(problem, assignment_from(value, where))
        return cepsim.placement_from(value, problem, where)


def _how_to_add_a_graph(value: Any, where: str, objective: Objective | None) -> str:
    """Return the command that scores an assignment with its graph, or stores both in a file."""
    if not is_assignment(value):
        return "use 'streamplace simulate' with its graph"
    aim = ""
    if objective is not None and not objective.has_rates:
        aim = f"--objective {name_of_objective(objective)} "
    start = file_in_shell(where)
    command = f"streamplace place GRAPH --cluster CLUSTER {aim}--start {start} --max-moves 0"
    command = f"{command} -o FILE"
    return f"to store it with the graph and the cluster that it is for: {command}"


def results_in(value: Any) -> dict[str, Any]:
    """Return the fields of `RESULTS` that a placement file has, unchanged."""
    return {name: value[name] for name in RESULTS if name in value}


def proven_bound(value: Any, problem: Problem) -> float | None:
    """Return the bound that a placement file stores, in the unit of its objective's scores.

    None if the file stores none, or not for this problem: its graph, cluster, constraints and
    objective have to be those of the file.
    """
    if not isinstance(value, dict) or value.get("bound") is None:
        return None
    try:
        form = check(PlacementForm, value, "placement")
        cluster = clusters.from_form(form.problem.cluster)
        aim = stored_objective(form.problem, None)
    except StreamplaceError:
        return None  # the problem has another cluster than the file, since it could be read
    rules = graphs.constraints_from(form.problem.constraints)
    parts = aim, form.problem.graph_sha256, cluster, rules
    own = problem.objective, problem.graph.sha256, problem.cluster, problem.constraints.stated
    return form.bound if parts == own else None


def write_placement(path: str | Path, placement: Placement, **result: Any) -> None:
    """Write a placement file, which includes the whole problem; see `placement_to`.

    A file whose name ends in .npz holds everything in columns. In JSON, a graph of more than
    `EMBEDDED` operators that was read from a file stays there: the placement has its path, relative
    to the placement, and its hash.
    """
    check_placement(placement)
    graph = placement.problem.graph
    if str(path).endswith(NPZ):
        value = _stored(placement, {"graph_sha256": graph.sha256}, result)
        write_placement_columns(path, placement, value)
    elif refers_to_graph(graph):
        relative = os.path.relpath(str(graph.file), os.path.realpath(folder_of(path)))
        kept = {"graph": {"path": relative, "sha256": graph.sha256}}
        write_json(path, _with_assignment(placement, _stored(placement, kept, result)))
    else:
        write_json(path, placement_to(placement, **result))


def refers_to_graph(graph: StreamGraph) -> bool:
    """Return whether a placement in JSON refers to its graph instead of embedding it."""
    return len(graph.names) > EMBEDDED and graph.file is not None


def placement_to(placement: Placement, **results: Any) -> dict[str, Any]:
    """Return a placement with its whole problem, graph included, as a JSON value.

    Parameters
    ----------
    results
        Those of `RESULTS` that are known.

    Raises
    ------
    UsageError
        If a file cannot hold the objective's options or engine settings.
    """
    check_placement(placement)
    graph = placement.problem.graph
    own = {"graph": graphs.graph_to(graph), "graph_sha256": graph.sha256}
    return _with_assignment(placement, _stored(placement, own, results))


def check_placement(placement: Placement) -> None:
    """Raise UsageError unless a value is a placement."""
    instead = "a result has save(file), and its placement is result.placement"
    check_type("placement", placement, Placement, UsageError, instead)


def _with_assignment(placement: Placement, stored: dict[str, Any]) -> dict[str, Any]:
    problem = stored.pop("problem")
    return {**stored, "assignment": dict(placement.assignment), "problem": problem}


def _stored(
    placement: Placement, graph: Mapping[str, Any], results: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a placement as a JSON value without its assignment.

    Parameters
    ----------
    graph
        The entries of the problem that say what its graph is.
    """
    problem = placement.problem
    own: dict[str, Any] = {
        **graph,
        "cluster": clusters.cluster_to(problem.cluster),
        **throughput_to(problem.objective),
    }
    if problem.constraints:
        own["constraints"] = graphs.constraints_to(problem.constraints.stated)
    own |= objective_to(problem.objective)
    return {
        "format": "streamplace-placement",
        "version": 1,
        **results,
        **({"job": placement.job} if placement.job else {}),
        "problem": own,
    }


def _from_form(
    form: PlacementForm,
    graph: StreamGraph | None,
    cluster: Cluster | None,
    objective: Objective,
) -> Placement:
    own = form.problem
    if graph is not None and graph.sha256 != own.graph_sha256:
        raise OtherGraphError(f"is a placement of another graph{_graph_names(own, graph)}")
    if graph is None:
        graph = _graph_of(own)
    if cluster is None:
        with within("problem.cluster"):
            cluster = clusters.from_form(own.cluster)
    problem = Problem(
        graph,
        cluster,
        objective=objective,
        constraints=graphs.constraints_from(own.constraints),
    )
    return Placement.of(problem, form.assignment).of_job(form.job)


def _graph_of(own: ProblemForm) -> StreamGraph:
    """Return the graph that was placed, from the placement itself or from the graph's own file."""
    if isinstance(own.graph, GraphFileForm):
        return _graph_in_file(own.graph)
    with within("problem.graph"):
        graph = graphs.from_form(own.graph)
    if graph.sha256 != own.graph_sha256:
        raise ProblemError(
            "problem.graph: does not match problem.graph_sha256, so it was edited after placing"
        )
    return graph


def _graph_in_file(stored: GraphFileForm) -> StreamGraph:
    path = stored.path
    if path == STDIO:
        raise ProblemError(f"problem.graph.path: must be the path of a file (got {STDIO!r})")
    try:
        is_npz = path.endswith(NPZ)
        graph = expanded(read_columns(path, placed=True) if is_npz else read_graph(path))
    except StreamplaceError as error:
        raise ProblemError(f"problem.graph: {error}") from None
    if graph.sha256 != stored.sha256:
        raise ProblemError(
            f"problem.graph: {path} has changed since it was placed; restore it, or place it again"
        )
    return graph


def _has_its_operators(form: PlacementForm, graph: StreamGraph) -> bool:
    """Return whether a graph differs from that of a placement, but has the same operators."""
    return graph.sha256 != form.problem.graph_sha256 and form.assignment.keys() == {*graph.names}


def _by_name(
    form: PlacementForm,
    graph: StreamGraph,
    cluster: Cluster | None,
    objective: Objective,
    *,
    is_set: bool,
) -> Placement:
    """Return the placement of a graph with the same operators; see `read_placement`.

    Parameters
    ----------
    is_set
        Whether the caller sets the source rate.
    """
    own = form.problem
    if cluster is None:
        with within("problem.cluster"):
            cluster = clusters.from_form(own.cluster)
    before = _graph_of(own)
    rules = graphs.constraints_from(own.constraints)
    if for_instances(before, rules) == before.constraints:
        rules = graph.constraints
    if not is_set and objective.rates == (before.source_rate,) and graph.source_rate:
        objective = objective.with_changes(graph.source_rate)
    problem = Problem(graph, cluster, objective=objective, constraints=rules)
    return Placement.of(problem, form.assignment).of_job(form.job)


def _graph_names(own: ProblemForm, graph: StreamGraph) -> str:
    if isinstance(own.graph, GraphFileForm):
        return f": that of {own.graph.path}"
    names = own.graph.operators.all_of("name")
    owners = own.graph.operators.stated("instance_of")
    same_operators = {owners.get(v) or name for v, name in enumerate(names)} == {*graph.owners}
    if same_operators and {*names} != {*graph.names}:
        return (
            ", with other numbers of instances; use the graph that states its numbers, such as "
            "that of size --graph-out"
        )
    if own.graph.name == graph.name:
        return ""
    return f": {own.graph.name!r}, not {graph.name!r}"


def as_json(placement: Placement, **results: Any) -> str:
    """Return a placement in streamplace's JSON format; `results` as for `placement_to`."""
    return to_json(placement_to(placement, **results))


def referring_assignment(value: Any, where: str) -> dict[str, str] | None:
    """Return operator -> device of a placement whose graph is not in its JSON, without the graph.

    None if the graph is in it.

    Raises
    ------
    FormatError
        If the value is not a placement, or names a device that its cluster lacks.
    """
    problem = value.get("problem") if isinstance(value, dict) else None
    graph = problem.get("graph") if isinstance(problem, dict) else None
    if not (isinstance(graph, dict) and "path" in graph):
        return None
    form = check(PlacementForm, value, where)
    with located(where, FormatError):
        with within("problem.cluster"):
            cluster = clusters.from_form(form.problem.cluster)
        if unknown := {*form.assignment.values()} - {*cluster.names}:
            raise UnknownDeviceError(f"assignment: the cluster has no device {min(unknown)!r}")
    return form.assignment


def as_csv(placement: Placement) -> str:
    """Return a CSV table with the header ``operator,device`` and one line per operator."""
    return csv_of(placement.assignment)
