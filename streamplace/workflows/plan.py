"""Capacity planning: the devices that sustain a source rate."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sim.closed_form.bounds import least_shares
from streamplace.errors import (
    InfeasibleError,
    PlacementError,
    ProblemError,
    StreamplaceError,
    UsageError,
    reworded,
)
from streamplace.placers.search.annealing import Budget, check_limits
from streamplace.placers.subset.sustained import sustained
from streamplace.problem.cluster import MAX_DEVICES, Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.counts import expanded
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model, Throughput
from streamplace.problem.problem import Problem, check_graph
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.util.arrays import Ints
from streamplace.util.checks import check_seed
from streamplace.util.text import counted
from streamplace.workflows.capacity_plan import CLOSE, Limits, Plan, PlanRow
from streamplace.workflows.conflict import named, naming_conflicts
from streamplace.workflows.plan_unequal import plan_unequal
from streamplace.workflows.too_heavy import full_link, too_heavy

MAX_SURVIVED = 1  # lost devices
MAX_BY_DEFAULT = 64  # devices to try, unless `most` is set
STALLED = 4  # stop when this many more devices changed nothing, so that links are the limit
SECONDS = 1.0  # per number of devices


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
    survive: int = 0,
    seed: int = 0,
) -> Plan:
    """Find the devices that sustain a source rate: the fewest equal ones, or the cheapest.

    If the devices and links of the cluster are equal, and no operator is limited to some of them,
    the plan has the capacity of 1, 2, … devices of their kind. Otherwise it has the cheapest set of
    the cluster's devices that keeps up, with a lower bound on the price of any such set.

    Parameters
    ----------
    cluster
        A cluster, or text such as ``5x2500``. Equal devices define the kind of device and the
        network. Of unequal ones, `Device.price` is the price; if no device has a price, each
        counts 1.
    source_rate, constraints
        None: the graph's own. The source rate is in tuples/s.
    model, target_utilisation
        As for `place`.
    most
        Largest number of devices to try. None: try at least as many as the cluster has, and then
        up to 64 until the source rate is sustained or more devices would not help. On unequal
        devices, None: all.
    seconds, evaluations
        Limits of the search: wall time in seconds per number of devices (default 1 unless
        `evaluations` is set), on unequal devices for all sets together (default 10); or number of
        changes tried per number or set of devices, at first. With `evaluations` alone, the result
        does not depend on the machine.
    survive
        1: the devices must keep up after the loss of any one of them, when all operators may be
        placed anew. 0: no losses.

    Raises
    ------
    UsageError
        Under ``engine``, which defines no sustainable rate, or if an argument is out of range.
    ClusterError
        If only some devices have a price.
    InfeasibleError
        If no placement satisfies the constraints, or if with `survive` an operator may run on one
        device only.
    StreamplaceError
        If the problem is invalid.
    """
    cluster = Cluster.of(cluster)
    objective = Throughput.of(source_rate, model, target_utilisation)
    _check(objective.model, most, survive, seed)
    check_limits("plan", seconds, evaluations)
    check_graph(graph)
    graph = expanded(graph)
    objective = objective.for_graph(graph)
    rules = graph.constraints if constraints is None else Constraints.of(constraints)
    limits = Limits(most, seconds, evaluations, survive, seed)
    if _is_equal(cluster) and not rules.allowed and not (survive and rules.pins):
        return plan_equal(graph, cluster, objective, rules, limits)
    with naming_conflicts():
        problem = Problem(graph, cluster, objective=objective, constraints=rules)
        return plan_unequal(problem, limits)


def _is_equal(cluster: Cluster) -> bool:
    """Return whether all devices and links are equal, so that only the number of devices counts."""
    kinds = {replace(device, name="one") for device in cluster.devices}
    return len(kinds) == 1 and not cluster.network.overrides and not cluster.network.uplinks


def _check(model: Model, most: int | None, survive: int, seed: int) -> None:
    if model not in CLOSED_FORMS:
        closed_forms = ", ".join(CLOSED_FORMS)
        raise UsageError(f"plan: does not support the model engine; choose from {closed_forms}")
    if most is not None and not 1 <= most <= MAX_DEVICES:
        raise UsageError(f"plan: most must be 1 to {MAX_DEVICES} (got {most})")
    if survive not in range(MAX_SURVIVED + 1):
        raise UsageError(f"plan: survive must be 0 or {MAX_SURVIVED} (got {survive})")
    check_seed(seed)


def plan_equal(
    graph: StreamGraph,
    cluster: Cluster,
    objective: Throughput,
    constraints: Constraints,
    limits: Limits,
) -> Plan:
    """Return the capacity of increasing numbers of equal devices; see `workflows.plan.plan`."""
    most, survive, evaluations = limits.most, limits.survive, limits.evaluations
    seconds = SECONDS if limits.seconds is None and evaluations is None else limits.seconds
    cluster = _named_first(cluster, constraints)
    rows: list[PlanRow] = []
    before: Ints | None = None
    failure: Exception | None = None
    missing: list[int] = []
    largest = max(MAX_BY_DEFAULT, len(cluster.devices)) if most is None else most
    for count in range(1, largest + 1):
        try:
            problem = Problem(
                graph,
                _of(cluster, count),
                objective=objective,
                constraints=constraints,
            )
            known = [] if before is None else [before]
            rng = np.random.default_rng(limits.seed)
            found = sustained(problem, rng, known, Budget(seconds, evaluations))
        except ProblemError as error:  # constraints may name devices that are added later
            if count >= len(cluster.devices):
                raise
            failure = error
            missing.append(count)
            continue
        except (InfeasibleError, PlacementError) as error:  # more devices may have room
            failure = error
            missing.append(count)
            continue
        before = found.placement.devices
        price = cluster.devices[0].price
        row = PlanRow(
            count,
            found.max_source_rate,
            found.bound,
            found.relative_throughput,
            price=None if price is None else price * count,
        )
        rows.append(_with_loss(rows, row, survive) if survive else row)
        if most is None and count >= len(cluster.devices) and _is_last(rows, problem):
            break
    if not rows:
        tried = counted(largest, "device")
        message = f"plan: found no placement on up to {tried}; with {tried}, {failure}"
        raise _infeasible(failure, message)
    cause = None if rows[-1].keeps_up else too_heavy(problem)
    limit = None if rows[-1].keeps_up or cause else full_link(found.carrying)
    return Plan(
        objective.source_rate, tuple(rows), cause, survive, missing=tuple(missing), limit=limit
    )


def _infeasible(failure: Exception | None, message: str) -> StreamplaceError:
    """Return the error of a plan; it names the rules that cannot hold if that is proven."""
    if isinstance(failure, InfeasibleError):
        return named(reworded(failure, message))
    return InfeasibleError(message)


def _named_first(cluster: Cluster, rules: Constraints) -> Cluster:
    """Return the cluster, starting with the devices of pins: all are needed."""
    named = {*rules.pins.values()}
    devices = sorted(cluster.devices, key=lambda device: device.name not in named)
    return Cluster(devices, cluster.network)


def _of(cluster: Cluster, count: int) -> Cluster:
    """Return a cluster of `count` devices: the cluster's own first, then copies of its kind."""
    kind, own = cluster.devices[0], cluster.devices[:count]
    names = (f"{kind.name}+{i}" for i in range(1, count - len(own) + 1))
    return Cluster([*own, *(replace(kind, name=name) for name in names)], cluster.network)


def _with_loss(rows: Sequence[PlanRow], row: PlanRow, survive: int) -> PlanRow:
    """Return a row with what the devices carry after losses: as much as so many devices fewer."""
    left = row.devices - survive
    after = next((r.relative_throughput for r in rows if r.devices == left), 0.0)
    return replace(row, relative_after_loss=after)


def _is_last(rows: Sequence[PlanRow], problem: Problem) -> bool:
    """Return whether to stop: more devices are not needed, or would not help.

    They would not help if the work of a single operator is the limit, or if the last few devices
    changed nothing.
    """
    row, arrays = rows[-1], flow(problem)
    if row.keeps_up:
        return True
    if row.relative_throughput >= CLOSE:  # only losses are the limit
        return False
    of_one = problem.source_rate / max(1e-300, float(least_shares(arrays).alone.max()))
    if row.max_source_rate >= of_one * CLOSE:
        return True
    return len(rows) > STALLED and rows[-1 - STALLED].max_source_rate >= row.max_source_rate * CLOSE
