"""Enumeration of all placements that could be better under the model ``path-average``.

Link throttling is not monotonic: one more stream on a link can help a stream elsewhere. A partial
placement is therefore pruned only by bounds that hold for all its completions: sources run no
faster than the busiest device allows, and a stream between devices carries no more than its links
would carry if it were alone.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.exact.partial import Partial, may_go, partial, put, take_back
from streamplace.sim.flow import Columns, Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.links import ends_of, link_s, uplinks_of
from streamplace.sim.search.instance import Instance, own_load
from streamplace.sim.work import taken, taken_at_first


class Walk(NamedTuple):
    """The state of an enumeration."""

    now: Partial
    order: Ints  # (U,) the unit placed at each depth
    tried: Ints  # (U,) number of devices tried at each depth
    rate: Floats  # (V,) scratch array
    depth: Ints  # (1,) number of units placed


def walk(instance: Instance, identical: Ints, order: Ints) -> Walk:
    """Return the initial state of an enumeration.

    Parameters
    ----------
    identical
        (D,) the last identical device before each device, -1 if there is none.
    order
        (U,) units in the order in which they are placed.
    """
    return Walk(
        now=partial(instance, identical, len(order)),
        order=order,
        tried=np.zeros(len(order), np.int32),
        rate=np.zeros(len(instance.member)),
        depth=np.zeros(1, np.int32),
    )


@kernel
def enumerate_above(
    instance: Instance,
    flow: Columns,
    sinks: Ints,
    unit_of: Ints,
    at: Walk,
    wanted: float,
    rows: Ints,
    steps: int,
) -> tuple[int, bool]:
    """Continue an enumeration for a number of steps, or until the rows are full.

    Parameters
    ----------
    wanted
        Tuples/s at the sinks; placements that provably reach less are left out.
    rows
        (K, V), filled with placements.

    Returns
    -------
    tuple
        The number of rows filled, and whether the enumeration is complete.
    """
    now, units, count = at.now, at.order.shape[0], 0
    depth = at.depth[0]
    for _ in range(steps):
        if count == rows.shape[0]:
            break
        u, d = at.order[depth], at.tried[depth]
        if d == instance.capacity.shape[0]:
            at.tried[depth] = 0
            if depth == 0:
                return count, True
            depth -= 1
            take_back(instance, now, at.order[depth])
            continue
        at.tried[depth] += 1
        if not may_go(instance, now, depth, u, d):
            continue
        put(instance, now, depth, u, d)
        if _most_at_sinks(instance, flow, sinks, unit_of, at, depth + 1) < wanted:
            take_back(instance, now, u)
        elif depth + 1 == units:
            for v in range(unit_of.shape[0]):
                rows[count, v] = now.on[unit_of[v]]
            count += 1
            take_back(instance, now, u)
        else:
            depth += 1
    at.depth[0] = depth
    return count, False


@bare
def _most_at_sinks(
    instance: Instance, flow: Columns, sinks: Ints, unit_of: Ints, at: Walk, depth: int
) -> float:
    """Return an upper bound on the tuples/s at the sinks over all completions."""
    now, devices, busiest = at.now, instance.capacity.shape[0], 0.0
    for d in range(devices):
        busiest = max(busiest, now.load[depth, d])
    if instance.limits_operators:
        for u in range(now.on.shape[0]):
            if now.on[u] >= 0:
                busiest = max(busiest, own_load(instance, u, now.on[u]))
    start = 1.0 / max(1.0, busiest * instance.reference)
    for v in range(at.rate.shape[0]):
        at.rate[v] = taken_at_first(flow, v, start)
    for e in range(flow.source.shape[0]):
        tuples = at.rate[flow.source[e]] * flow.selectivity[e]
        a, b = now.on[unit_of[flow.source[e]]], now.on[unit_of[flow.target[e]]]
        if a >= 0 and b >= 0 and a != b:
            sends, receives = ends_of(flow.nic, devices, a, b)
            bits = flow.bits[e]
            slower = max(link_s(flow, sends, 1.0, bits), link_s(flow, receives, 1.0, bits))
            if flow.up.shape[0] > 0:
                for link in uplinks_of(flow, a, b):
                    if link >= 0:
                        slower = max(slower, link_s(flow, link, 1.0, bits))
            if slower * tuples > 1.0:
                tuples = 1.0 / slower
        at.rate[flow.target[e]] = taken(flow, at.rate[flow.target[e]], tuples)
    total = 0.0
    for i in range(sinks.shape[0]):
        total += at.rate[sinks[i]]
    return total
