"""An order of operators that depends on the graph alone, not on names or numbering.

Floating-point sums depend on the order of their terms, and under backpressure a run can amplify a
difference in the last digit. A canonical order makes the result independent of the numbering.
"""

import numpy as np
from numpy.typing import NDArray

from sim.flow import Flow, Ints, by_operator
from sim.jit import kernel
from sim.orders import depths

Hashes = NDArray[np.uint64]
ROUNDS = 8  # distance in streams up to which the hash distinguishes operators


def canonical_order(flow: Flow) -> Ints:
    """Return the operators level by level, (V,): by depth, then in the order of their inputs.

    Operators with the same first input are ordered by a hash of themselves and their neighbourhood
    (Weisfeiler and Leman 1968), and by number only if their hashes are equal.
    """
    depth = depths(flow)
    order = np.lexsort((_hashes(flow), depth)).astype(np.int32)
    levels = np.searchsorted(depth[order], np.arange(int(depth.max()) + 2)).astype(np.int32)
    first, stream = by_operator(flow.target, flow.operators)
    _follow_inputs(order, levels, first, flow.source[stream])
    return order


def _hashes(flow: Flow) -> Hashes:
    """Return a hash of every operator, (V,)."""
    own = _bits(flow.instructions) ^ _mixed(_bits(flow.source_tuples))
    own = _mixed(own ^ _mixed(_bits(flow.operator_cores - 1.0)))  # one core does not change hashes
    timed = np.flatnonzero(flow.timed >= 0)
    for column in flow.timed_instructions.T:
        own[timed] = _mixed(own[timed] ^ _bits(column[flow.timed[timed]]))
    stream = _mixed(_bits(flow.selectivity) ^ _mixed(_bits(flow.bits)))
    for _ in range(ROUNDS):
        above, below = np.zeros_like(own), np.zeros_like(own)
        np.add.at(above, flow.target, _mixed(own[flow.source] ^ stream))
        np.add.at(below, flow.source, _mixed(own[flow.target] + stream))
        own = _mixed(own ^ _mixed(above) ^ _mixed(below + np.uint64(1)))
    return own


def _bits(numbers: NDArray[np.float64]) -> Hashes:
    return np.ascontiguousarray(numbers + 0.0).view(np.uint64)  # turns -0 into 0


def _mixed(x: Hashes) -> Hashes:
    """Return x with its bits mixed by the finaliser of splitmix64 (Steele, Lea and Flood 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


@kernel
def _follow_inputs(order: Ints, levels: Ints, first: Ints, source: Ints) -> None:
    """Sort the operators of every level but the first by the earliest of their inputs."""
    place = np.empty(order.shape[0], np.int32)
    for level in range(levels.shape[0] - 1):
        begin, end = levels[level], levels[level + 1]
        if level > 0:
            members = order[begin:end].copy()
            earliest = np.empty(end - begin, np.int32)
            for i in range(end - begin):
                v = members[i]
                earliest[i] = order.shape[0]
                for k in range(first[v], first[v + 1]):
                    earliest[i] = min(earliest[i], place[source[k]])
            sorted_ = np.argsort(earliest, kind="mergesort")
            for i in range(end - begin):
                order[begin + i] = members[sorted_[i]]
        for i in range(begin, end):
            place[order[i]] = i
