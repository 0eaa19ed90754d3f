"""Groupings of operators, and the quotient graphs of their groups."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamplace.errors import ProblemError
from streamplace.problem.graph import StreamGraph
from streamplace.util.arrays import Floats, Ints
from streamplace.util.text import counted


@dataclass(frozen=True, eq=False)
class Quotient:
    """A graph whose G vertices are groups of operators; it may have cycles.

    Parameters
    ----------
    load
        (G,) sum of the weights of each group's operators.
    source, target
        (Q,) groups at the ends of each edge; every ordered pair appears once, sorted.
    traffic
        (Q,) sum of the weights of the streams between the two groups.
    """

    load: Floats
    source: Ints
    target: Ints
    traffic: Floats


class Grouping:
    """A partition of the operators into groups.

    Parameters
    ----------
    group_of
        (V,) group of each operator. The G groups are numbered 0..G-1, and none is empty.

    Raises
    ------
    ProblemError
        If `group_of` has another length or does not number groups this way.
    """

    def __init__(self, graph: StreamGraph, group_of: ArrayLike) -> None:
        values = np.asarray(group_of)
        if values.shape != (len(graph.names),) or values.dtype.kind not in "iu":
            raise ProblemError(
                f"groups: expected a whole number for each of {len(graph.names)} operators"
            )
        if values.min() < 0 or not np.bincount(values).all():
            raise ProblemError("groups: must be numbered 0, 1, … without empty groups")
        self.graph = graph
        self.group_of: Ints = values.astype(np.int32)
        self.count = int(values.max()) + 1

    def quotient(self, load: ArrayLike, traffic: ArrayLike) -> Quotient:
        """Return the quotient graph for operator weights `load`, (V,), and stream weights, (E,).

        Raises
        ------
        ProblemError
            If there is not a number for each operator and each stream.
        """
        load = _weights("load", load, len(self.graph.names), "operators")
        traffic = _weights("traffic", traffic, len(self.graph.stream_source), "streams")
        source = self.group_of[self.graph.stream_source].astype(np.int64)
        target = self.group_of[self.graph.stream_target]
        between = source != target
        pairs, which = np.unique(
            source[between] * self.count + target[between], return_inverse=True
        )
        return Quotient(
            np.bincount(self.group_of, weights=load, minlength=self.count).astype(np.float64),
            (pairs // self.count).astype(np.int32),
            (pairs % self.count).astype(np.int32),
            np.bincount(which, weights=traffic[between], minlength=len(pairs)).astype(np.float64),
        )

    def expand(self, of_groups: ArrayLike) -> NDArray[np.generic]:
        """Return a row per operator, (V, …): that of its group in `of_groups`, (G, …)."""
        return np.asarray(of_groups)[self.group_of]

    def __repr__(self) -> str:
        operators = counted(len(self.group_of), "operator")
        return f"<Grouping: {operators} in {counted(self.count, 'group')}>"


def _weights(what: str, values: ArrayLike, count: int, noun: str) -> Floats:
    """Return one weight per operator or stream."""
    try:
        weights = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        weights = None
    if weights is None or weights.shape != (count,):
        raise ProblemError(f"{what}: expected a number for each of {count} {noun}")
    return weights
