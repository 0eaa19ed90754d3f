"""Operators that join their inputs, so that they process what the slowest input brings."""

import numpy as np

from sim.flow import Columns
from sim.jit import bare


@bare
def taken_at_first(flow: Columns, v: int, start: float) -> float:
    """Return the tuples/s of operator v before its inputs count, if sources run at a share."""
    tuples: float = flow.source_tuples[v] * start
    if flow.joins and flow.source_tuples[v] == 0.0:
        tuples = np.inf
    return tuples


@bare
def taken(flow: Columns, before: float, tuples: float) -> float:
    """Return the tuples/s of an operator after one more of its inputs, which brings `tuples`."""
    return min(before, tuples) if flow.joins else before + tuples
