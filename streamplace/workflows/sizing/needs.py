"""What instances need of devices, and errors that say what devices lack."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from streamplace.display.text import number, rounded_up
from streamplace.errors import InfeasibleError
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.balance import CARRIED
from streamplace.placers.subset.conditions import Conditions, Kinds
from streamplace.problem.graph import StreamGraph
from streamplace.problem.problem import Problem
from streamplace.problem.rules import BY_NUMBER, LIMITS, Rule, RuledParts
from streamplace.scoring.compiled import compiled
from streamplace.sim.search import least_work
from streamplace.util.arrays import Bools, Floats, Ints, grouped_rows
from streamplace.util.text import counted
from streamplace.workflows.conflict import listed_and
from streamplace.workflows.sizing.attempts import Task
from streamplace.workflows.sizing.choices import Counts
from streamplace.workflows.sizing.requirements import Requirement, lacking, requirements

SPEED, DEVICES = "speed", "devices"
ROUNDING = 1e-9
LOWEST = 1e-9  # of the planned source rate, below which no rate is tried
PRECISION = 1e-10  # of the highest source rate, relative: below what is shown
SECONDS = 5.0  # of the search for the highest source rate, less precise if it takes longer


@dataclass(frozen=True)
class Need:
    """What some instances need together of the devices that may run them.

    Parameters
    ----------
    what
        ``speed``, ``memory``, ``slots``, the name of a resource, or ``devices``: at least one.
    operators
        The names of the instances and of their operators; empty: all of them.
    mask
        (D,) the devices that may run them.
    amounts
        (D,) what each device has, relative to the need.
    """

    what: str
    operators: tuple[str, ...]
    mask: Bools
    amounts: Floats

    def met(self, survive: int = 0) -> float:
        """Return the share of the need that is met after the loss of any `survive` devices."""
        amounts = np.sort(np.minimum(self.amounts, 1.0))
        return float(amounts[: len(amounts) - survive].sum())


def least_met(needs: Sequence[Need], survive: int) -> tuple[Need, float]:
    """Return the need of which the smallest share is met, and the share.

    Among equal ones, one that concerns more devices comes first.
    """
    met = [need.met(survive) for need in needs]
    least = min(met)
    near = [i for i, share in enumerate(met) if share <= least + ROUNDING]
    widest = max(near, key=lambda i: int(needs[i].mask.sum()))
    return needs[widest], met[widest]


def conditions_of(needs: Sequence[Need], kinds: Kinds, others: Sequence[Floats] = ()) -> Conditions:
    """Return the conditions that sets of devices meet all needs, and others, (D,) each."""
    first = [members[0] for members in kinds.members]
    rows = [*(need.amounts for need in needs), *others]
    amounts = np.minimum(np.array(rows)[:, first], 1.0)
    return Conditions(np.unique(amounts, axis=0), kinds.kept)


def needs_of(problem: Problem) -> list[Need]:
    """Return what the instances of a problem need.

    The work, memory, slots and resources of all operators must fit on the devices together.
    Operators that only some devices may run are counted on those, too. Links are not considered.

    Parameters
    ----------
    problem
        A problem whose operators have their smallest numbers of instances, without ``colocate``.
        More of them need as much work or more, and more memory, slots and resources.
    """
    rules, instance = problem.feasibility, compiled(problem).instance
    work: Floats = least_work(instance, np.arange(len(instance.capacity)))
    sums = [(SPEED, work, instance.capacity / instance.reference)]
    sums += [(limit.name, limit.needs, limit.room) for limit in rules.limits]
    found = []
    for mask, units in _masks(rules.allowed):
        operators = () if mask.all() else _names(problem.graph, np.isin(rules.unit_of, units))
        found.append(Need(DEVICES, operators, mask, mask.astype(np.float64)))
        for what, taken, room in sums:
            total = float(taken[units].sum())
            if total > 0.0:
                amounts = np.where(mask, np.minimum(room, total), 0.0) / total
                found.append(Need(what, operators, mask, amounts))
    return found


def _names(graph: StreamGraph, chosen: Bools) -> tuple[str, ...]:
    """Return the names of some instances, (V,), and of the operators that they are of."""
    instances = np.flatnonzero(chosen).tolist()
    owners = (graph.owners[v] for v in instances)
    return tuple(dict.fromkeys([*owners, *(graph.names[v] for v in instances)]))


def _masks(allowed: Bools) -> list[tuple[Bools, Ints]]:
    """Return distinct sets of devices, (D,), and the units that may run only on each of them."""
    distinct, row_of, _ = grouped_rows(allowed)
    masks = np.unique(np.concatenate([distinct, np.ones((1, allowed.shape[1]), bool)]), axis=0)
    within = [~(distinct & ~mask).any(axis=1) for mask in masks]
    units = [np.flatnonzero(each[row_of]).astype(np.int32) for each in within]
    return list(zip(masks, units, strict=True))


def rules_of(task: Task, operators: Collection[str] | None = None) -> list[Rule]:
    """Return the constraints and labels of a task.

    Parameters
    ----------
    operators
        Names of operators or instances, whose own rules to return; None: the rules of all, and
        those on groups.
    """
    parts = RuledParts(task.graph, task.cluster, task.constraints)
    rules = [rule for rule in parts.rules() if rule.kind not in LIMITS]
    if operators is None:
        return rules
    return [
        rule
        for rule in rules
        if rule.kind not in BY_NUMBER and not {*operators}.isdisjoint(parts.operators_of(rule))
    ]


def text_of_lacking(task: Task, faults: Sequence[Requirement]) -> str:
    """Return why operators cannot keep up, with the rules without which they would carry more."""
    return "; ".join(one.text() + _because(task, one) for one in faults)


def _because(task: Task, fault: Requirement) -> str:
    rules = rules_of(task, (fault.operator,))
    parts = RuledParts(task.graph, task.cluster, task.constraints)
    for rule in rules:
        parts = parts.without(rule)
    if not rules:
        return ""
    several = requirements(parts.graph, parts.cluster, task.objective, parts.constraints, task.free)
    wider = next(one for one in several if one.operator == fault.operator)
    planned = wider.at_most * task.planned / task.objective.source_rate
    if planned <= fault.at_most * (1.0 + ROUNDING):
        return ""
    return f", because of {listed_and(map(str, rules))}"


NeedsOf = Callable[[Task, Counts], Sequence[Need]]
"""Task and numbers of instances -> what the instances need."""


class ShortageError(InfeasibleError):
    """A source rate for which the operators or the devices have too little.

    Attributes
    ----------
    at_most
        No higher source rate can be sustained, in tuples/s; 0: no rate at all.
    """

    def __init__(self, message: str, at_most: float = 0.0) -> None:
        super().__init__(message)
        self.at_most = at_most


def check_needs(task: Task, needs: Sequence[Need], needs_of: NeedsOf) -> None:
    """Raise a ShortageError if all devices together have too little.

    Parameters
    ----------
    needs
        What the smallest numbers of instances need.
    """
    need, met = least_met(needs, task.survive)
    if met < CARRIED:
        at_most = highest_rate(task, needs_of, task.planned * met)
        raise ShortageError(_text(task, need, at_most), at_most)


@contextmanager
def naming_rates(task: Task, needs_of: NeedsOf) -> Iterator[None]:
    """Name the highest source rate in the error of a problem without a feasible placement."""
    try:
        yield
    except InfeasibleError as error:
        at_most = highest_rate(task, needs_of)
        found = ShortageError(f"size: {error}; {_rate_text(task, at_most)}", at_most)
        found.infeasible = error.infeasible
        raise found from None


def highest_rate(task: Task, needs_of: NeedsOf, likely: float = 0.0) -> float:
    """Return the highest source rate in tuples/s at which the devices may have what is needed.

    The smallest numbers of instances grow with the rate, so the rate is found by halving an
    interval. No higher rate can be sustained; whether this one can is not known.

    Parameters
    ----------
    likely
        A rate to try first.
    """

    def has_enough(rate: float) -> bool:
        less = task.at(rate)
        several = requirements(
            less.graph, less.cluster, less.objective, less.constraints, less.free
        )
        if lacking(several):
            return False
        try:
            needs = needs_of(less, {one.operator: one.counts[0] for one in several})
        except InfeasibleError:
            return False
        return least_met(needs, less.survive)[1] >= CARRIED

    clock, high = Budget(SECONDS), task.planned
    low = max(likely, LOWEST * high)
    if has_enough(low):
        if not has_enough(low * (1.0 + PRECISION) / CARRIED):  # beyond what counts as carried
            return low
    else:
        low, high = LOWEST * high, low
        if not has_enough(low):
            return 0.0
    while high > low * (1.0 + PRECISION) and clock.seconds_left() > 0:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if has_enough(middle) else (low, middle)
    return high


def _text(task: Task, need: Need, at_most: float) -> str:
    after = " after the loss of any one of them" if task.survive else ""
    offered, carried = f"{number(task.planned)} tuples/s", rounded_up(at_most)
    if not need.mask.all():
        return f"size: {_restricted(task, need)}; {_rate_text(task, at_most)}{after}"
    devices = counted(len(task.cluster.devices), "device")
    if need.what == SPEED:
        return (
            f"size: {devices} cannot keep up: together they carry {carried} of {offered} "
            f"at most{after}; add devices"
        )
    return (
        f"size: {devices} have too little {need.what}{after}; add devices or {need.what}; "
        f"{_rate_text(task, at_most)}"
    )


def _restricted(task: Task, need: Need) -> str:
    """Return which rules leave instances too little, on which devices, and what to do."""
    names = task.cluster.names
    devices = listed_and(names[d] for d in need.mask.nonzero()[0])
    rules = rules_of(task, need.operators)
    if not rules:  # but limits, such as memory for one instance
        wanted = listed_and(need.operators)
        return f"only {devices} can run {wanted}, which need more {need.what}; add devices"
    leave = "leaves" if len(rules) == 1 else "leave"
    return (
        f"{listed_and(map(str, rules))} {leave} too little {need.what} on {devices}; "
        "allow more devices"
    )


def _rate_text(task: Task, at_most: float) -> str:
    if not at_most:
        return "no source rate would help"
    return f"at most {rounded_up(at_most)} of {number(task.planned)} tuples/s are possible"
