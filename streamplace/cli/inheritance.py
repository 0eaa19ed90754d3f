"""What `place --start` takes from the initial placement's file, unless options say otherwise."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from streamplace.display.text import number
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.makespan import Makespan
from streamplace.problem.objective import Objective, Throughput
from streamplace.problem.objectives import text_of
from streamplace.problem.placement import Placement
from streamplace.util.text import counted


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
    constraints, rules = None, problem.constraints
    if not has_constraints and rules not in (problem.graph.constraints, graph.constraints):
        constraints = _that_fit(rules, graph, cluster)
        taken.append(f"constraints ({_counts(constraints)}){_left_out(rules, graph, cluster)}")
    if objective is None and type(own) is not Throughput:
        objective = own if isinstance(own, Makespan) else _without_settings(own)
        taken.append(f"objective {text_of(objective)}")
    elif isinstance(own, Makespan) and isinstance(objective, Makespan):
        taken += _makespan_settings(own, objective, chosen)
    if not isinstance(own, Makespan) and not isinstance(objective, Makespan):
        taken += _throughput_settings(own, made, problem.graph, graph)
    note = f"from {start}: {'; '.join(taken)}" if taken else ""
    return Inherited(cluster, constraints, objective, made, note)


def _makespan_settings(own: Makespan, objective: Makespan, chosen: Collection[str]) -> list[str]:
    """Return the settings that a makespan has from that of the placement, such as ``batch=4``."""
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
    names, devices = set(graph.names), set(cluster.names)
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
            (operators - set(graph.names), "operator", "graph"),
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


def _without_settings(objective: Throughput) -> Throughput:
    """Return an objective with the default source rate, model, target utilisation and engine."""
    default = Throughput()
    return replace(
        objective,
        source_rates=default.source_rates,
        model=default.model,
        target_utilisation=default.target_utilisation,
        engine=default.engine,
    )
