"""Sizes of jobs whose instances can be searched with all streams between them."""

from dataclasses import replace
from math import inf

import numpy as np

from streamplace.display.text import number
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.search.annealing import Budget
from streamplace.placers.subset.conditions import apart
from streamplace.placers.subset.kinds import Kinds
from streamplace.placers.subset.price_bound import fluid_bound
from streamplace.workflows.conflict import listed_and
from streamplace.workflows.plan_unequal import check_losses
from streamplace.workflows.sizing.attempts import Attempt, Task, attempt
from streamplace.workflows.sizing.choices import Choices, Counts
from streamplace.workflows.sizing.joint import Joint, cheapest, fewest_instances
from streamplace.workflows.sizing.named_instances import named_instances
from streamplace.workflows.sizing.needs import Need, conditions_of, needs_of
from streamplace.workflows.sizing.restrictions import rules_of
from streamplace.workflows.sizing.result import Minimise
from streamplace.workflows.sizing.shortage import check_needs, naming_rates

SHARE = 0.5  # of the time that is left
CHEAPER = 1.0 - 1e-9  # factor below which a price is lower by more than rounding


def small_size(task: Task, choices: Choices, minimise: Minimise, seconds: float | None) -> Joint:
    """Return the numbers of instances, their placement and the bound.

    Raises
    ------
    InfeasibleError
        If provably no numbers of instances keep up.
    PlacementError
        If none that keep up were found.
    """
    counts = choices.counts(choices.first)
    if not named_instances(task.graph, task.constraints):
        task.problem(dict.fromkeys(counts, 1))  # what one each cannot obey, no numbers can
    with naming_rates(task, _needs):
        problem = task.problem(counts, apart=True)
    check_losses(problem, task.survive, "size")
    kinds = Kinds(problem, task.prices)
    needs = needs_of(problem)
    check_needs(task, needs, _needs)
    clock = Budget(seconds)
    if minimise == "instances":
        found = fewest_instances(task, choices, clock)
    else:
        conditions = conditions_of(needs, kinds, apart(problem))
        found = cheapest(task, choices, fluid_bound(conditions, kinds, task.survive), clock)
    if found.best is None and found.bound == inf:
        rules = [str(rule) for rule in rules_of(task)] + ["whole operators"] * task.whole
        under = f" under {listed_and(rules)}" if rules else ""
        raise InfeasibleError(
            f"size: provably no numbers of instances keep up on these devices{under}"
        )
    if found.best is None:
        raise not_found(task)
    if minimise == "machines":
        return Joint(on_cheaper_devices(task, found.best, clock), found.bound)
    return found


def not_found(task: Task) -> PlacementError:
    """Return the error of a size that was not found, though it may exist."""
    rules = rules_of(task)
    ways = ["add devices", "allow more time", "lower the source rate"]
    ways += [f"loosen {listed_and(map(str, rules))}"] if rules else []
    ways += ["allow operators on several devices"] * task.whole
    return PlacementError(
        f"size: found no numbers of instances that carry {number(task.planned)} tuples/s on these "
        f"devices; {', '.join(ways[:-1])}, or {ways[-1]}"
    )


def _needs(task: Task, counts: Counts) -> list[Need]:
    return needs_of(task.problem(counts, apart=True))


def on_cheaper_devices(task: Task, best: Attempt, clock: Budget) -> Attempt:
    """Return the same instances on no more devices of a lower price, if such devices are found.

    Parameters
    ----------
    best
        The attempt with the fewest devices that was found.
    """
    prices = [device.price for device in task.cluster.devices]
    known = [price for price in prices if price is not None]
    if len(known) < len(prices) or len({*known}) == 1 or clock.seconds_left() <= 0:
        return best
    priced = replace(task, prices=np.array(known))
    most = len(best.devices)
    found = attempt(priced, best.counts, clock.share(SHARE), most=most)
    before = float(priced.prices[list(best.devices)].sum())
    if len(found.devices) > most or not found.price < before * CHEAPER:
        return best
    return replace(
        best,
        price=float(len(found.devices)),
        placement=found.placement,
        devices=found.devices,
    )
