"""Proofs by minimum cuts that no device can hold a unit, and the units that it takes with it.

The units on the device of unit v are a set S that contains v. Their CPU load is at most the limit,
and so is what the device sends and what it receives. For multipliers of at least 0, the weighted
sum of these three loads is therefore at most the weighted sum of their limits. The least weighted
sum over all sets that contain v is a minimum cut (Picard 1976): a stream costs its weighted load if
it is cut, and a unit its weighted work if it is in S. If it is above the weighted limits for some
multipliers, no placement is within the limit. If it is so for the sets without unit j, every
placement within the limit has j on the device of v. Multipliers are improved with the sets found so
far as cutting planes (Kelley 1960).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.exact.contraction import Cheapest, Units
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, inner
from streamplace.sim.search.instance import Bools

PLANES, KEPT = 12, 48  # sets tried per proof; more hardly improved any; and sets kept for others
# A grid is simple and quick for two free multipliers; five zooms by .3 leave .2% of the range.
GRID, ZOOMS = 6, 5  # steps of a grid of multipliers, and how often it is refined around the best
THREE = 3  # loads of a device with a limit on what it receives: CPU, sent, received; two without
NOTHING = 1e-13  # flow that counts as none, relative to the limit: rounding
CERTAIN = 1e-7  # relative distance by which a proof has to succeed, above all rounding
FORCED = 1e9  # weight of a unit that S may not contain, relative to the limit: no cut pays it


class Arcs(NamedTuple):
    """The messages between U units as A arcs, two each, by the unit that they leave."""

    first: Ints  # (U + 1,) index of each unit's first arc
    head: Ints  # (A,)
    back: Ints  # (A,) the arc of the same message in the other direction
    sent: Floats  # (A,) load of what a device sends if it holds the tail and not the head
    received: Floats  # (A,) load of what it receives
    cpu: Floats  # (A,) its CPU load by the message


@inner
def arcs_of(cheap: Cheapest, units: Units, shared: bool) -> Arcs:
    """Return the arcs of units; of messages that streams share, only each producer's largest."""
    count, messages = units.load.shape[0], units.to.shape[0]
    kept, used, i = np.empty(messages, np.int64), 0, 0
    while i < messages:  # messages are sorted by producer
        kept[used] = i
        p = units.sender[i]
        i += 1
        while shared and i < messages and units.sender[i] == p:
            if _cost(cheap.sent, units, i) > _cost(cheap.sent, units, kept[used]):
                kept[used] = i
            i += 1
        used += 1
    first = np.zeros(count + 1, np.int32)
    for k in range(used):
        first[units.home[units.sender[kept[k]]] + 1] += 1
        first[units.to[kept[k]] + 1] += 1
    for u in range(count):
        first[u + 1] += first[u]
    free = first[:count].copy()
    head, back = np.empty(2 * used, np.int32), np.empty(2 * used, np.int32)
    sent, received, cpu = np.zeros(2 * used), np.zeros(2 * used), np.empty(2 * used)
    for k in range(used):
        i = kept[k]
        a, b = units.home[units.sender[i]], units.to[i]
        out, into = free[a], free[b]
        free[a] += 1
        free[b] += 1
        head[out], head[into], back[out], back[into] = b, a, into, out
        sent[out], received[into] = _cost(cheap.sent, units, i), _cost(cheap.received, units, i)
        cpu[out] = cpu[into] = _cost(cheap.cpu, units, i)
    return Arcs(first, head, back, sent, received, cpu)


@bare
def _cost(kind: tuple[float, float], units: Units, i: int) -> float:
    cost: float = kind[0] * units.tuples[i] + kind[1] * units.bits[i]
    return cost


class Cuts(NamedTuple):
    """Scratch arrays for minimum cuts between U units with A arcs."""

    arc: Floats  # (A,) what each arc can still carry
    sink: Floats  # (U,) what each unit can still send to the sink
    level: Ints  # (U,) distance from v; below 0 for units outside S
    at: Ints  # (U,) the next arc to try; before the first one: the sink
    queue: Ints  # (U + 1,) units
    path: Ints  # (U + 1,) arcs
    kept: Ints  # (1,) number of sets kept
    plane: Floats  # (KEPT, 3) excess of each set's CPU load, sent and received loads
    member: Bools  # (KEPT, U) whether each set contains each unit
    counts: Bools  # (KEPT,) whether a set may be one of the device
    weight: Floats  # (3,) multipliers
    inside: Bools  # (U,) S, if it is one that no multipliers refute


@inner
def cuts_for(units: int, arcs: int) -> Cuts:
    """Return scratch arrays."""
    return Cuts(
        np.empty(arcs),
        np.empty(units),
        np.empty(units, np.int32),
        np.empty(units, np.int32),
        np.empty(units + 1, np.int32),
        np.empty(units + 1, np.int32),
        np.zeros(1, np.int32),
        np.empty((KEPT, 3)),
        np.empty((KEPT, units), np.bool_),
        np.empty(KEPT, np.bool_),
        np.empty(3),
        np.empty(units, np.bool_),
    )


@inner
def least_limit(
    arcs: Arcs,
    least: Floats,
    limit: float,
    sends: float,
    receives: float,
    v: int,
    without: int,
    cuts: Cuts,
    work: NDArray[np.int64],
) -> float:
    """Return a limit that a device with unit v exceeds if it is above `limit`; 0 without a proof.

    Without a proof, `cuts.inside` is a set within the limit, or all units if none was met.

    Parameters
    ----------
    least
        (U,) the least CPU load of each unit.
    sends, receives
        What a device can send and receive, in limits.
    without
        A unit that is on another device, or -1.
    work
        (1,) number of arcs visited so far, which is increased.
    """
    weight, count, kept = cuts.weight, 2 if receives == np.inf else 3, cuts.kept
    cuts.inside[:] = True
    if without < 0 or kept[0] > KEPT - PLANES:
        kept[0] = 0  # sets are kept for the same unit v only
    for k in range(kept[0]):
        cuts.counts[k] = without < 0 or not cuts.member[k, without]
    weight[:] = 0.0
    weight[:count] = 1.0 / count
    for _ in range(PLANES):
        if _improve(cuts, count) <= CERTAIN:
            return 0.0
        for i in range(arcs.head.shape[0]):
            load = weight[0] * arcs.cpu[i] + weight[1] * arcs.sent[i]
            cuts.arc[i] = (load + weight[2] * arcs.received[i]) / limit
        for u in range(least.shape[0]):
            cuts.sink[u] = weight[0] * least[u] / limit
        if without >= 0:
            cuts.sink[without] = FORCED
        flow = _max_flow(arcs, cuts, v, work)
        most = weight[0] + weight[1] * sends + (weight[2] * receives if weight[2] > 0 else 0.0)
        if flow > most * (1.0 + CERTAIN):
            return float(limit * flow / (most * (1.0 + CERTAIN)))
        plane = cuts.plane[kept[0]]
        _weigh(arcs, least, limit, cuts.level, plane)
        plane[0] -= 1.0
        plane[1] -= sends
        plane[2] -= receives if count == THREE else 0.0
        for u in range(least.shape[0]):
            cuts.member[kept[0], u] = cuts.level[u] >= 0
        if max(plane[0], plane[1]) <= 0.0 and (count < THREE or plane[2] <= 0.0):
            cuts.inside[:] = cuts.member[kept[0]]
            return 0.0
        cuts.counts[kept[0]] = True
        kept[0] += 1
    return 0.0


@bare
def _weigh(arcs: Arcs, least: Floats, limit: float, level: Ints, plane: Floats) -> None:
    """Write the CPU load, the sent and the received load of a set, relative to the limit."""
    plane[:] = 0.0
    for u in range(least.shape[0]):
        if level[u] < 0:
            continue
        plane[0] += least[u] / limit
        for i in range(arcs.first[u], arcs.first[u + 1]):
            if level[arcs.head[i]] < 0:
                plane[0] += arcs.cpu[i] / limit
                plane[1] += arcs.sent[i] / limit
                plane[2] += arcs.received[i] / limit


@bare
def _improve(cuts: Cuts, count: int) -> float:
    """Set the multipliers that make the least excess of the sets largest, and return it."""
    planes, weight = cuts.plane, cuts.weight
    best, x, y, width = -np.inf, 1.0 / count, 1.0 / count, 1.0
    any_set = False
    for k in range(cuts.kept[0]):
        any_set |= cuts.counts[k]
    if not any_set:
        return np.inf
    for _ in range(ZOOMS):
        x0, y0 = x, y
        for p in range(-GRID, GRID + 1):
            a = x0 + width * p / GRID
            if not 0.0 <= a <= 1.0:
                continue
            for q in range(-GRID, GRID + 1):
                b = y0 + width * q / GRID if count == THREE else 1.0 - a
                if not 0.0 <= b <= 1.0 - a:
                    continue
                least, c = np.inf, 1.0 - a - b
                for k in range(cuts.kept[0]):
                    if cuts.counts[k]:
                        excess = a * planes[k, 0] + b * planes[k, 1] + c * planes[k, 2]
                        least = min(least, excess)
                if least > best:
                    best, x, y = least, a, b
                if count < THREE:
                    break
        # More than the distance of two steps, so that the best point of a grid stays inside.
        width *= 0.3
    weight[0], weight[1] = x, y
    weight[2] = max(0.0, 1.0 - x - y) if count == THREE else 0.0
    return best


@bare
def _max_flow(arcs: Arcs, cuts: Cuts, v: int, work: NDArray[np.int64]) -> float:
    """Return the largest flow from v to the sink (Dinic 1970); S then has levels above -1."""
    total = 0.0
    while _reaches_sink(arcs, cuts, v, work):
        depth = 0
        cuts.queue[0] = v
        while depth >= 0:
            u = cuts.queue[depth]
            if cuts.at[u] < arcs.first[u]:
                if cuts.sink[u] > NOTHING:
                    amount, at = _augment(arcs, cuts, depth)
                    total += amount
                    work[0] += depth
                    depth = at
                    continue
                cuts.at[u] += 1
            if _steps_on(arcs, cuts, u, work):
                cuts.path[depth] = cuts.at[u]
                depth += 1
                cuts.queue[depth] = arcs.head[cuts.at[u]]
            else:
                depth -= 1
                if depth >= 0:
                    cuts.at[cuts.queue[depth]] += 1
    return total


@bare
def _reaches_sink(arcs: Arcs, cuts: Cuts, v: int, work: NDArray[np.int64]) -> bool:
    """Set the level of every unit that v can still send to; return whether one reaches the sink."""
    level, queue = cuts.level, cuts.queue
    level[:] = -1
    level[v] = 0
    queue[0] = v
    begin, end, reached = 0, 1, False
    while begin < end:
        u = queue[begin]
        begin += 1
        cuts.at[u] = arcs.first[u] - 1
        reached |= cuts.sink[u] > NOTHING
        work[0] += arcs.first[u + 1] - arcs.first[u] + 1
        for i in range(arcs.first[u], arcs.first[u + 1]):
            if cuts.arc[i] > NOTHING and level[arcs.head[i]] < 0:
                level[arcs.head[i]] = level[u] + 1
                queue[end] = arcs.head[i]
                end += 1
    return reached


@bare
def _steps_on(arcs: Arcs, cuts: Cuts, u: int, work: NDArray[np.int64]) -> bool:
    """Advance `cuts.at` to the next arc of u that leads on; return whether there is one."""
    while cuts.at[u] < arcs.first[u + 1]:
        i = cuts.at[u]
        if cuts.arc[i] > NOTHING and cuts.level[arcs.head[i]] == cuts.level[u] + 1:
            return True
        cuts.at[u] += 1
        work[0] += 1
    return False


@bare
def _augment(arcs: Arcs, cuts: Cuts, depth: int) -> tuple[float, int]:
    """Send what fits along the path; return it, and the depth of the first arc that is now full."""
    end = cuts.queue[depth]
    amount, at = cuts.sink[end], depth
    for k in range(depth):
        amount = min(amount, cuts.arc[cuts.path[k]])
    cuts.sink[end] -= amount
    for k in range(depth - 1, -1, -1):
        i = cuts.path[k]
        cuts.arc[i] -= amount
        cuts.arc[arcs.back[i]] += amount
        if cuts.arc[i] <= NOTHING:
            at = k
    return amount, at
