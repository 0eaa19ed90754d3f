"""Edges of graphs, grouped by their value, so that a matrix per value serves all of its edges."""

from typing import NamedTuple

import numpy as np

from streamplace.util.arrays import Floats, Ints

Single = np.ndarray


class Groups(NamedTuple):
    """Edges in G groups of at most C, each of one value.

    Attributes
    ----------
    values
        (K,) the distinct values.
    value_of
        (G,) index of each group's value.
    source, target
        (G, C) operators at the ends of each edge; V, the number of operators, where there is none.
    """

    values: Single
    value_of: Ints
    source: Ints
    target: Ints


def groups_of(source: Ints, target: Ints, values: Floats, operators: int) -> Groups:
    """Group edges by value.

    A group has at most twice the mean number of edges of a value, so that fewer than three quarters
    of all places remain empty.
    """
    distinct, kind = np.unique(values, return_inverse=True)
    order = np.argsort(kind, kind="stable")
    counts = np.bincount(kind, minlength=len(distinct))
    size = max(1, -(-2 * len(values) // max(1, len(distinct))))
    groups = -(-counts // size)
    first = np.concatenate([[0], np.cumsum(groups)])[:-1]
    rank = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    group, place = first[kind[order]] + rank // size, rank % size
    shape = (int(groups.sum()), int(min(size, counts.max(initial=1))))
    ends = np.full((2, *shape), operators, np.int64)
    ends[0, group, place], ends[1, group, place] = source[order], target[order]
    return Groups(distinct, np.repeat(np.arange(len(distinct)), groups), ends[0], ends[1])
