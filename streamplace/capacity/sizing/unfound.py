"""The error of a size that was not found, though it may exist."""

from streamplace.capacity.sizing.attempts import Task
from streamplace.capacity.sizing.restrictions import rules_of
from streamplace.capacity.sizing.result import SIZE
from streamplace.display.text import number
from streamplace.errors import Fault, InfeasibleError, PlacementError
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


def fault_under_rules(task: Task, what: str) -> Fault:
    """Return a fault of a size, with the rules under which it holds after what is wrong."""
    rules = rules_of(task)
    names = [*map(str, rules), *["whole operators"] * task.settings.whole_operators]
    under = f" under {listed_and(names)}" if names else ""
    of_constraints = any(rule.of_constraints for rule in rules)
    return Fault(what + under, place=SIZE, of_constraints=of_constraints)


def unfound(task: Task) -> UnfoundError:
    """Return the error of a size that was not found."""
    after = " after the loss of any one of them" if task.settings.survive else ""
    carrying = f"that carry {number(task.planned)} tuples/s on these devices{after}"
    error = UnfoundError(fault_under_rules(task, f"found no numbers of instances {carrying}"))
    error.advise("a longer search may find some")
    return error


def refuse_losses(task: Task, problem: Problem) -> None:
    """Raise an InfeasibleError if rules leave no placement after the loss of some device.

    Parameters
    ----------
    problem
        The problem with the fewest instances, without the rules that more of them could obey.
    """
    found = loss_conflict(problem) if task.settings.survive else None
    if found is not None:
        device, conflict = found
        fault = f"after the loss of {device!r}, {conflict}"
        rules = conflict.of_constraints
        raise InfeasibleError(Fault(fault, place=SIZE, of_constraints=rules))
