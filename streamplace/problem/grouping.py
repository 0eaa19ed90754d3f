"""Groupings of operators, and the graph of their groups."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamplace.errors import ProblemError
from streamplace.problem.graph import StreamGraph
from streamplace.util.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Quotient:
    """A graph whose vertices are groups; it may have cycles.

    Parameters
    ----------
    load
        (G,) sum of what the members weigh.
    source, target
        (Q,) groups that streams join, each ordered pair once, sorted.
    traffic
        (Q,) sum of what the streams between them weigh.
    """

    load: Floats
    source: Ints
    target: Ints
    traffic: Floats


class Grouping:
    """Operator -> group.

    Parameters
    ----------
    group_of
        (V,) group of each operator; the G groups are numbered 0..G-1, none empty.

    Raises
    ------
    ProblemError
        If `group_of` does not number groups so.
    """

    def __init__(self, graph: StreamGraph, group_of: ArrayLike) -> None:
        values = np.asarray(group_of)
        if values.shape != (len(graph.names),) or values.dtype.kind not in "iu":
            raise ProblemError(f"a grouping needs {len(graph.names)} group numbers")
        if values.min() < 0 or not np.bincount(values).all():
            raise ProblemError("groups must be numbered 0, 1, … with none empty")
        self.graph = graph
        self.group_of: Ints = values.astype(np.int32)
        self.count = int(values.max()) + 1

    def quotient(self, load: Floats, traffic: Floats) -> Quotient:
        """Return the graph of groups under operator weights (V,) and stream weights (E,)."""
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
        """Return, for every operator, what `of_groups` (G, …) has for its group: (V, …)."""
        return np.asarray(of_groups)[self.group_of]

    def __repr__(self) -> str:
        return f"<Grouping: {len(self.group_of)} operators in {self.count} groups>"
