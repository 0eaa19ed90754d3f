"""The option ``--whole-operators`` as the name of the colocation groups that it adds."""

from collections.abc import Callable, Sequence

from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.instances import colocate_instances
from streamplace.problem.problem import Problem
from streamplace.problem.rules import Rule


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
