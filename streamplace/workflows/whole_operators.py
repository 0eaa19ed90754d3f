"""The option ``--whole-operators`` as the name of the colocation groups that it adds."""

from collections.abc import Callable, Sequence

from streamplace.integrations.instances import colocate_instances
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.problem import Problem
from streamplace.problem.rules import Rule


def option_names(graph: StreamGraph, groups: Sequence[Sequence[str]]) -> dict[int, str]:
    """Return number of a colocation group -> its name, for those that the option adds.

    These are the last groups; there are none if the last groups are others.
    """
    added = colocate_instances(graph, Constraints()).colocate
    first = len(groups) - len(added)
    if first < 0 or [set(group) for group in groups[first:]] != [set(group) for group in added]:
        return {}
    owners = (graph.owners[graph.index[group[0]]] for group in added)
    return {first + i: f"--whole-operators of {owner!r}" for i, owner in enumerate(owners)}


def rule_namer(problem: Problem) -> Callable[[Rule], str]:
    """Return a function that names a rule of a problem, if possible by the option that made it."""
    names = option_names(problem.graph, problem.constraints.colocate)

    def name(rule: Rule) -> str:
        by_option = names.get(int(rule.key)) if rule.kind == "colocate" else None
        return by_option or str(rule)

    return name
