"""Distributions of Storm's stream groupings."""

from streamplace.problem.logical import BY_KEY, AnyDistribution, Distribution

_NOT_ALL: dict[str, AnyDistribution] = {
    "all": Distribution.BROADCAST,
    "global": Distribution.FIRST,
    "fields": BY_KEY,
}


def distribution_of(grouping: str) -> AnyDistribution:
    """Return the distribution of a grouping, whose name is in lower case as in Storm's UI.

    ``all`` copies each tuple to all instances, and ``global`` sends it to the first one. All other
    groupings divide the tuples among all instances.
    """
    return _NOT_ALL.get(grouping, Distribution.ALL)
