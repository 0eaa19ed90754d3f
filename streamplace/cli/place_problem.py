"""The problem of the command `place`, and what --start takes from the initial placement's file."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from streamplace.cli import makespan_options, options
from streamplace.cli.command import group
from streamplace.cli.inputs import (
    naming_the_default,
    naming_whole_operators,
    the_constraints,
    the_losses,
    with_pins,
)
from streamplace.cli.makespan_options import Asked, MakespanSettings
from streamplace.display.text import number
from streamplace.errors import FormatError, InfeasibleError, ProblemError, located, reworded
from streamplace.files import read_graph
from streamplace.files.reading import name_of
from streamplace.formats.instances import colocate_instances
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import expanded
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.losses import Losses
from streamplace.problem.makespan import PublishedName, with_published_semantics
from streamplace.problem.objective import Objective, Throughput
from streamplace.problem.objectives import text_of
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import check_loads
from streamplace.util.text import counted


@dataclass(frozen=True)
class ProblemOptions:
    """The options of `place` that describe the problem, besides the graph."""

    cluster: options.ClusterChoice = options.cluster()
    lost: options.LostDevices = group(options.LostDevices)
    constraints_file: str | None = options.constraints()
    pins: Mapping[str, str] = options.pins()
    throughput: options.ThroughputChoice = options.throughput()
    objective: str | None = options.objective()
    makespan: MakespanSettings = group(MakespanSettings)
    semantics: PublishedName | None = makespan_options.semantics()


@dataclass(frozen=True)
class Start:
    """The initial placement.

    Parameters
    ----------
    name
        Name of its file.
    placement
        The placement; None if the file holds nothing but the assignment.
    assignment
        Operator -> device.
    """

    name: str
    placement: Placement | None
    assignment: Mapping[str, str]

    def check(self, problem: Problem, graph: str) -> None:
        """Refuse the placement of another graph; the error names its file."""
        if self.assignment.keys().isdisjoint(problem.graph.names):
            none = f"contains none of the operators of {name_of(graph)}"
            raise FormatError(f"{self.name}: {none}")

    def left_out(self, graph: StreamGraph, file: str) -> str:
        """Return a note on operators of the placement that the graph lacks; else no text."""
        others = [name for name in self.assignment if name not in graph.index]
        if not others:
            return ""
        what = f"{counted(len(others), 'operator')} of {self.name}"
        note = f"{what} not in {name_of(file)}: {listed(others)}"
        old = self.placement
        same = old is not None and {*old.problem.graph.owners} == {*graph.owners}
        if not same:
            return note
        return (
            f"{note}, as the placement has other numbers of instances; to keep these, use the "
            "graph that states them, such as that of size --graph-out"
        )


def read_problem(
    graph: str,
    cluster: Cluster | None,
    options: ProblemOptions,
    asked: Asked,
    start: Start | None,
    *,
    whole_operators: bool,
) -> tuple[Problem, str]:
    """Read the problem; an error names the faulty file.

    Return it, and a note on what comes from the initial placement; see `inherit`.
    """
    old = None if start is None else start.placement
    kind, changes = asked.from_start(old), options.throughput.changes
    lost, constraints_file = the_losses(options.lost), options.constraints_file
    with located(name_of(graph)):
        read = expanded(read_graph(graph))
    constraints = the_constraints(constraints_file)
    rules_file, note, inherited = constraints_file or name_of(graph), "", False
    by_default = cluster is None and old is None
    if start is not None and old is not None:
        settings = inherit(
            old,
            start.name,
            read,
            cluster=cluster,
            has_constraints=constraints is not None,
            objective=kind,
            changes=changes,
            chosen=asked.settings.chosen,
        )
        cluster, kind, changes = settings.cluster, settings.objective, settings.changes
        note = settings.note
        makespan_options.refuse_rates(kind, changes, f"the makespan of {start.name}")
        if settings.constraints is not None:
            constraints, rules_file, inherited = settings.constraints, start.name, True
    if start is not None:
        note = "; ".join(filter(None, (note, start.left_out(read, graph))))
    constraints, pin_note = with_pins(options.pins, cluster, constraints, read)
    note = "; ".join(filter(None, (note, pin_note)))
    if lost:
        whole = Cluster.of(cluster)
        lost = lost.of_devices(whole)
        cluster = lost.cluster(whole)
        note = "; ".join(filter(None, (note, _lost_kinds(read, whole, lost))))
        with located(rules_file):
            rules = read.constraints if constraints is None else constraints
            constraints = lost.constraints(rules)
    unconstrained = None if constraints is None else Constraints()
    objective = kind or Throughput()
    if options.semantics is not None:
        makespan_options.require(objective, "semantics")
        read, cluster = with_published_semantics(read, Cluster.of(cluster), options.semantics)
    with naming_the_default(by_default), located(name_of(graph)):
        problem = Problem(
            read, cluster, constraints=unconstrained, objective=objective.with_changes(**changes)
        )
        check_loads(problem)
    if constraints is not None or whole_operators:
        rules = read.constraints.stated if constraints is None else constraints
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


@dataclass(frozen=True)
class Inherited:
    """The settings of the new problem; None where neither an option nor the placement sets them.

    Parameters
    ----------
    changes
        Arguments of `Objective.with_changes`: source rate, model and target utilisation.
    note
        Description of what comes from the placement's file; empty if nothing does.
    """

    cluster: Cluster | None
    constraints: Constraints | None
    objective: Objective | None
    changes: dict[str, Any]
    note: str


def inherit(
    old: Placement,
    start: str,
    graph: StreamGraph,
    *,
    cluster: Cluster | None,
    has_constraints: bool,
    objective: Objective | None,
    changes: dict[str, Any],
    chosen: Collection[str] = (),
) -> Inherited:
    """Return the settings of re-placing.

    Constraints and source rates that the placement took from its graph come from the graph of now,
    which may have changed; those that options set for the placement are kept.

    Parameters
    ----------
    start
        Name of the placement's file.
    has_constraints
        Whether an option specifies constraints.
    cluster, objective, changes
        Settings that options specify; None, or values that are None, otherwise. A makespan has the
        placement's settings where no option specifies them.
    chosen
        Names of the settings of makespans that options specify.
    """
    problem, taken, made = old.problem, list[str](), dict(changes)
    own = problem.objective
    if cluster is None:
        cluster = problem.cluster
        taken.append(f"cluster of {counted(len(cluster.devices), 'device')}")
    constraints, rules = None, problem.constraints.stated
    own_rules = (problem.graph.constraints, graph.constraints)
    if not has_constraints and problem.constraints not in own_rules:
        constraints = _that_fit(rules, graph, cluster)
        taken.append(f"constraints ({_counts(constraints)}){_left_out(rules, graph, cluster)}")
    if objective is None and type(own) is not Throughput:
        objective = own.without_settings()
        taken.append(f"objective {text_of(objective)}")
    elif objective is not None and own.is_pass and objective.is_pass:
        taken += _shared_settings(own, objective, chosen)
    if not own.is_pass and (objective is None or not objective.is_pass):
        taken += _throughput_settings(problem.throughput_objective, made, problem.graph, graph)
    note = f"from {start}: {'; '.join(taken)}" if taken else ""
    return Inherited(cluster, constraints, objective, made, note)


def _shared_settings(own: Objective, objective: Objective, chosen: Collection[str]) -> list[str]:
    """Return the settings that an objective has from the placement's, such as ``batch=4``."""
    kept = text_of(objective).split(":")
    settings = [text for text in text_of(own).split(":")[1:] if text in kept]
    return [text for text in settings if text.partition("=")[0] not in chosen]


def _throughput_settings(
    own: Throughput, made: dict[str, Any], before: StreamGraph, graph: StreamGraph
) -> list[str]:
    """Fill in settings of throughput that no option specifies, and return them in words.

    Parameters
    ----------
    own, made
        The objective of the placement; and settings, which are changed in place.
    before, graph
        The graph of the placement, and that of now.
    """
    taken, rates = list[str](), own.source_rates or ()
    of_graph = rates in ((before.source_rate,), (graph.source_rate,))
    if made["source_rate"] is None and (graph.source_rate is None or not of_graph):
        made["source_rate"] = rates
        taken.append("source rate " + ", ".join(map(number, rates)))
    if made["model"] is None and own.model != Throughput().model:
        made["model"] = own.model
        taken.append(f"model {own.model}")
    if made["target_utilisation"] is None and own.target_utilisation != 1.0:
        made["target_utilisation"] = own.target_utilisation
        taken.append(f"target utilisation {own.target_utilisation:g}")
    return taken


def _that_fit(rules: Constraints, graph: StreamGraph, cluster: Cluster) -> Constraints:
    """Return constraints without operators that the graph lacks and devices that are gone.

    A pin to a lost device stays, so that it is an error.
    """
    names, devices = {*graph.names, *graph.owners}, set(cluster.names)
    return Constraints(
        {v: d for v, d in rules.pins.items() if v in names},
        [kept for group in rules.colocate if len(kept := [v for v in group if v in names]) > 1],
        [kept for group in rules.exlocate if len(kept := [v for v in group if v in names]) > 1],
        {
            v: [d for d in several if d in devices] or list(several)
            for v, several in rules.allowed.items()
            if v in names
        },
        [kept for group in rules.apart_groups if len(kept := [v for v in group if v in names]) > 1],
    )


def _left_out(rules: Constraints, graph: StreamGraph, cluster: Cluster) -> str:
    """Return which operators and devices `_that_fit` leaves out, as the end of a sentence."""
    grouped = chain(*rules.colocate, *rules.exlocate, *rules.apart_groups)
    operators = {*rules.pins, *rules.allowed, *grouped}
    devices = set(chain(*rules.allowed.values()))
    parts = [
        f"{noun}{'' if len(gone) == 1 else 's'} {listed(sorted(gone))}, no longer in the {where}"
        for gone, noun, where in (
            (operators - {*graph.names, *graph.owners}, "operator", "graph"),
            (devices - set(cluster.names), "device", "cluster"),
        )
        if gone
    ]
    return f", without {' and '.join(parts)}" if parts else ""


def _counts(rules: Constraints) -> str:
    counts = (
        (len(rules.pins), "pin"),
        (len(rules.colocate), "colocated group"),
        (len(rules.exlocate), "exlocated group"),
        (len(rules.allowed), "allowed list"),
        (len(rules.apart_groups), "list of operators in different groups"),
    )
    return ", ".join(counted(count, kind) for count, kind in counts if count) or "none"
