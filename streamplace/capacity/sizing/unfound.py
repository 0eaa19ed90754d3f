"""The error of a size that was not found, though it may exist."""

from streamplace.capacity.sizing.attempts import Task
from streamplace.capacity.sizing.restrictions import rules_of
from streamplace.display.text import number
from streamplace.errors import InfeasibleError, PlacementError
from streamplace.problem.problem import Problem
from streamplace.workflows.conflict import listed_and
from streamplace.workflows.loss_conflict import loss_conflict


class UnfoundError(PlacementError):
    """A size that was not found, though it may exist.

    Attributes
    ----------
    task
        What was to be sized; None if lower source rates are not worth a try.
    seconds_left
        What is left of the time limit; inf without one.
    """

    task: Task | None = None
    seconds_left = 0.0


def text_of_unfound(task: Task, less: float = 0.0) -> str:
    """Return that no size was found, and what to do.

    Parameters
    ----------
    less
        A lower source rate in tuples/s, for which one was found; 0 if none was.
    """
    rules = [*map(str, rules_of(task)), *["whole operators"] * task.whole]
    under = f" under {listed_and(rules)}" if rules else ""
    after = " after the loss of any one of them" if task.survive else ""
    text = (
        f"size: found no numbers of instances that carry {number(task.planned)} tuples/s on these "
        f"devices{after}{under}; a longer search may find some"
    )
    return f"{text}; lower the source rate to {number(less)} tuples/s, which fits" if less else text


def refuse_losses(task: Task, problem: Problem) -> None:
    """Raise an InfeasibleError if rules leave no placement after the loss of some device.

    Parameters
    ----------
    problem
        The problem with the fewest instances, without the rules that more of them could obey.
    """
    found = loss_conflict(problem) if task.survive else None
    if found is not None:
        raise InfeasibleError(f"size: after the loss of {found[0]!r}, {found[1]}")
