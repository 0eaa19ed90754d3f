"""The problem of a new placement, made from a graph, settings and an old placement."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from streamplace.errors import (
    Fault,
    FormatError,
    GraphError,
    UnknownPinError,
    UsageError,
    located,
)
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import expanded
from streamplace.problem.device_kinds import no_device
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.instances import colocate_instances
from streamplace.problem.losses import Losses
from streamplace.problem.makespan import check_takes_semantics, with_published_semantics
from streamplace.problem.objective import Objective, Throughput, check_objective
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import check_loads
from streamplace.util.suggest import did_you_mean
from streamplace.util.text import counted
from streamplace.workflows.inheritance import Settings, inherit
from streamplace.workflows.naming_conflicts import naming_conflicts
from streamplace.workflows.whole_operators import whole_operators

OF_ALL = "--constraints FILE, or constraints= in Python"
REPLACES = f"{OF_ALL}, replaces the placement's constraints"


@dataclass(frozen=True)
class Sources:
    """The names of files in messages; None: there is none.

    Parameters
    ----------
    graph, constraints, old
        The file of the graph, of the constraints that are set, and of the old placement.
    """

    graph: str | None = None
    constraints: str | None = None
    old: str | None = None


class NewProblem(NamedTuple):
    """The problem of a new placement.

    Parameters
    ----------
    notes
        What the problem has from the old placement, and what its settings replace or leave out, a
        sentence each.
    """

    problem: Problem
    notes: tuple[str, ...]


def new_problem(
    graph: StreamGraph,
    old: Placement | Mapping[str, str] | None,
    settings: Settings,
    sources: Sources = Sources(),
    chosen: Collection[str] | None = None,
) -> NewProblem:
    """Return the problem of placing a graph under settings.

    What is not set comes from the old placement, and then from the graph. Pins are added to the
    constraints before the lost devices are taken out of them, so that a pin to a lost device is an
    error.

    Parameters
    ----------
    old
        The placement to inherit from. An assignment, operator -> device, has no settings. None:
        there is no old placement.
    sources
        The files that messages name.
    chosen
        See `inherit`.

    Raises
    ------
    UsageError
        If a pin or a lost device is unknown, or the objective has no semantics of messages.
    FormatError
        If the old placement has none of the graph's operators.
    StreamplaceError
        If graph, cluster, constraints and objective do not fit together.
    """
    _check(settings)
    notes, is_inherited = list[str](), False
    try:
        graph = expanded(graph)
    except GraphError:
        with located(sources.graph):
            raise
    rules_file = sources.constraints or sources.graph
    if isinstance(old, Placement):
        had_rules = settings.get("constraints") is not None
        settings, taken = inherit(old, graph, settings, chosen)
        notes += [f"from {sources.old or 'the placement'}: {'; '.join(taken)}"] if taken else []
        is_inherited = not had_rules and settings.get("constraints") is not None
        rules_file = sources.old if is_inherited else rules_file
    if old is not None:
        notes += _operators_left_out(old, graph, sources)
    cluster, rules = Cluster.of(settings.get("cluster")), settings.get("constraints")
    if old is not None:
        notes += _devices_left_out(old, cluster, sources)
    rules, replaced = with_pins(settings.get("pins", {}), cluster, rules, graph)
    notes += replaced
    if lost := Losses.of(settings.get("without", ()), settings.get("slow", {})):
        lost, whole = lost.of_devices(cluster), cluster
        notes += _kinds_lost(graph, whole, lost)
        with located(rules_file):
            cluster, rules = lost.left(whole, graph.constraints if rules is None else rules)
    objective = _objective(settings)
    if (semantics := settings.get("semantics")) is not None:
        check_takes_semantics(objective)
        graph, cluster = with_published_semantics(graph, cluster, semantics)
    without_rules = None if rules is None else Constraints()
    with located(sources.graph):  # first without constraints, which have another file
        problem = Problem(graph, cluster, constraints=without_rules, objective=objective)
        check_loads(problem)
    is_whole = settings.get("whole_operators", False)
    if rules is not None or is_whole:
        rules = graph.constraints.stated if rules is None else rules
        with located(rules_file, remedy=REPLACES if is_inherited else ""):
            problem = _constrained(problem, rules, is_whole=is_whole)
    if old is not None and _names_of(old).isdisjoint(problem.graph.names):
        what = sources.graph or "the graph"
        raise FormatError(f"{sources.old or 'old'}: contains none of the operators of {what}")
    return NewProblem(problem, tuple(notes))


def _check(settings: Settings) -> None:
    """Refuse values of other types that are used before a problem is made."""
    if (objective := settings.get("objective")) is not None:
        check_objective(objective)
    if (constraints := settings.get("constraints")) is not None:
        Constraints.of(constraints)


def _objective(settings: Settings) -> Objective:
    objective = settings.get("objective") or Throughput()
    return objective.with_changes(
        settings.get("source_rate"), settings.get("model"), settings.get("target_utilisation")
    )


def _constrained(problem: Problem, rules: Constraints, *, is_whole: bool) -> Problem:
    if not is_whole:
        return problem.with_constraints(rules)
    graph, rules = problem.graph, colocate_instances(problem.graph, rules)
    with naming_conflicts(whole_operators(graph, rules.colocate)):
        return problem.with_constraints(rules)


def _names_of(old: Placement | Mapping[str, str]) -> set[str]:
    return {*(old.assignment if isinstance(old, Placement) else old)}


def _operators_left_out(
    old: Placement | Mapping[str, str], graph: StreamGraph, sources: Sources
) -> list[str]:
    """Return a note on operators of the placement that the graph lacks, if there are any."""
    assignment = old.assignment if isinstance(old, Placement) else old
    others = [name for name in assignment if name not in graph.index]
    if not others:
        return []
    what = f"{counted(len(others), 'operator')} of {sources.old or 'the placement'}"
    note = f"{what} not in {sources.graph or 'the graph'}: {listed(others)}"
    if isinstance(old, Placement) and {*old.problem.graph.owners} == {*graph.owners}:
        note += (
            ", as the placement has other numbers of instances; to keep these, use the "
            "graph that states them, such as that of size --graph-out"
        )
    return [note]


def _devices_left_out(
    old: Placement | Mapping[str, str], cluster: Cluster, sources: Sources
) -> list[str]:
    """Return a note on devices of the placement that the cluster lacks, if there are any."""
    assignment = old.assignment if isinstance(old, Placement) else old
    others = sorted({*assignment.values()} - {*cluster.index})
    if not others:
        return []
    what = f"{counted(len(others), 'device')} of {sources.old or 'the placement'}"
    return [f"{what} not in the cluster: {listed(others)}"]


def _kinds_lost(graph: StreamGraph, whole: Cluster, lost: Losses) -> list[str]:
    """Return a note on kinds with stated times all of whose devices are lost, if there are any."""
    left = {device.kind for device in whole.devices if device.name not in lost.without}
    gone = {device.kind for device in whole.devices} - left
    stated = {kind for seconds in graph.seconds_on.values() for kind in seconds}
    kinds = sorted(kind for kind in gone if kind in stated)
    return [f"no device of kind {listed(kinds)} is left"] if kinds else []


def with_pins(
    pins: Mapping[str, str],
    cluster: Cluster | None,
    constraints: Constraints | None,
    graph: StreamGraph,
    *,
    sized: bool = False,
) -> tuple[Constraints | None, list[str]]:
    """Return the constraints with further pins, and notes on the pins that these replace.

    Parameters
    ----------
    constraints
        None: the graph's, which are returned as None if there are no pins.
    sized
        Whether `size`, which checks their numbers, makes the instances that pins name.

    Raises
    ------
    UsageError
        If the graph lacks an operator, or the cluster a device.
    """
    if not pins:
        return constraints, []
    rules = graph.constraints.stated if constraints is None else constraints
    used = Cluster.of(cluster)
    devices = used.index
    operators, notes = {*graph.names, *graph.instance_of.values()}, list[str]()
    if sized:
        operators |= {name for name in pins if name.rpartition("[")[0] in graph.index}
    kept = dict(rules.pins)
    for operator, device in pins.items():
        if operator not in operators:
            close = did_you_mean(operator, graph.names)
            if operator in devices and device in operators:
                close = f", which is a device; {device!r} is the operator"
            elif "=" in operator and "," in operator:
                close = "; repeat --pin for each operator"
            raise UsageError(Fault(f"unknown operator {operator!r}{close}", option="pins"))
        if device not in devices:
            what, remedy = no_device(device, used.devices)
            remedy += f" ({OF_ALL})" if remedy else ""
            raise UnknownPinError(Fault(what, option="pins", remedy=remedy))
        notes += [
            f"the pin of {name!r} moves from {old!r} to {device!r}"
            for name in (operator, *_pinned_instances(operator, graph, kept))
            if (old := kept.pop(name, device)) != device
        ]
    return replace(rules, pins={**kept, **pins}), notes


def _pinned_instances(operator: str, graph: StreamGraph, pins: Collection[str]) -> list[str]:
    """Return the names in `pins` of an operator's instances, which the graph may lack as yet."""
    own = graph.instances.get(operator)
    if own is not None:
        return [name for name in own if name in pins]
    return [v for v in pins if v not in graph.index and v.rpartition("[")[0] == operator]
