"""Sizes of jobs whose instances can be searched with all streams between them."""

from math import inf

import numpy as np

from streamplace.display.text import number
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.balance import CARRIED
from streamplace.placers.subset.conditions import Conditions
from streamplace.placers.subset.kinds import Kinds
from streamplace.placers.warmup import warm_up_plan
from streamplace.util import work_clock
from streamplace.util.text import counted
from streamplace.workflows.plan_unequal import check_losses
from streamplace.workflows.sizing.attempts import Task
from streamplace.workflows.sizing.choices import Choices
from streamplace.workflows.sizing.fluid import fluid_bound, fluid_conditions
from streamplace.workflows.sizing.joint import Joint, cheapest, fewest_instances
from streamplace.workflows.sizing.named_instances import named_instances
from streamplace.workflows.sizing.result import Minimise


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
    if task.constraints.colocate and not named_instances(task.graph, task.constraints):
        task.problem(dict.fromkeys(counts, 1))  # what one each cannot obey, no numbers can
    problem = task.problem(counts, apart=True)
    check_losses(problem, task.survive, "size")
    with work_clock.loading():
        warm_up_plan(problem.model)
    kinds = Kinds(problem, task.prices)
    conditions = fluid_conditions(problem, kinds)
    check_capacity(task, conditions, kinds)
    clock = Budget(seconds)
    if minimise == "instances":
        found = fewest_instances(task, choices, clock)
    else:
        found = cheapest(task, choices, fluid_bound(conditions, kinds, task.survive), clock)
    if found.best is None and found.bound == inf:
        raise InfeasibleError("size: provably no numbers of instances keep up on these devices")
    if found.best is None:
        raise not_found(task)
    return found


def check_capacity(task: Task, conditions: Conditions, kinds: Kinds) -> None:
    """Raise an InfeasibleError if all devices together are too small."""
    reached = float(conditions.least_met(np.array([kinds.everything]), task.survive)[0])
    if reached < CARRIED:
        rate, offered = task.planned * reached, task.planned
        after = " after the loss of any one of them" if task.survive else ""
        raise InfeasibleError(
            f"size: {counted(len(task.cluster.devices), 'device')} cannot keep up: together they "
            f"carry {number(rate)} of {number(offered)} tuples/s at most{after}; add devices"
        )


def not_found(task: Task) -> PlacementError:
    """Return the error of a size that was not found, though it may exist."""
    return PlacementError(
        f"size: found no numbers of instances that carry {number(task.planned)} "
        "tuples/s on these devices; add devices, allow more time, or lower the source rate"
    )
