"""The part of a graph before its streams lead back to units upstream, as in a backward pass."""

import numpy as np
from numpy.typing import NDArray

from sim.columns import by_operator
from sim.flow import Flow, Ints
from sim.jit import kernel


def forward_part(flow: Flow, unit_of: Ints) -> NDArray[np.bool_]:
    """Return whether each operator is in the forward part, (V,) bool.

    Operators join that part in topological order. One joins if all its producers have, and if the
    units of those that have joined still form no cycle.

    Parameters
    ----------
    unit_of
        (V,) unit of each operator.
    """
    last = np.full(flow.operators, -1)
    last[flow.target] = np.arange(len(flow.target))
    order = np.argsort(last, kind="stable").astype(np.int32)  # topological, as in `sim.greedy`
    first_in, inward = by_operator(flow.target, flow.operators)
    units = int(unit_of.max()) + 1
    return _forward(unit_of, units, order, flow.source, flow.target, first_in, inward)


@kernel
def _forward(
    unit_of: Ints,
    units: int,
    order: Ints,
    source: Ints,
    target: Ints,
    first_in: Ints,
    inward: Ints,
) -> NDArray[np.bool_]:
    joined = np.ones(order.shape[0], np.bool_)
    head = np.full(units, -1, np.int32)  # lists of the streams between units that have joined
    following = np.full(source.shape[0], -1, np.int32)
    stack, reached = np.zeros(units, np.int32), np.full(units, -1, np.int32)
    for v in order:
        unit, size = unit_of[v], 1
        stack[0], reached[unit] = unit, v
        while size > 0:  # mark all units downstream of that of v
            size -= 1
            e = head[stack[size]]
            while e >= 0:
                other = unit_of[target[e]]
                if reached[other] != v:
                    stack[size], reached[other] = other, v
                    size += 1
                e = following[e]
        for i in range(first_in[v], first_in[v + 1]):
            producer = source[inward[i]]
            upstream = unit_of[producer]
            closes = upstream != unit and reached[upstream] == v
            joined[v] = joined[v] and joined[producer] and not closes
        if joined[v]:
            for i in range(first_in[v], first_in[v + 1]):
                upstream = unit_of[source[inward[i]]]
                if upstream != unit:
                    following[inward[i]], head[upstream] = head[upstream], inward[i]
    return joined
