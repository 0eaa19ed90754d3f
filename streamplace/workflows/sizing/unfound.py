"""The error of a size that was not found, though it may exist."""

from streamplace.display.text import number
from streamplace.errors import PlacementError
from streamplace.workflows.conflict import listed_and
from streamplace.workflows.sizing.attempts import Task
from streamplace.workflows.sizing.restrictions import rules_of


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
    rules, found = rules_of(task), f" to {number(less)} tuples/s" if less else ""
    ways = ["add devices", "allow more time", f"lower the source rate{found}"]
    ways += [f"loosen {listed_and(map(str, rules))}"] if rules else []
    ways += ["allow operators on several devices"] * task.whole
    after = " after the loss of any one of them" if task.survive else ""
    return (
        f"size: found no numbers of instances that carry {number(task.planned)} tuples/s on these "
        f"devices{after}; {', '.join(ways[:-1])}, or {ways[-1]}"
    )
