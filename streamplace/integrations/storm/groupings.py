"""Distributions of Storm's stream groupings."""

from streamplace.problem.logical import Distribution

_NOT_ALL = {"all": Distribution.BROADCAST, "global": Distribution.FIRST}


def distribution_of(grouping: str) -> Distribution:
    """Return the distribution of a grouping, which is in lower case as in Storm's UI.

    Groupings other than these two divide tuples among all instances.
    """
    return _NOT_ALL.get(grouping, Distribution.ALL)
