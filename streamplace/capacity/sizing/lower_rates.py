"""Lower source rates that fit where a size was not found."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamplace.capacity.sizing.attempts import Task
from streamplace.capacity.sizing.choices import Choices
from streamplace.capacity.sizing.joint import searched
from streamplace.capacity.sizing.requirements import requirements
from streamplace.capacity.sizing.unfound import UnfoundError
from streamplace.display.text import number
from streamplace.placers.budget import Budget

SHARES = (0.98, 0.95, 0.9, 0.8, 0.65, 0.5)  # of the source rate, tried one after another
OF_LEFT = 0.5  # of the time that is left, for each of them


@contextmanager
def naming_lower_rate() -> Iterator[None]:
    """Advise a lower source rate that fits in the error of a size that was not found.

    It is looked for in what is left of the size's time limit.
    """
    try:
        yield
    except UnfoundError as error:
        if error.task is None:
            raise
        budget = Budget(error.seconds_left)
        if less := _lower_rate(error.task, budget):
            error.advise(f"lower the source rate to {number(less)} tuples/s, which fits")
        elif budget.seconds_left() <= 0:
            error.advise("the time limit ended the search for a lower source rate that fits")
        raise


def _lower_rate(task: Task, budget: Budget) -> float:
    """Return the highest lower rate in tuples/s for which a size is found; 0 if none is."""
    for share in SHARES:
        if budget.seconds_left() <= 0:
            break
        less = task.at(float(f"{share * task.planned:.3g}"))
        several = requirements(
            less.graph, less.cluster, less.objective, less.constraints, less.free
        )
        choices = Choices(less.graph, several, less.constraints.colocate)
        if searched(less, choices, budget.share(OF_LEFT)).best is not None:
            return less.planned
    return 0.0
