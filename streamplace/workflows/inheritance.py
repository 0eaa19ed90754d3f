"""What the problem of a new placement inherits from an old one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypedDict, cast

from streamplace.display.text import number
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.makespan import PublishedName
from streamplace.problem.objective import Model, Objective, Throughput
from streamplace.problem.objectives import text_of
from streamplace.problem.placement import Placement
from streamplace.util.text import counted


class Settings(TypedDict, total=False):
    """What a caller sets of a new problem besides its graph; None or left out: not set.

    Attributes
    ----------
    cluster, constraints, objective, source_rate, model, target_utilisation
        As for `place`. The source rate and the two after it also change an objective that is set.
    pins
        Operator -> the device that it has to be on, in addition to the constraints. Its own pins
        replace theirs.
    without
        Names of devices, or of groups of devices, that are lost.
    slow
        Name of a device or group -> the share of its speed that is left, above 0 and at most 1.
    semantics
        With a makespan: the published system whose messages to simulate; see `problem.makespan`.
    whole_operators
        Whether all instances of an operator have to be on one device.
    """

    cluster: Cluster | str | None
    constraints: Constraints | None
    objective: Objective | None
    source_rate: float | Iterable[float] | None
    model: Model | None
    target_utilisation: float | None
    pins: Mapping[str, str]
    without: Sequence[str]
    slow: Mapping[str, float]
    semantics: PublishedName | None
    whole_operators: bool


class Inherited(NamedTuple):
    """The settings of a new problem, and what of them comes from the old placement, in words."""

    settings: Settings
    taken: tuple[str, ...]


def inherit(
    old: Placement,
    graph: StreamGraph,
    settings: Settings,
    chosen: Collection[str] | None = None,
) -> Inherited:
    """Return settings of a new problem: those that are set, and otherwise the old placement's.

    Constraints and source rates that the placement took from its graph come from the graph of now,
    which may have changed; those that were set for the placement are kept.

    Parameters
    ----------
    graph
        The graph of now.
    settings
        What is set. Values of an objective that are the defaults of `Throughput` count as not set.
    chosen
        Names of the settings of a makespan that are set, if the others in `settings["objective"]`
        are the placement's; None: all are set.
    """
    problem, made, taken = old.problem, settings.copy(), list[str]()
    own, objective = problem.objective, settings.get("objective")
    cluster = settings.get("cluster")
    if cluster is None:
        cluster = made["cluster"] = problem.cluster
        taken.append(f"cluster of {counted(len(problem.cluster.devices), 'device')}")
    rules = problem.constraints.stated
    of_graphs = (problem.graph.constraints, graph.constraints)
    if settings.get("constraints") is None and problem.constraints not in of_graphs:
        whole = Cluster.of(cluster)
        made["constraints"] = kept = _that_fit(rules, graph, whole)
        taken.append(f"constraints ({_counts(kept)}){_left_out(rules, graph, whole)}")
    if objective is None and own.without_settings() != Throughput():
        made["objective"] = own.without_settings()
        taken.append(f"objective {text_of(own.without_settings())}")
    elif not (objective is None or own.has_rates or objective.has_rates or chosen is None):
        taken += _shared_settings(own, objective, chosen)
    if own.has_rates and (objective is None or objective.has_rates):
        taken += _throughput_settings(old, graph, made)
    return Inherited(made, tuple(taken))


def _shared_settings(own: Objective, objective: Objective, chosen: Collection[str]) -> list[str]:
    """Return the settings that an objective has from the placement's, such as ``batch=4``."""
    kept = text_of(objective).split(":")
    settings = [text for text in text_of(own).split(":") if "=" in text and text in kept]
    return [text for text in settings if text.partition("=")[0] not in chosen]


def _throughput_settings(old: Placement, graph: StreamGraph, made: Settings) -> list[str]:
    """Fill in settings of throughput that are not set, and return them in words."""
    taken, own = list[str](), old.problem.throughput_objective
    default = Throughput()
    aim = cast("Throughput", made.get("objective") or default)
    rates = own.source_rates or ()
    of_graph = rates in ((old.problem.graph.source_rate,), (graph.source_rate,))
    is_set = made.get("source_rate") is not None or aim.source_rates is not None
    if not is_set and (graph.source_rate is None or not of_graph):
        made["source_rate"] = rates
        taken.append("source rate " + ", ".join(map(number, rates)))
    is_set = made.get("model") is not None or aim.model != default.model
    if not is_set and own.model != default.model:
        made["model"] = own.model
        taken.append(f"model {own.model}")
    is_set = made.get("target_utilisation") is not None or aim.target_utilisation != 1.0
    if not is_set and own.target_utilisation != 1.0:
        made["target_utilisation"] = own.target_utilisation
        taken.append(f"target utilisation {own.target_utilisation:g}")
    if own.engine is not None and aim.engine is None and made.get("model") == own.model:
        made["objective"] = aim.with_engine(own.engine)
        taken.append("settings of the engine")
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
