"""The option ``--whole-operators`` as the name of the colocation groups that it adds."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from streamplace.errors import StreamplaceError, reworded
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.instances import colocate_instances
from streamplace.problem.problem import Problem
from streamplace.problem.rules import Rule
from streamplace.workflows.conflict import named

COLOCATED = re.compile(r"constraints\.colocate\[(\d+)\]")


def whole_operators(graph: StreamGraph, groups: Sequence[Sequence[str]]) -> dict[int, str]:
    """Return number of a colocation group -> its operator, for groups as the option adds them.

    These are the last groups; there are none if the last groups are others.
    """
    added = colocate_instances(graph, Constraints()).colocate
    first = len(groups) - len(added)
    if first < 0 or [set(group) for group in groups[first:]] != [set(group) for group in added]:
        return {}
    owners = (graph.owners[graph.index[group[0]]] for group in added)
    return dict(enumerate(owners, first))


def rule_namer(problem: Problem) -> Callable[[Rule], str]:
    """Return a function that names a rule of a problem, if possible by an operator kept together.

    A problem does not tell groups of the option from equal ones in a file.
    """
    owners = whole_operators(problem.graph, problem.constraints.stated.colocate)

    def name(rule: Rule) -> str:
        owner = owners.get(int(rule.key)) if rule.kind == "colocate" else None
        return str(rule) if owner is None else f"whole operator {owner!r} (colocate)"

    return name


@contextmanager
def naming_whole_operators(
    graph: StreamGraph, groups: Sequence[Sequence[str]], *, added: bool
) -> Iterator[None]:
    """Call the added groups, the last of all, by the option in an infeasible problem's error."""
    if not added:
        yield
        return
    owners = whole_operators(graph, groups)

    def name(match: re.Match[str]) -> str:
        owner = owners.get(int(match[1]))
        return match[0] if owner is None else f"--whole-operators of {owner!r}"

    try:
        yield
    except StreamplaceError as raised:
        error = raised
        if error.infeasible is not None:
            error = named(error)
        text = COLOCATED.sub(name, str(error))
        if text == str(error):
            raise error from None
        raise reworded(error, text) from None
