"""The problem and the placer of the command `place`, from its files and options."""

from collections.abc import Mapping
from typing import Any

import click

from streamplace.cli import makespan_options, printing
from streamplace.cli.default_cluster import naming_the_default
from streamplace.cli.inheritance import inherit
from streamplace.cli.whole_operators import naming_whole_operators
from streamplace.errors import FormatError, InfeasibleError, ProblemError, located, reworded
from streamplace.files import read_constraints, read_graph
from streamplace.files.reading import name_of
from streamplace.integrations.whole_operators import colocate_instances
from streamplace.placers import registry
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import expanded
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.losses import Losses
from streamplace.problem.makespan import PublishedName
from streamplace.problem.objective import Objective, Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.published import with_published_semantics
from streamplace.scoring.compiled import check_loads
from streamplace.workflows.latency.limit import LatencyLimit


def read_problem(
    graph: str,
    cluster: Cluster | None,
    constraints_file: str | None,
    whole_operators: bool,
    *,
    lost: Losses,
    kind: Objective | None,
    old: Placement | None,
    start: str | None,
    changes: dict[str, Any],
    semantics: PublishedName | None,
    chosen: list[str],
) -> tuple[Problem, str]:
    """Read the problem; an error names the faulty file.

    Return it, and a note on what comes from the initial placement; see `inheritance`.
    """
    with located(name_of(graph)):
        read = expanded(read_graph(graph))
    constraints = None if constraints_file is None else read_constraints(constraints_file)
    rules_file, note, inherited = constraints_file or name_of(graph), "", False
    by_default = cluster is None and old is None
    if old is not None:
        settings = inherit(
            old,
            name_of(str(start)),
            read,
            cluster=cluster,
            has_constraints=constraints is not None,
            objective=kind,
            changes=changes,
            chosen=chosen,
        )
        cluster, kind, changes = settings.cluster, settings.objective, settings.changes
        note = settings.note
        makespan_options.refuse_rates(kind, changes, f"the makespan of {name_of(str(start))}")
        if settings.constraints is not None:
            constraints, rules_file, inherited = settings.constraints, name_of(str(start)), True
    if lost:
        whole = Cluster.of(cluster)
        lost = lost.of_devices(whole)
        cluster = lost.cluster(whole)
        note = "; ".join(filter(None, (note, _lost_kinds(read, whole, lost))))
        with located(rules_file):
            constraints = lost.constraints(constraints or read.constraints)
    unconstrained = None if constraints is None else Constraints()
    objective = kind or Throughput()
    if semantics is not None:
        makespan_options.require(objective, "semantics")
        read, cluster = with_published_semantics(read, Cluster.of(cluster), semantics)
    with naming_the_default(by_default), located(name_of(graph)):
        problem = Problem(
            read, cluster, constraints=unconstrained, objective=objective.with_changes(**changes)
        )
        check_loads(problem)
    if constraints is not None or whole_operators:
        rules = read.constraints if constraints is None else constraints
        if whole_operators:
            rules = colocate_instances(read, rules)
        naming = naming_whole_operators(read, rules.colocate, added=whole_operators)
        try:
            with located(rules_file), naming:
                problem = problem.with_constraints(rules)
        except (ProblemError, InfeasibleError) as error:
            if not inherited:
                raise
            remedy = "--constraints FILE replaces the placement's constraints"
            raise reworded(error, f"{error}; {remedy}") from None
    return problem, note


def _lost_kinds(graph: StreamGraph, whole: Cluster, lost: Losses) -> str:
    """Return of which kinds with stated times all devices are lost, for a note; else no text."""
    left = {device.kind for device in whole.devices if device.name not in lost.without}
    gone = {device.kind for device in whole.devices} - left
    stated = {kind for seconds in graph.seconds_on.values() for kind in seconds}
    kinds = sorted(kind for kind in gone if kind in stated)
    return f"--without removes all devices of kind {listed(kinds)}" if kinds else ""


def check_start(
    current: Mapping[str, str] | None, problem: Problem, start: str | None, graph: str
) -> None:
    """Refuse an initial placement of another graph; the error names its file."""
    if current is not None and current.keys().isdisjoint(problem.graph.names):
        none = f"contains none of the operators of {name_of(graph)}"
        raise FormatError(f"{name_of(str(start))}: {none}")


def check_asked(
    confidence: float | None,
    max_latency: LatencyLimit | None,
    start: str | None,
    prefer: str | None,
) -> None:
    """Refuse options that cannot be combined with a probability or a limit on latency."""
    together = (
        ("--confidence", confidence, "--start", start),
        ("--confidence", confidence, "--prefer", prefer),
        ("--max-latency", max_latency, "--start", start),
        ("--max-latency", max_latency, "--confidence", confidence),
    )
    for option, value, other, another in together:
        if value is not None and another is not None:
            raise click.UsageError(f"cannot combine {option} with {other}")


def check_limits(
    start: str | None, placer: str, max_moves: int | None, move_cost: float | None
) -> None:
    """Refuse limits of moves with options that they do not go with."""
    if max_moves is None and move_cost is None:
        return
    if start is None:
        raise click.UsageError("--max-moves and --move-cost require --start")
    if max_moves is not None and move_cost is not None:
        raise click.UsageError("cannot combine --max-moves with --move-cost")
    if placer != "auto" and (move_cost is None or registry.improver_of(placer) is None):
        raise click.UsageError(
            "cannot combine --placer with --max-moves or --move-cost, except giph with --move-cost"
        )


def with_options(placer: str, time_limit: float | None, prefer: str | None, operators: int) -> str:
    """Return the placer's name with a time limit and a preference, if they are set.

    A line on stderr warns if it may take minutes on a graph of so many operators.
    """
    if time_limit is not None:
        placer = registry.with_limit(placer, time_limit)
    if prefer is not None:
        placer = registry.with_preference(placer, prefer)
    printing.print_note(registry.warning_for(placer, operators) or "")
    return placer
