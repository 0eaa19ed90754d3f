"""Distributions of Storm's stream groupings."""

from streamplace.problem.logical import Distribution

_NOT_ALL = {"all": Distribution.BROADCAST, "global": Distribution.FIRST}


def distribution_of(grouping: str) -> Distribution:
    """Return the distribution of a grouping, whose name is in lower case as in Storm's UI.

    ``all`` copies each tuple to all instances, and ``global`` sends it to the first one. All other
    groupings divide the tuples among all instances.
    """
    return _NOT_ALL.get(grouping, Distribution.ALL)
