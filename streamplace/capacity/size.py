"""Sizing: how many instances of each operator sustain a source rate, and on which devices."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import inf
from typing import get_args

import numpy as np

from streamplace.capacity.plan.unequal import prices_of
from streamplace.capacity.sizing.attempts import Task
from streamplace.capacity.sizing.choices import Choices
from streamplace.capacity.sizing.joint import JointSize, joint_size
from streamplace.capacity.sizing.latency_limit import sized_within
from streamplace.capacity.sizing.packing import PackedSize, is_large, packed_size
from streamplace.capacity.sizing.requirements import Requirement, lacking, requirements
from streamplace.capacity.sizing.restrictions import rules_against
from streamplace.capacity.sizing.result import SIZE, Minimise, SizeResult, SizeTable, Unsized
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
from streamplace.latency.limit import LatencyLimit
from streamplace.placers.budget import Budget, check_limits
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model, Throughput
from streamplace.problem.parallelism import FREE
from streamplace.problem.problem import check_graph
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.sim import work_clock
from streamplace.util.arrays import Floats
from streamplace.util.checks import check_seed
from streamplace.util.suggest import valid_choices
from streamplace.workflows.conflict import listed_and
from streamplace.workflows.naming_conflicts import naming_conflicts

MINIMISED: tuple[str, ...] = get_args(Minimise)
SECONDS = 5.0
CATCH_UP_S, RESTART_S = 1800.0, 300.0  # of Flink's autoscaler, where only one of both is set
MAX_SURVIVED = 1
SINGLE = (
    "the graph has single instances, whose numbers are kept; with --logical, import and profile "
    "keep operators instead, whose numbers size chooses"
)


def size(
    graph: StreamGraph,
    cluster: Cluster | str | None = None,
    *,
    source_rate: float | None = None,
    minimise: Minimise = "machines",
    constraints: Constraints | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
    catch_up: float | None = None,
    restart: float | None = None,
    survive: int = 0,
    resize: bool = False,
    whole_operators: bool = False,
    max_latency: LatencyLimit | str | None = None,
    seconds: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
) -> SizeResult:
    """Choose the number of instances of each operator, and place all of them.

    The lower bounds of DS2 (Kalavri et al., OSDI 2018) on the numbers come first, with the skew of
    key groups, one thread per instance, and the cost of scaling. Then numbers and placement are
    improved together, until what is minimised reaches its lower bound or the time is up.

    Parameters
    ----------
    graph
        The job. The numbers of operators that are ``free``, or state none, are chosen; others are
        kept.
    cluster
        The devices to choose from.
    source_rate, constraints
        None: the graph's own. The source rate is in tuples/s.
    model, target_utilisation
        As for `place`.
    minimise
        ``machines``, ``money`` (the sum of `Device.price`), or ``instances``, on the whole cluster.
    catch_up, restart
        Seconds within which the tuples that wait after a restart are worked off, and seconds that a
        restart takes. As in Flink's autoscaler, capacity is for R / U + R restart / catch_up tuples
        per second, with the source rate R and the target utilisation U. If only one is set, the
        other is 1800 or 300. None: no restarts.
    survive
        1: the devices must keep up after the loss of any one of them. 0: no losses.
    resize
        Choose the numbers that the graph states, too.
    whole_operators
        Keep all instances of an operator on one device.
    max_latency
        A limit on latency, such as ``p99=200ms``; see `LatencyLimit`. Sizes for a lower and lower
        utilisation are tried until one keeps it.
    seconds, evaluations
        Limits of the search: wall time in seconds, or number of changes tried per set of devices,
        at first. Without either: 5 seconds of CPU time.
    seed
        Seed of all random choices.

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
    _check(minimise, survive, catch_up, restart, seed)
    survive = int(survive)  # True is as good as 1
    check_graph(graph)
    check_limits("size", seconds, evaluations)
    objective = Throughput.of(source_rate, model, target_utilisation).for_graph(graph)
    if objective.model not in CLOSED_FORMS:
        closed_forms = ", ".join(CLOSED_FORMS)
        fault = f"does not support the model engine; choose from {closed_forms}"
        raise UsageError(Fault(fault, place=SIZE))
    check_firing(graph)
    cluster = Cluster.of(cluster)
    rules = graph.constraints if constraints is None else Constraints.of(constraints)
    limit = SECONDS if seconds is None and evaluations is None else seconds
    weights = _weights(cluster, minimise)

    def sized(target: float) -> SizeResult:
        wanted = objective.with_changes(target_utilisation=target)
        rate = wanted.source_rate * _factor(wanted, catch_up, restart)
        needed = wanted.with_changes(source_rate=rate)
        task = Task(
            *(graph, cluster, needed, wanted.source_rate, minimise, rules, weights, survive),
            *(evaluations, seed, _free(graph, resize=resize), whole_operators),
        )
        is_default = seconds is None and evaluations is None  # then other work does not matter
        with work_clock.cpu_time() if is_default else nullcontext():
            return _sized(task, limit)

    if max_latency is None:
        return sized(objective.target_utilisation)
    asked = LatencyLimit.of(max_latency)
    return sized_within(sized, objective.target_utilisation, asked, seed, seconds)


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
    graph, explained, of_constraints = task.graph, [], False
    for one in faults:
        rules = rules_against(task, one)
        of_constraints |= any(rule.of_constraints for rule in rules)
        because = f", because of {listed_and(map(str, rules))}" if rules else ""
        explained.append(replace(one, because=because))
    is_single = any(graph.index[one.operator] in graph.instance_of for one in faults)
    fault = Fault(
        cannot_keep_up(explained),
        place=SIZE,
        remedy=SINGLE if is_single else "",
        of_constraints=of_constraints,
    )
    return ShortageError(fault, faults[0].at_most, explained)


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
    **options: object,
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
            rows.append(size(graph, cluster, source_rate=rate, **options))  # type: ignore[arg-type]
        except (InfeasibleError, PlacementError) as error:
            errors[rate] = error
            at_most = error.at_most if isinstance(error, ShortageError) else None
            rows.append(Unsized(rate, str(error.fault.without("size")), at_most))
    if len(errors) == len({*rates}):
        raise errors[min(errors)]
    return SizeTable(tuple(rows))


def _factor(objective: Throughput, catch_up: float | None, restart: float | None) -> float:
    """Return the capacity needed over the source rate, on the share of devices that may be used."""
    if catch_up is None and restart is None:
        return 1.0
    down = RESTART_S if restart is None else restart
    return 1.0 + objective.target_utilisation * down / (catch_up or CATCH_UP_S)


def _free(graph: StreamGraph, *, resize: bool) -> frozenset[str]:
    """Return the names of the operators whose numbers of instances are to be chosen."""
    return frozenset(
        name
        for v, name in enumerate(graph.names)
        if v not in graph.instance_of and (resize or graph.parallelism.get(v) in (None, FREE))
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


def _check(
    minimise: str, survive: int, catch_up: float | None, restart: float | None, seed: int
) -> None:
    if minimise not in MINIMISED:
        choices = valid_choices(minimise, MINIMISED)
        raise UsageError(Fault(f"cannot minimise {minimise!r}{choices}", place=SIZE))
    if survive not in range(MAX_SURVIVED + 1):
        raise UsageError(Fault(f"survive must be 0 or {MAX_SURVIVED} (got {survive})", place=SIZE))
    if catch_up is not None and not 0 < catch_up < inf:
        raise UsageError(Fault(f"catch_up must be above 0 and finite (got {catch_up})", place=SIZE))
    if restart is not None and not 0 <= restart < inf:
        fault = f"restart must be at least 0 and finite (got {restart})"
        raise UsageError(Fault(fault, place=SIZE))
    check_seed(seed)
