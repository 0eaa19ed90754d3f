"""Errors that say what devices have too little of, and the highest source rate that they allow."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from streamplace.capacity.sizing.attempts import Task
from streamplace.capacity.sizing.choices import Counts
from streamplace.capacity.sizing.needs import SPEED, Need, least_met
from streamplace.capacity.sizing.requirements import Requirement, lacking, requirements
from streamplace.capacity.sizing.restrictions import rules_of, without
from streamplace.capacity.sizing.result import SIZE
from streamplace.display.text import number, rounded_up
from streamplace.errors import Fault, InfeasibleError, StreamplaceError
from streamplace.placers.budget import Budget
from streamplace.placers.search.balance import CARRIED
from streamplace.util.text import counted
from streamplace.workflows.conflict import listed_and
from streamplace.workflows.constraint_costs import MIN_GAIN
from streamplace.workflows.remedies import wider_by

LOWEST = 1e-9  # of the planned source rate, below which no rate is tried
PRECISION = 1e-10  # of the highest source rate, relative: below what is shown
SECONDS_OF_A_RATE = 5.0  # of the search for the highest rate, less precise if it takes longer

NeedsOf = Callable[[Task, Counts], Sequence[Need]]
"""Task and numbers of instances -> what the instances need."""


class ShortageError(InfeasibleError):
    """A source rate for which the operators or the devices have too little.

    Attributes
    ----------
    at_most
        No higher source rate can be sustained, in tuples/s; 0: no rate at all.
    lacking
        The operators that cannot keep up, if `cannot_keep_up` is what the fault says.
    """

    def __init__(
        self, what: str | Fault, at_most: float = 0.0, lacking: Sequence[Requirement] = ()
    ) -> None:
        super().__init__(what)
        self.at_most, self.lacking = at_most, tuple(lacking)

    def reword(self, words_of: Callable[[Requirement], Requirement]) -> None:
        """Say why operators cannot keep up in the words of a function."""
        if self.lacking:
            self.lacking = tuple(map(words_of, self.lacking))
            self.update(what=cannot_keep_up(self.lacking))


def cannot_keep_up(lacking: Sequence[Requirement]) -> str:
    """Return which operators cannot keep up, and why."""
    return f"cannot keep up: {'; '.join(one.text() for one in lacking)}"


def check_needs(task: Task, counts: Counts, needs: Sequence[Need], needs_of: NeedsOf) -> None:
    """Raise a ShortageError if all devices together have too little.

    Its text advises only changes with which a larger share of the needs is met.

    Parameters
    ----------
    counts
        The smallest numbers of instances.
    needs
        What they need.
    """
    need, met = least_met(needs, task.settings.survive)
    if met < CARRIED:
        at_most = highest_rate(task, needs_of, task.planned * met)

        def helps(changed: Task) -> bool:
            try:
                after = least_met(needs_of(changed, counts), task.settings.survive)[1]
            except StreamplaceError:  # a change that cannot be made does not help
                return False
            return after > met * (1.0 + MIN_GAIN)

        raise ShortageError(_fault(task, need, at_most, helps), at_most)


def with_rate(error: InfeasibleError, task: Task, needs_of: NeedsOf) -> ShortageError:
    """Return the error of a problem without a feasible placement with the highest source rate."""
    at_most, fault = highest_rate(task, needs_of), error.fault
    what = f"{fault.what}; {_rate_text(task, at_most)}"
    found = ShortageError(replace(fault, what=what, place=(*SIZE, *fault.place)), at_most)
    found.infeasible = error.infeasible
    return found


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
        return least_met(needs, less.settings.survive)[1] >= CARRIED

    budget, high = Budget(SECONDS_OF_A_RATE), task.planned
    low = max(likely, LOWEST * high)
    if has_enough(low):
        if not has_enough(low * (1.0 + PRECISION) / CARRIED):  # beyond what counts as carried
            return low
    else:
        low, high = LOWEST * high, low
        if not has_enough(low):
            return 0.0
    while high > low * (1.0 + PRECISION) and budget.seconds_left() > 0:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if has_enough(middle) else (low, middle)
    return high


def _fault(task: Task, need: Need, at_most: float, helps: Callable[[Task], bool]) -> Fault:
    after = " after the loss of any one of them" if task.settings.survive else ""
    offered, carried = f"{number(task.planned)} tuples/s", rounded_up(at_most)
    if not need.mask.all():
        text, rules = _restricted(task, need), rules_of(task, need.operators)
        if rules:
            text += "; allow more devices" * helps(without(task, rules))
        else:  # but limits, such as memory for one instance
            text += "; add devices" * helps(_with_more(task, need))
        of_constraints = any(rule.of_constraints for rule in rules)
        what = f"{text}; {_rate_text(task, at_most)}{after}"
        return Fault(what, place=SIZE, of_constraints=of_constraints)
    devices = counted(len(task.cluster.devices), "device")
    more = helps(_with_more(task, need))
    if need.what == SPEED:
        what = f"{devices} cannot keep up: together they carry {carried} of {offered} at most"
        return Fault(what + after, place=SIZE, remedy="add devices" * more)
    advice = f"; add devices or {need.what}" * more
    what = f"{devices} have too little {need.what}{after}{advice}; {_rate_text(task, at_most)}"
    return Fault(what, place=SIZE)


def _with_more(task: Task, need: Need) -> Task:
    """Return the task with further devices like one of those that the need is about."""
    devices = [task.cluster.devices[d] for d in need.mask.nonzero()[0]]
    like = max(devices, key=lambda device: device.mips * device.cores)
    wider = wider_by(task.cluster, like, 1 + task.settings.survive)
    added = len(wider.devices) - len(task.cluster.devices)
    return replace(task, cluster=wider, prices=np.append(task.prices, np.ones(added)))


def _restricted(task: Task, need: Need) -> str:
    """Return which rules or limits leave instances too little, and on which devices."""
    names = task.cluster.names
    devices = listed_and(names[d] for d in need.mask.nonzero()[0])
    rules = rules_of(task, need.operators)
    if not rules:  # but limits, such as memory for one instance
        wanted = listed_and(need.operators)
        return f"only {devices} can run {wanted}, which need more {need.what}"
    leave = "leaves" if len(rules) == 1 else "leave"
    return f"{listed_and(map(str, rules))} {leave} too little {need.what} on {devices}"


def _rate_text(task: Task, at_most: float) -> str:
    if not at_most:
        return "no source rate would help"
    return f"at most {rounded_up(at_most)} of {number(task.planned)} tuples/s are possible"
