"""Sizing: how many instances of each operator sustain a source rate, and on which devices."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from streamplace.capacity.plan.unequal import prices_of
from streamplace.capacity.settings import Minimise, SizeSettings
from streamplace.capacity.sizing.attempts import Task
from streamplace.capacity.sizing.choices import Choices
from streamplace.capacity.sizing.joint import JointSize, aim_of, joint_size
from streamplace.capacity.sizing.latency_limit import sized_within
from streamplace.capacity.sizing.packing import PackedSize, is_large, packed_size
from streamplace.capacity.sizing.requirements import Requirement, lacking, requirements
from streamplace.capacity.sizing.restrictions import rules_against
from streamplace.capacity.sizing.result import SIZE, SizeResult, SizeTable, Unsized
from streamplace.capacity.sizing.shortage import ShortageError, cannot_keep_up
from streamplace.errors import (
    ClusterError,
    Fault,
    InfeasibleError,
    PlacementError,
    StreamplaceError,
    UnsuitableError,
    UsageError,
)
from streamplace.placers.budget import Budget, clock_of
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Throughput
from streamplace.problem.parallelism import FREE
from streamplace.problem.problem import check_graph
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.sim import work_clock
from streamplace.util.arrays import Floats
from streamplace.util.running_search import report
from streamplace.util.settings import with_settings
from streamplace.workflows.conflict import listed_and
from streamplace.workflows.naming_conflicts import naming_conflicts

DEFAULT_SECONDS = 5.0  # of CPU time; a guess
CATCH_UP_S, RESTART_S = 1800.0, 300.0  # of Flink's autoscaler, where only one of both is set
SINGLE = (
    "the graph has single instances, whose numbers are kept; with --logical, import and profile "
    "keep operators instead (form='logical' of read_job), whose numbers size --resize chooses"
)
STATED = (
    "the graph states numbers of instances; with --resize, or resize=True in Python, size chooses "
    "these, too"
)


@with_settings(SizeSettings)
def size(
    graph: StreamGraph, cluster: Cluster | str | None = None, *, settings: SizeSettings
) -> SizeResult:
    """Choose the number of instances of each operator, and place all of them.

    The lower bounds of DS2 (Kalavri et al., OSDI 2018) on the numbers come first, with the skew of
    key groups, one thread per instance, and the cost of scaling. Then numbers and placement are
    improved together, until what is minimised reaches its lower bound or the time is up.

    As in Flink's autoscaler, capacity for restarts is for R / U + R `restart` / `catch_up` tuples
    per second, with the source rate R and the target utilisation U.

    Parameters
    ----------
    graph
        The job. The numbers of operators that are ``free``, or state none, are chosen; others are
        kept.
    cluster
        The devices to choose from.

    Raises
    ------
    InfeasibleError
        If provably no numbers of instances keep up; the message names the operators or the devices
        that are the limit, and the source rate that they carry.
    PlacementError
        If none that keep up were found.
    StreamplaceError
        If the problem or an argument is invalid.
    """
    check_graph(graph)
    objective = Throughput.of(
        settings.source_rate, settings.model, settings.target_utilisation
    ).for_graph(graph)
    if objective.model not in CLOSED_FORMS:
        closed_forms = ", ".join(CLOSED_FORMS)
        fault = f"does not support the model engine; choose from {closed_forms}"
        raise UsageError(Fault(fault, place=SIZE))
    check_firing(graph)
    report(aim_of(settings), None)  # before any search
    cluster, rules = Cluster.of(cluster), settings.constraints
    rules = graph.constraints if rules is None else Constraints.of(rules)
    weights, seconds = _weights(cluster, settings.minimise), settings.seconds
    is_default = seconds is None and settings.evaluations is None

    def sized(target: float) -> SizeResult:
        wanted = objective.with_changes(target_utilisation=target)
        rate = wanted.source_rate * _factor(wanted, settings)
        needed, free = wanted.with_changes(source_rate=rate), _free(graph, settings)
        task = Task(graph, cluster, needed, wanted.source_rate, rules, weights, free, settings)
        with clock_of(seconds, settings.evaluations):
            return _sized(task, DEFAULT_SECONDS if is_default else seconds)

    if settings.limit_on_latency is None:
        return sized(objective.target_utilisation)
    limit, seed = settings.limit_on_latency, settings.seed
    return sized_within(sized, objective.target_utilisation, limit, seed, seconds)


def check_firing(graph: StreamGraph) -> None:
    """Raise an UnsuitableError if instances of the operators would divide no work."""
    if graph.firing == "all":
        fault = 'does not support firing "all", where instances divide no work'
        raise UnsuitableError(Fault(fault, place=SIZE))


def _sized(task: Task, seconds: float | None) -> SizeResult:
    """Return the size of a task, with its score at the planned source rate."""
    begun, graph = work_clock.now(), task.graph
    share = task.planned / task.objective.source_rate
    with naming_conflicts():
        several = _requirements(task)
        if share != 1.0:
            several = [replace(one, at_most=one.at_most * share) for one in several]
        if faults := lacking(several):
            raise _shortage(task, faults)
        choices = Choices(graph, several, task.constraints.colocate)
        if is_large(graph, choices.counts(choices.first)):
            found: JointSize | PackedSize = packed_size(task, choices, Budget(seconds))
        else:
            found = joint_size(task, choices, seconds)
    limits = sorted((one for one in several if one.at_most < inf), key=lambda one: one.at_most)
    taken = work_clock.now() - begun
    return found.result(task, tuple(limits), taken)


def _shortage(task: Task, faults: Sequence[Requirement]) -> ShortageError:
    """Return the error of operators that cannot keep up."""
    explained, of_constraints = [], False
    for one in faults:
        rules = rules_against(task, one)
        of_constraints |= any(rule.of_constraints for rule in rules)
        because = f", because of {listed_and(map(str, rules))}" if rules else ""
        explained.append(replace(one, because=because))
    fault = Fault(
        cannot_keep_up(explained),
        place=SIZE,
        # other numbers of instances hardly help where a rule limits them
        remedy="" if of_constraints else _remedy(task, faults),
        of_constraints=of_constraints,
    )
    return ShortageError(fault, faults[0].at_most, explained)


def _remedy(task: Task, faults: Sequence[Requirement]) -> str:
    """Return what lets operators keep up if their numbers of instances are kept; else empty."""
    graph = task.graph
    if any(graph.index[one.operator] in graph.instance_of for one in faults):
        return SINGLE
    resized = replace(task, free=_free(graph, replace(task.settings, resize=True)))
    return "" if task.settings.resize or lacking(_requirements(resized)) else STATED


def _requirements(task: Task) -> list[Requirement]:
    """Return what each operator requires; raise a ShortageError if no source rate would help."""
    try:
        return requirements(task.graph, task.cluster, task.objective, task.constraints, task.free)
    except InfeasibleError as error:  # single instances do not fit, whatever the rate
        fault = replace(error.fault, what=f"{error.fault.what}; no source rate would help")
        found = ShortageError(fault)
        found.infeasible = error.infeasible
        raise found from None


def sizes(
    graph: StreamGraph,
    cluster: Cluster | str | None,
    rates: Sequence[float],
    **settings: Any,
) -> SizeTable:
    """Return the sizes at several source rates in tuples/s; see `size`.

    Raises
    ------
    InfeasibleError, PlacementError
        If no size was found for any of the rates: the error of the lowest one.
    """
    rows: list[SizeResult | Unsized] = []
    errors: dict[float, StreamplaceError] = {}
    for rate in rates:
        try:
            rows.append(size(graph, cluster, source_rate=rate, **settings))
        except (InfeasibleError, PlacementError) as error:
            errors[rate] = error
            at_most = error.at_most if isinstance(error, ShortageError) else None
            rows.append(Unsized(rate, str(error.fault.without("size")), at_most))
    if len(errors) == len({*rates}):
        raise errors[min(errors)]
    return SizeTable(tuple(rows))


def _factor(objective: Throughput, settings: SizeSettings) -> float:
    """Return the capacity needed over the source rate, on the share of devices that may be used."""
    catch_up, restart = settings.catch_up, settings.restart
    if catch_up is None and restart is None:
        return 1.0
    down = RESTART_S if restart is None else restart
    return 1.0 + objective.target_utilisation * down / (catch_up or CATCH_UP_S)


def _free(graph: StreamGraph, settings: SizeSettings) -> frozenset[str]:
    """Return the names of the operators whose numbers of instances are to be chosen."""
    return frozenset(
        name
        for v, name in enumerate(graph.names)
        if v not in graph.instance_of
        and (settings.resize or graph.parallelism.get(v) in (None, FREE))
    )


def _weights(cluster: Cluster, minimise: Minimise) -> Floats:
    """Return the price of each device in what is minimised, (D,)."""
    if minimise != "money":
        return np.ones(len(cluster.devices))
    prices = prices_of(cluster, "size")
    if prices is None:
        fault = "no device has a price; set price in the cluster, or choose machines"
        raise ClusterError(Fault(fault, place=SIZE))
    return prices
