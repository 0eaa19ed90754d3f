"""Sizes of jobs whose instances can be searched with all streams between them."""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from streamplace.capacity.plan.unequal import check_losses
from streamplace.capacity.settings import SizeSettings
from streamplace.capacity.sizing.attempts import Attempt, Task, attempt, go_on
from streamplace.capacity.sizing.choices import Choices, Counts, Vector, with_parallelism
from streamplace.capacity.sizing.instances import named_instances
from streamplace.capacity.sizing.needs import Need, conditions_of, needs_of
from streamplace.capacity.sizing.requirements import Requirement
from streamplace.capacity.sizing.result import SizeResult
from streamplace.capacity.sizing.shortage import check_needs, with_rate
from streamplace.capacity.sizing.unfound import fault_under_rules, refuse_losses, unfound
from streamplace.capacity.subset.conditions import Kinds, apart
from streamplace.capacity.subset.price_bound import fluid_bound
from streamplace.errors import InfeasibleError
from streamplace.placers.budget import Budget
from streamplace.problem.placement import Placement
from streamplace.scoring.throughput import simulate
from streamplace.util.running_search import PRICE, report

ALL_VECTORS = 300  # up to which every choice of numbers is tried
SAME = 1.0 + 1e-9  # factor within which prices are equal
FIRST_SHARE = 0.5  # of the time for the first choice, that of the fewest instances
LATER_SHARE = 0.2  # of the time that is left for each further choice
SHARE = 0.5  # of the time that is left
CHEAPER = 1.0 - 1e-9  # factor below which a price is lower by more than rounding


@dataclass(frozen=True)
class JointSize:
    """The best choice found.

    Parameters
    ----------
    best
        The attempt; None if no choice was found that keeps up.
    bound
        A lower bound on what is minimised; inf if provably no choice keeps up.
    """

    best: Attempt | None
    bound: float

    def result(self, task: Task, limits: tuple[Requirement, ...], seconds: float) -> SizeResult:
        """Return the result at the planned source rate."""
        best = self.best
        assert best is not None, "a size that is not found is an error"
        assert best.placement is not None, "and so is one without a placement"
        problem = best.placement.problem.with_objective(task.wanted)
        placement = Placement(problem, best.placement.devices)
        score, names = simulate(placement), task.cluster.names
        result = SizeResult(
            parallelism=best.counts,
            graph=with_parallelism(task.graph, best.counts),
            cluster=task.cluster,
            assignment=dict(placement.assignment),
            source_rate=task.planned,
            throughput=score.throughput,
            placement=placement,
            score=score,
            minimise=task.settings.minimise,
            bound=self.bound,
            limits=limits,
            devices=tuple(names[d] for d in best.devices),
            seconds=seconds,
            survive=task.settings.survive,
        )
        return replace(result, cut_off=result.gap > 0.0)  # each choice had a share of the time


def cheapest(task: Task, choices: Choices, bound: float, budget: Budget) -> JointSize:
    """Return the numbers of instances that need the cheapest devices, and the fewest of those.

    The choice of the fewest instances is tried first, and then the same with equal numbers in the
    groups of ``colocate`` and at both ends of forward streams, so that instances of the same number
    may share a device. Others follow if their devices cost more than the bound: all of them if they
    are few, otherwise neighbours of the best one.

    Parameters
    ----------
    bound
        A lower bound on the price for any choice.
    """
    search = _Search(task, choices, budget, bound)
    search.attempt(choices.first, FIRST_SHARE)
    for vector in (choices.colocated, choices.together):
        if search.price > bound * SAME:
            search.attempt(vector, FIRST_SHARE)
    if search.price <= bound * SAME:
        return JointSize(search.best, bound)
    if choices.are_few(ALL_VECTORS):
        return search.all()
    search.climb()
    search.go_on()
    return JointSize(search.best, bound)


def fewest_instances(task: Task, choices: Choices, budget: Budget) -> JointSize:
    """Return the fewest instances with which the whole cluster keeps up."""
    search = _Search(task, choices, budget, sum(choices.first), everywhere=True)
    for vector in choices.by_instances():
        bound = min(sum(vector), choices.horizon + 1)
        own = search.attempt(vector, LATER_SHARE if search.tried else FIRST_SHARE)
        if own.placement is not None:
            return JointSize(own, float(bound))
        if own.bound < inf:  # undecided, so that later choices do not raise the bound
            search.grow(vector)
            return JointSize(search.best, float(bound))
        if budget.seconds_left() <= 0:
            return JointSize(None, float(bound))
        if search.tried >= ALL_VECTORS:
            break
    else:
        bound = choices.horizon + 1  # inf after all choices
    if bound < inf:
        search.grow(choices.together)
    return JointSize(search.best, float(bound))


class _Search:
    """The attempts so far.

    Parameters
    ----------
    bound
        A lower bound on what is minimised, for any choice.
    everywhere
        See `attempt`.
    """

    def __init__(
        self,
        task: Task,
        choices: Choices,
        budget: Budget,
        bound: float,
        *,
        everywhere: bool = False,
    ) -> None:
        self._task, self._choices, self._budget = task, choices, budget
        self._bound, self._everywhere = bound, everywhere
        self._known: dict[Vector, Attempt] = {}
        self.best: Attempt | None = None
        self._at: Vector = choices.first
        self._report()

    @property
    def price(self) -> float:
        """The price of the best attempt."""
        return inf if self.best is None else self.best.price

    @property
    def tried(self) -> int:
        """The number of attempts."""
        return len(self._known)

    def attempt(self, vector: Vector, share: float) -> Attempt:
        """Try a choice in a share of the time that is left."""
        if vector not in self._known:
            counts = self._choices.counts(vector)
            budget = self._budget.share(share)
            own = attempt(self._task, counts, budget, everywhere=self._everywhere)
            self._known[vector] = own
            if own.placement is not None and (self.best is None or own.rank < self.best.rank):
                self.best, self._at = own, vector
            self._report()
        return self._known[vector]

    def _report(self) -> None:
        best = None
        if self.best is not None:
            best = self.best.instances if self._everywhere else self.best.price
        report(aim_of(self._task.settings), best, self._bound, self.tried)

    def all(self) -> JointSize:
        """Try every choice, as far as time allows."""
        complete, bound = self._choices.are_all, self._bound
        for vector in self._choices.by_instances():
            if self._budget.seconds_left() <= 0:
                complete = False
                break
            self.attempt(vector, LATER_SHARE)
            if self.price <= bound * SAME:
                return JointSize(self.best, bound)
        self.go_on()
        if complete:
            bound = max(bound, min(own.bound for own in self._known.values()))
        return JointSize(self.best, min(bound, self.price))

    def go_on(self) -> None:
        """Go on with the search for the devices of the best choice in the time that is left.

        Where none was found, that time is for lower source rates.
        """
        if self.best is None or self._budget.seconds_left() <= 0:
            return
        if self.price <= self._bound * SAME:
            return
        is_cheaper_next = _with_prices(self._task) is not None
        budget = self._budget.share(SHARE if is_cheaper_next else 1.0)
        own = go_on(self._task, self.best, budget)
        self._known[self._at] = own
        if own.rank < self.best.rank:
            self.best = own

    def climb(self) -> None:
        """Go to the first better neighbour of the best choice, until there is none."""
        better = True
        while better and self._budget.seconds_left() > 0 and self.price > self._bound * SAME:
            better = False
            for vector in self._choices.neighbours(self._at):
                if self._budget.seconds_left() <= 0:
                    return
                before = self.best
                self.attempt(vector, LATER_SHARE)
                if self.best is not before:
                    better = True
                    break

    def grow(self, vector: Vector) -> None:
        """Try a choice, and add instances where the load is highest until one keeps up."""
        self.attempt(vector, LATER_SHARE)
        while self.best is None and self._budget.seconds_left() > 0:
            own = sum(vector)
            larger = [one for one in self._choices.neighbours(vector) if sum(one) > own]
            if not larger:
                return
            for each in larger:
                self.attempt(each, LATER_SHARE)
                if self.best is not None or self._budget.seconds_left() <= 0:
                    return
            vector = larger[-1] if len(larger) == 1 else larger[0]


def joint_size(task: Task, choices: Choices, seconds: float | None) -> JointSize:
    """Return the numbers of instances, their placement and the bound.

    Raises
    ------
    InfeasibleError
        If provably no numbers of instances keep up.
    PlacementError
        If none that keep up were found.
    """
    if not named_instances(task.graph, task.constraints):
        ones = dict.fromkeys(choices.counts(choices.first), 1)
        task.problem(ones)  # what one each cannot obey, no numbers can
    budget = Budget(seconds)
    found = searched(task, choices, budget)
    if found.best is None and found.bound == inf:
        fault = "provably no numbers of instances keep up on these devices"
        raise InfeasibleError(fault_under_rules(task, fault))
    if found.best is None:
        refuse_losses(task, task.problem(choices.counts(choices.first), apart=True))
        error = unfound(task)
        error.task, error.seconds_left = task, budget.seconds_left()
        raise error
    if task.settings.minimise == "machines":
        return JointSize(on_cheaper_devices(task, found.best, budget), found.bound)
    return found


def searched(task: Task, choices: Choices, budget: Budget) -> JointSize:
    """Return the best choice found; raise an InfeasibleError if the devices have too little."""
    try:
        problem = task.problem(choices.counts(choices.first), apart=True)
    except InfeasibleError as error:
        raise with_rate(error, task, _needs) from None
    check_losses(problem, task.settings.survive, "size")
    kinds = Kinds(problem, task.prices)
    needs = needs_of(problem)
    check_needs(task, choices.counts(choices.first), needs, _needs)
    if task.settings.minimise == "instances":
        return fewest_instances(task, choices, budget)
    conditions = conditions_of(needs, kinds, apart(problem))
    return cheapest(task, choices, fluid_bound(conditions, kinds, task.settings.survive), budget)


def _needs(task: Task, counts: Counts) -> list[Need]:
    return needs_of(task.problem(counts, apart=True))


def on_cheaper_devices(task: Task, best: Attempt, budget: Budget) -> Attempt:
    """Return the same instances on no more devices of a lower price, if such devices are found.

    Parameters
    ----------
    best
        The attempt with the fewest devices that was found.
    """
    priced = _with_prices(task)
    if priced is None or budget.seconds_left() <= 0:
        return best
    most = len(best.devices)
    found = attempt(priced, best.counts, budget.share(SHARE), most=most)
    before = float(priced.prices[list(best.devices)].sum())
    if len(found.devices) > most or not found.price < before * CHEAPER:
        return best
    return replace(
        best,
        price=float(len(found.devices)),
        placement=found.placement,
        devices=found.devices,
    )


def aim_of(settings: SizeSettings) -> str:
    """Return what is minimised, for reports; see `running_search.Standing`."""
    return PRICE if settings.minimise == "money" else f"{{}} {settings.minimise}"


def _with_prices(task: Task) -> Task | None:
    """Return the task with the prices of devices, where their number is minimised.

    None: something else is minimised, a price is not known, or all are equal.
    """
    prices = [device.price for device in task.cluster.devices]
    known = [price for price in prices if price is not None]
    is_one = len(known) < len(prices) or len({*known}) == 1
    return (
        None
        if is_one or task.settings.minimise != "machines"
        else replace(task, prices=np.array(known))
    )
