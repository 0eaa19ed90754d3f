"""The rules that restrict on which devices the instances of a size may run."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from streamplace.capacity.sizing.attempts import Task
from streamplace.capacity.sizing.needs import ROUNDING
from streamplace.capacity.sizing.requirements import Requirement, requirements
from streamplace.problem.rules import BY_NUMBER, LIMITS, Rule, RuledParts


def rules_of(task: Task, operators: Collection[str] | None = None) -> list[Rule]:
    """Return the constraints and labels of a task.

    Parameters
    ----------
    operators
        Names of operators or instances, whose own rules to return; None: the rules of all, and
        those on groups.
    """
    parts = RuledParts(task.graph, task.cluster, task.constraints)
    rules = [rule for rule in parts.rules() if rule.kind not in LIMITS]
    if operators is None:
        return rules
    return [
        rule
        for rule in rules
        if rule.kind not in BY_NUMBER and not {*operators}.isdisjoint(parts.operators_of(rule))
    ]


def without(task: Task, rules: Sequence[Rule]) -> Task:
    """Return the task without some of its rules."""
    parts = RuledParts(task.graph, task.cluster, task.constraints)
    for rule in rules:
        parts = parts.without(rule)
    return replace(task, graph=parts.graph, constraints=parts.constraints)


def rules_against(task: Task, fault: Requirement) -> list[Rule]:
    """Return the rules of an operator without which it would carry more."""
    rules = rules_of(task, (fault.operator,))
    if not rules:
        return []
    less = without(task, rules)
    several = requirements(less.graph, less.cluster, less.objective, less.constraints, less.free)
    wider = next(one for one in several if one.operator == fault.operator)
    planned = wider.at_most * task.planned / task.objective.source_rate
    return rules if planned > fault.at_most * (1.0 + ROUNDING) else []
