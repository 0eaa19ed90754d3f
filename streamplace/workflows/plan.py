"""Capacity planning: how many devices sustain a source rate."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sim.closed_form.bottleneck import worst_utilisation
from sim.threads import fastest
from streamplace.errors import (
    InfeasibleError,
    PlacementError,
    ProblemError,
    StreamplaceError,
    UsageError,
    reworded,
)
from streamplace.placers.search.annealing import Budget, check_limits
from streamplace.placers.search.balance import overloaded
from streamplace.placers.search.chains import best_of_chains, starts
from streamplace.problem.cluster import MAX_DEVICES, Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model, Throughput
from streamplace.problem.problem import Problem, with_rates_of
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import CLOSED_FORMS, throughput_evaluator
from streamplace.scoring.throughput import throughput
from streamplace.util.arrays import Ints
from streamplace.util.checks import check_seed
from streamplace.util.text import counted
from streamplace.workflows.capacity_plan import CLOSE, Plan, PlanRow
from streamplace.workflows.conflict import named
from streamplace.workflows.too_heavy import too_heavy

MAX_BY_DEFAULT = 64  # devices to try, unless `most` is set
STALLED = 4  # stop when this many more devices changed nothing, so that links are the limit
SECONDS = 1.0


def plan(
    graph: StreamGraph,
    cluster: Cluster | str | None = None,
    *,
    source_rate: float | None = None,
    constraints: Constraints | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
    most: int | None = None,
    seconds: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
) -> Plan:
    """Find how many devices sustain a source rate.

    Parameters
    ----------
    cluster
        A cluster, or text such as ``5x2500``, that defines the kind of device and the network. Its
        devices must be equal.
    source_rate, constraints
        None: the graph's own. The source rate is in tuples/s.
    model, target_utilisation
        As for `place`.
    most
        Largest number of devices to try. None: try at least as many as the cluster has, and then
        up to 64 until the source rate is sustained or more devices would not help.
    seconds, evaluations
        Limits of the search, per number of devices: wall time in seconds (default 1 unless
        `evaluations` is set), or number of changes tried.

    Raises
    ------
    UsageError
        If devices or links differ, or under ``engine``, which defines no sustainable rate.
    StreamplaceError
        If the problem is invalid.
    """
    cluster = Cluster.of(cluster)
    objective = Throughput.of(source_rate, model, target_utilisation)
    _check(cluster, objective.model, most, seed)
    check_limits("plan", seconds, evaluations)
    budget = (SECONDS if seconds is None and evaluations is None else seconds, evaluations)
    rate = with_rates_of(objective, graph).source_rate
    objective = objective.with_changes(rate)
    cluster = _named_first(cluster, graph.constraints if constraints is None else constraints)
    rows: list[PlanRow] = []
    before: Ints | None = None
    failure: Exception | None = None
    largest = max(MAX_BY_DEFAULT, len(cluster.devices)) if most is None else most
    for count in range(1, largest + 1):
        try:
            problem = Problem(
                graph,
                _of(cluster, count),
                objective=objective,
                constraints=constraints,
            )
            row, before = _row(problem, before, Budget(*budget), np.random.default_rng(seed))
        except ProblemError as error:  # constraints may name devices that are added later
            if count >= len(cluster.devices):
                raise
            failure = error
            continue
        except (InfeasibleError, PlacementError) as error:  # more devices may have room
            failure = error
            continue
        rows.append(row)
        if most is None and count >= len(cluster.devices) and _is_last(rows, problem):
            break
    if not rows:
        tried = counted(largest, "device")
        message = f"plan: found no placement on up to {tried}; on the most, {failure}"
        raise _infeasible(failure, message)
    return Plan(rate, tuple(rows), None if rows[-1].keeps_up else too_heavy(problem))


def _infeasible(failure: Exception | None, message: str) -> StreamplaceError:
    """Return the error of a plan; it names the rules that cannot hold if that is proven."""
    if isinstance(failure, InfeasibleError):
        return named(reworded(failure, message))
    return InfeasibleError(message)


def _row(
    problem: Problem, before: Ints | None, budget: Budget, rng: np.random.Generator
) -> tuple[PlanRow, Ints]:
    """Search from METIS and from the best placement on one device fewer, `before`, (V,)."""
    count, rate = len(problem.cluster.devices), problem.source_rate
    loaded = overloaded(problem)  # at its rate the search cannot stop early
    if loaded is None:
        raise ProblemError(
            "operators: nothing limits the source rate, because no operator needs CPU time; "
            "set their instructions"
        )
    rows = starts(loaded, rng, None)
    if before is not None and loaded.feasibility.violation(before) is None:
        rows.insert(0, before)
    best = best_of_chains(loaded, rng, rows, budget.share(0.5)).devices
    sustained = loaded.source_rate / float(worst_utilisation(flow(loaded), best)[0])
    relative = min(1.0, sustained / rate)
    if not throughput_evaluator(problem).linear and relative < 1.0:
        chosen = best_of_chains(problem, rng, [best, *rows], budget)
        relative = float(throughput(problem, chosen.devices)[0]) / rate
    return PlanRow(count, sustained, loaded.source_rate, relative), best


def _named_first(cluster: Cluster, rules: Constraints) -> Cluster:
    """Return the cluster, starting with the devices that constraints name: all are needed."""
    named = {*rules.pins.values(), *(d for devices in rules.allowed.values() for d in devices)}
    devices = sorted(cluster.devices, key=lambda device: device.name not in named)
    return Cluster(devices, cluster.network)


def _of(cluster: Cluster, count: int) -> Cluster:
    """Return a cluster of `count` devices: the cluster's own first, then copies of its kind."""
    kind, own = cluster.devices[0], cluster.devices[:count]
    names = (f"{kind.name}+{i}" for i in range(1, count - len(own) + 1))
    return Cluster([*own, *(replace(kind, name=name) for name in names)], cluster.network)


def _is_last(rows: Sequence[PlanRow], problem: Problem) -> bool:
    """Return whether to stop: more devices are not needed, or would not help.

    They would not help if the work of a single operator is the limit, or if the last few devices
    changed nothing.
    """
    row, arrays = rows[-1], flow(problem)
    of_one = problem.source_rate / max(1e-300, float((arrays.work / fastest(arrays)).max()))
    if row.keeps_up or row.max_source_rate >= of_one * CLOSE:
        return True
    return len(rows) > STALLED and rows[-1 - STALLED].max_source_rate >= row.max_source_rate * CLOSE


def _check(cluster: Cluster, model: Model, most: int | None, seed: int) -> None:
    kinds = {replace(device, name="one") for device in cluster.devices}
    if len(kinds) > 1:
        raise UsageError("plan: requires equal devices, but those of the cluster differ")
    if cluster.network.overrides:
        raise UsageError("plan: requires equal links, but the cluster's network has overrides")
    if cluster.network.uplinks:
        raise UsageError("plan: requires equal links, but the cluster's network has uplinks")
    if model not in CLOSED_FORMS:
        closed_forms = ", ".join(CLOSED_FORMS)
        raise UsageError(f"plan: does not support the model engine; choose from {closed_forms}")
    if most is not None and not 1 <= most <= MAX_DEVICES:
        raise UsageError(f"plan: most must be 1 to {MAX_DEVICES} (got {most})")
    check_seed(seed)
