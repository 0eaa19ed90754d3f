"""Plans on equal devices: the source rate that 1, 2, … devices sustain."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sim.closed_form.bounds import least_shares
from streamplace.errors import (
    InfeasibleError,
    PlacementError,
    ProblemError,
    StreamplaceError,
    reworded,
)
from streamplace.placers.search.annealing import Budget
from streamplace.placers.subset.sustained import sustained
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Throughput
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Ints
from streamplace.util.text import counted
from streamplace.workflows.capacity_plan import CLOSE, Limits, Plan, PlanRow
from streamplace.workflows.conflict import named
from streamplace.workflows.too_heavy import full_link, too_heavy

MAX_BY_DEFAULT = 64  # devices to try, unless `most` is set
STALLED = 4  # stop when this many more devices changed nothing, so that links are the limit
SECONDS = 1.0  # per number of devices


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
