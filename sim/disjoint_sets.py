"""Disjoint sets, kept as trees in an array that holds the parent of each element.

A root is its own parent and the smallest element of its set.
"""

from sim.flow import Ints
from sim.jit import bare, inner


@bare
def find(root: Ints, u: int) -> int:
    """Return the root of the tree that contains u, and shorten the way to it."""
    while root[u] != u:
        root[u] = root[root[u]]
        u = root[u]
    return u


@bare
def unite(root: Ints, u: int, v: int) -> None:
    """Join the trees of u and v, under the smaller root."""
    a, b = find(root, u), find(root, v)
    root[max(a, b)] = min(a, b)


@inner
def number_roots(root: Ints) -> int:
    """Replace roots by numbers from 0 in order of appearance; return how many there are."""
    count = 0
    for u in range(root.shape[0]):
        if find(root, u) == u:
            continue
        root[u] = find(root, u)
    for u in range(root.shape[0]):  # a root comes before the rest of its tree
        if root[u] == u:
            root[u] = count
            count += 1
        else:
            root[u] = root[root[u]]
    return count
