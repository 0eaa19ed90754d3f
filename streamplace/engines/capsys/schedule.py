"""Writer of CAPSys's schedulercfg, which names the TaskManager of each subtask."""

import re
from collections import Counter

from streamplace.errors import ProblemError
from streamplace.formats.format import Format
from streamplace.formats.losses import resources
from streamplace.problem.placement import Placement

SEPARATOR = "; "
DESCRIPTION = re.compile(r"\[[0-9]+\]:\w")
"""How Flink SQL describes an operator, ``[4]:Calc(…)``, in plans of running jobs."""


def write(placement: Placement) -> str:
    """Return one line per subtask; the device's name is used as the TaskManager's address.

    Subtasks are named as in Flink, for example ``Map (2/4)`` for the second of four, since CAPSys
    looks for a line's task name inside the subtask's name. The format has no comments.

    Raises
    ------
    ProblemError
        If a subtask's name is part of another subtask's name, since CAPSys would apply its line to
        both, if a name contains ``"; "`` or a line break, or if it is a description of Flink SQL,
        which no subtask has as its name.
    """
    tasks = _subtasks(placement)
    if described := next((name for name in tasks if DESCRIPTION.match(name)), None):
        raise ProblemError(
            f"{described!r:.60}: describes an operator of Flink SQL, but subtasks are named "
            "otherwise, such as Calc[4]; import the output of EXPLAIN JSON_EXECUTION_PLAN, which "
            "has their names, and place the job again"
        )
    for name in (*tasks, *placement.pes):
        if SEPARATOR in name or len(name.splitlines()) != 1:
            raise ProblemError(f"{name!r}: must not contain '; ' or a line break")
    _check_parts(tasks)
    return "".join(f"{task}{SEPARATOR}{device}\n" for task, device in tasks.items())


def _subtasks(placement: Placement) -> dict[str, str]:
    """Return subtask -> its device, in the graph's order; subtasks are named as in Flink."""
    graph = placement.problem.graph
    counts = Counter(graph.owners)
    numbers: Counter[str] = Counter()
    found: dict[str, str] = {}
    for owner, device in zip(graph.owners, placement.assignment.values(), strict=True):
        numbers[owner] += 1
        found[f"{owner} ({numbers[owner]}/{counts[owner]})"] = device
    return found


def _check_parts(tasks: dict[str, str]) -> None:
    """Raise ProblemError if a name is part of another name; all names end in a bracket."""
    lengths = sorted({len(task) for task in tasks})
    for task in tasks:
        ends = [i + 1 for i, letter in enumerate(task) if letter == ")"]
        parts = (task[end - n : end] for end in ends for n in lengths if n <= end)
        if part := next((part for part in parts if part in tasks and part != task), None):
            raise ProblemError(
                f"CAPSys would apply the line for {part!r} to {task!r} too; "
                "rename one of the operators"
            )


FORMAT = Format(
    "capsys",
    about="CAPSys, a patched Flink: a schedulercfg file, a line per subtask",
    write=write,
    losses=(resources,),
)
