"""Placement rules of operators in ADL: colocation, exlocation, isolation, and tags of host pools.

A PE of Streams corresponds to a device, so that rules for partitions and for hosts are the same.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from streamplace.errors import FormatError
from streamplace.integrations.ibm.labels import labels_note
from streamplace.integrations.parsing.xml import attribute, inside, kind_of
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph_checks import listed

PARTITIONS, RESOURCES = "partitions", "resources"
COLOCATION, EXLOCATION = ("coLocation", "colocId"), ("exLocation", "exlocId")
"""Element and the attribute that identifies its group."""
MAX_PAIRS = 1_000_000


class Rules(NamedTuple):
    """The placement rules of an application.

    Attributes
    ----------
    requires
        Operator -> labels that its device must have.
    notes
        What is not read, and what the labels are, a line each.
    """

    constraints: Constraints
    requires: dict[str, list[str]]
    notes: list[str]


def rules_of(
    root: Element, outside: Mapping[str, Element], inside_regions: Mapping[str, Element], where: str
) -> Rules:
    """Return the rules of operators.

    Parameters
    ----------
    outside, inside_regions
        Name -> operator, outside all parallel regions and within. Of the latter, only tags are
        read, since other rules may hold for each channel.

    Raises
    ------
    FormatError
        If a rule is not valid. The message names `where` and the fault.
    """
    apart = _groups(outside, EXLOCATION, where)
    apart += _isolated(outside, [*outside, *inside_regions], where)
    constraints = Constraints(colocate=_groups(outside, COLOCATION, where), exlocate=apart)
    tags = _tags_of_pools(root, where)
    requires = {
        name: tags.get(attribute(pool, "poolIndex", where), [])
        for name, operator in (*outside.items(), *inside_regions.items())
        for pool in inside(operator, RESOURCES, "poolLocation")
    }
    requires = {name: each for name, each in requires.items() if each}
    notes = labels_note([*requires])
    if unread := [name for name, operator in inside_regions.items() if _has_rules(operator)]:
        notes.append(
            f"{listed(unread)}: their colocation, exlocation, isolation and hosts are not read, "
            "since they may hold for each channel of a region; add constraints to the graph"
        )
    if pinned := [
        name for name, each in outside.items() if inside(each, RESOURCES, "hostLocation")
    ]:
        notes.append(
            f"{listed(pinned)}: the names of their hosts are not read; pin them to devices"
        )
    return Rules(constraints, requires, notes)


def _groups(operators: Mapping[str, Element], rule: tuple[str, str], where: str) -> list[list[str]]:
    """Return the operators of each colocation or exlocation with several members."""
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for name, operator in operators.items():
        for what in (PARTITIONS, RESOURCES):
            for element in inside(operator, what, rule[0]):
                key = what, attribute(element, rule[1], where)
                groups.setdefault(key, {})[name] = None
    return [[*group] for group in groups.values() if len(group) > 1]


def _isolated(
    operators: Mapping[str, Element], names: Sequence[str], where: str
) -> list[list[str]]:
    """Return the pairs of an operator that is alone in its PE and another one, of all names."""
    alone = [name for name, operator in operators.items() if _is_isolated(operator)]
    isolated = {*alone}
    others = [name for name in names if name not in isolated]
    if len(alone) * len(others) > MAX_PAIRS:
        raise FormatError(f"{where}: more than {MAX_PAIRS:,} pairs with isolated operators")
    pairs = [[one, other] for one in alone for other in others]
    return [alone, *pairs] if len(alone) > 1 else pairs


def _is_isolated(operator: Element) -> bool:
    elements = [*inside(operator, PARTITIONS), *inside(operator, RESOURCES)]
    return any(element.get("isolation") in ("true", "1") for element in elements)


def _has_rules(operator: Element) -> bool:
    several = (COLOCATION[0], EXLOCATION[0], "hostLocation")
    found = (inside(operator, what, rule) for what in (PARTITIONS, RESOURCES) for rule in several)
    return any(found) or _is_isolated(operator)


def _tags_of_pools(root: Element, where: str) -> dict[str, list[str]]:
    """Return index of a host pool -> the tags that its hosts have."""
    return {
        attribute(pool, "index", where): [
            attribute(tag, "name", where) for tag in inside(pool, "tag")
        ]
        for pool in root.iter()
        if kind_of(pool) == "hostpool"
    }
