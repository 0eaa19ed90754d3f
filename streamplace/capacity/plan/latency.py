"""Plans that keep a limit on latency."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from streamplace.capacity.plan.result import CheapestSet, Plan, PlanRow
from streamplace.latency.limit import LatencyAnswer, LatencyLimit
from streamplace.latency.within_limit import within_limit
from streamplace.placers.budget import Budget
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem


def planned_within(
    plan: Plan,
    limit: LatencyLimit,
    seed: int,
    *,
    budget: Budget,
    others: Sequence[PlanRow] = (),
    problem_of: Callable[[int], Problem] | None = None,
) -> Plan:
    """Return a plan whose answer also keeps a limit on latency, if such devices are found.

    Those that keep up are searched one after another, until some keep the limit: on equal devices
    the fewest first, otherwise the cheapest.

    Parameters
    ----------
    budget
        No further set is searched once it is over.
    others
        Further sets of devices, which replace a row if they are the first to keep the limit.
    problem_of
        Returns the problem on a number of equal devices; None: placements have that of their row.
    """
    searched: dict[int, PlanRow] = {}
    met: PlanRow | None = None
    passed: list[LatencyAnswer] = []
    enough = [row for row in (*plan.rows, *others) if row.keeps_up]
    for row in sorted(enough, key=lambda row: (row.price or 0.0, row.devices)):
        placement = row.placement
        assert placement is not None, "rows of new plans have one"
        if problem_of is not None:  # it may be a placement on fewer devices
            placement = Placement.of(problem_of(row.devices), placement.assignment)
        found, answer = within_limit(placement.problem, placement, limit, seed)
        own = replace(row, placement=found, latency=answer)
        passed.append(answer)
        if answer.answer == "feasible":
            met = searched[row.devices] = own
            break
        before = searched.get(row.devices)
        if before is None or own.simulated_s < before.simulated_s:
            searched[row.devices] = own
        if budget.seconds_left() <= 0.0:
            break
    best = plan.cheapest
    if best is not None:
        best = None if met is None else _on(best, met)
    return replace(
        plan,
        rows=tuple(searched.get(row.devices, row) for row in plan.rows),
        cheapest=best,
        max_latency=limit,
        proven=plan.proven
        and (met is not None or len(passed) == len(enough))
        and all(one.answer != "unproven" for one in passed),
    )


def _on(before: CheapestSet, row: PlanRow) -> CheapestSet:
    """Return the cheapest set that keeps the limit, whose price has the same lower bound."""
    assert row.placement is not None, "it keeps the limit"
    names = row.names or ()
    unused = tuple(name for name in (*before.devices, *before.unused) if name not in names)
    price = float(len(names)) if row.price is None else row.price
    return CheapestSet(names, unused, price, before.bound, row.placement)
