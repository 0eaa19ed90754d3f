"""Plans on unequal devices: the cheapest set of a cluster's devices that keeps up."""

from collections.abc import Collection

import numpy as np

from streamplace.capacity.plan.latency import planned_within
from streamplace.capacity.plan.result import CheapestSet, DeviceLoss, Plan
from streamplace.capacity.plan.rows import Rows
from streamplace.capacity.settings import PlanSettings
from streamplace.capacity.subset.cheapest import Cheapest, Search
from streamplace.capacity.subset.conditions import Counts, Kinds
from streamplace.capacity.subset.examination import Examiner
from streamplace.errors import ClusterError, Fault, InfeasibleError
from streamplace.latency.within_limit import refuse_disproved
from streamplace.placers.budget import Budget
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph_checks import listed
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Floats
from streamplace.util.running_search import DEVICES, PRICE, report
from streamplace.util.text import counted
from streamplace.workflows.conflict import Conflict
from streamplace.workflows.loss_conflict import loss_conflict
from streamplace.workflows.too_heavy import (
    bandwidth_helps,
    full_link,
    refuse_unlimited,
    too_heavy,
)

DEFAULT_SECONDS = 10.0  # for all sets together; a guess
SEARCHING = 0.85  # share of the time for the cheapest set; rows and losses follow
LEAST_FOR_ROWS = 0.5  # seconds for rows and losses


def prices_of(cluster: Cluster, verb: str = "plan") -> Floats | None:
    """Return the price of each device, (D,); None if no device has one.

    Parameters
    ----------
    verb
        The command that messages begin with.

    Raises
    ------
    ClusterError
        If only some devices have a price.
    """
    devices = cluster.devices
    lacking = [device.name for device in devices if device.price is None]
    if len(lacking) == len(devices):
        return None
    if lacking:
        have = "has no price" if len(lacking) == 1 else "have no price"
        fix = "set it (0 if it costs nothing), or remove the prices of all devices"
        fault = f"{listed(lacking)} {have}, but other devices have one"
        raise ClusterError(Fault(fault, place=(verb,), remedy=fix))
    return np.array([device.price for device in devices], dtype=np.float64)


def plan_unequal(problem: Problem, settings: PlanSettings) -> Plan:
    """Return the cheapest set of a cluster's devices that keeps up; see `plan`."""
    prices = prices_of(problem.cluster)
    survive, evaluations = settings.survive, settings.evaluations
    free = prices is not None and not prices.any()  # then the fewest devices are wanted
    what = DEVICES if prices is None or free else PRICE
    report(what, None)  # before any search
    check_losses(problem, survive, spared=_pinned(problem))
    if settings.limit_on_latency is not None:
        latency, seed, limit_s = settings.limit_on_latency, settings.seed, settings.seconds
        refuse_disproved(problem, latency, seed, "plan", overloads=False, seconds=limit_s)
    has_limit = settings.seconds is not None or evaluations is not None
    seconds = settings.seconds if has_limit else DEFAULT_SECONDS
    whole = Budget(seconds)
    weights = np.ones(len(problem.cluster.devices)) if prices is None or free else prices
    scale = 0.0 if free else 1.0
    kinds = Kinds(problem, weights)
    examiner = Examiner(problem, kinds, settings.seed, evaluations, whole.share(SEARCHING))
    found = Search(examiner, survive, settings.seed, settings.most, what).run()
    budget = Budget(None if seconds is None else max(whole.seconds_left(), LEAST_FOR_ROWS))
    table = Rows(examiner, survive, budget, None if prices is None else scale)
    rows, found = table.of(found, settings.most, whole=settings.limit_on_latency is not None)
    if not rows:
        raise InfeasibleError(_no_rows(problem, settings.most))
    refuse_unlimited(problem, rows[0].max_source_rate)
    cheapest = _cheapest(examiner, found, table, scale)
    lossy = kinds.everything if found.counts is None else found.counts
    cause, limit, wider_helps = None, None, False
    if cheapest is None and (best := table.measure(kinds.everything)):
        cause = too_heavy(best.carrying.problem, best.carrying.devices)
        limit = full_link(best.carrying) if cause is None else None
        wider_helps = limit is not None and bandwidth_helps(best.carrying)
    result = Plan(
        problem.source_rate,
        rows,
        cause,
        survive,
        cheapest,
        _losses(examiner, lossy, table) if survive else (),
        unpriced=prices is None,
        proven=found.refuted,
        missing=tuple(n for n in table.missing if n < rows[-1].devices),
        left_out=tuple(sorted({*range(1, rows[-1].devices)} - {row.devices for row in rows})),
        limit=limit,
        wider_helps=wider_helps,
        unmet=_unmet(problem) if survive and cheapest is None else None,
        pinned=_pinned(problem) if survive else {},
    )
    if settings.limit_on_latency is None:
        return result
    others = table.others(rows)
    budget = Budget(seconds if settings.seconds is None else max(whole.seconds_left(), 0.0))
    return planned_within(
        result, settings.limit_on_latency, settings.seed, budget=budget, others=others
    )


def _unmet(problem: Problem) -> tuple[str, Conflict] | None:
    return loss_conflict(problem, [n for n in problem.cluster.names if n not in _pinned(problem)])


def _no_rows(problem: Problem, most: int | None) -> str:
    devices = counted(len(problem.cluster.devices), "device")
    if most is None or most >= len(problem.cluster.devices):
        return f"plan: found no placement on any of {devices}"
    return f"plan: found no placement on at most {most} of {devices}; allow more of them"


def _pinned(problem: Problem) -> dict[str, tuple[str, ...]]:
    """Return the devices to which operators are pinned, with these and those kept with them."""
    feasibility, found = problem.feasibility, dict[str, tuple[str, ...]]()
    unit_on = {
        feasibility.unit_of[problem.graph.index[v]]: d for v, d in problem.constraints.pins.items()
    }
    for v, unit in enumerate(feasibility.unit_of):
        if (device := unit_on.get(unit)) is not None:
            found[device] = (*found.get(device, ()), problem.graph.names[v])
    return found


def check_losses(
    problem: Problem, survive: int, verb: str = "plan", spared: Collection[str] = ()
) -> None:
    """Refuse operators that may run only on devices that the plan must be able to lose.

    Parameters
    ----------
    verb
        The command that messages begin with.
    spared
        Devices whose loss need not be survived.

    Raises
    ------
    InfeasibleError
        If constraints, labels or memory leave an operator too few devices.
    """
    feasibility = problem.feasibility
    lossy = np.array([name not in spared for name in problem.cluster.names])
    few = np.flatnonzero(
        (feasibility.allowed.sum(axis=1) <= survive) & ~feasibility.allowed[:, ~lossy].any(axis=1)
    )
    if len(few):
        unit = int(few[0])
        devices = [problem.cluster.names[d] for d in np.flatnonzero(feasibility.allowed[unit])]
        fault = (
            f"{feasibility.describe(unit)} may run only on {listed(devices)}, so no set of devices "
            f"survives the loss of {listed(devices)}"
        )
        remedy = f"allow another device, or {verb} without losses"
        raise InfeasibleError(Fault(fault, place=(verb,), remedy=remedy))


def _cheapest(examiner: Examiner, found: Cheapest, rows: Rows, scale: float) -> CheapestSet | None:
    """Return the cheapest set with its devices, price and bound."""
    if found.counts is None:
        return None
    kinds, names = examiner.kinds, examiner.problem.cluster.names
    devices = kinds.devices(found.counts)
    result = rows.measure(found.counts)
    assert result is not None  # a placement on this set is known
    return CheapestSet(
        tuple(names[d] for d in devices),
        tuple(name for d, name in enumerate(names) if d not in set(devices)),
        kinds.cost(found.counts) * scale,
        found.bound * scale,
        result.carrying,
    )


def _losses(examiner: Examiner, counts: Counts, rows: Rows) -> tuple[DeviceLoss, ...]:
    """Return what is left after the loss of each device of a set that it has to survive."""
    kinds, names = examiner.kinds, examiner.problem.cluster.names
    after = dict(rows.after_losses(counts))
    found = []
    for d in kinds.devices(counts):
        if kinds.kept[kinds.kind_of[d]]:
            continue
        lost = tuple(int(kind == kinds.kind_of[d]) for kind in range(len(counts)))
        left = after[lost]
        if left is None:
            found.append(DeviceLoss(names[d], 0.0, 0.0))
        else:
            found.append(DeviceLoss(names[d], left.max_source_rate, left.relative_throughput))
    return tuple(found)
