"""Moves of units, and their effect on the loads of devices and links.

The loads of devices, links and units share one numbering: device d has load d, link l has load D +
l, and unit u, whose operators may be unable to use all cores of a device, has load D + L + u.
"""

import numpy as np

from sim.flow import NONE, Ints
from sim.jit import bare, kernel
from sim.links import ends_of, slot_of, uplinks_of
from sim.messages import charge, no_messages
from sim.search.instance import Instance, moving_cost, own_load, unit_load
from sim.search.permitted import may_follow, may_move
from sim.search.rng import Word, below, uniform
from sim.search.state import Move, SearchState

RETURNING = 0.5  # share of a moved unit's changes that move it back, if migration is limited
WINDOW = 8192  # changes are drawn from this many units at a time, which fit into a cache


def search_state(instance: Instance, on: Ints) -> SearchState:
    """Return the search state of a placement of units, (U,), which is also its best."""
    units, devices = len(instance.work), len(instance.capacity)
    loads = devices + len(instance.gap_s) + (units if instance.limits_operators else 0)
    made = SearchState(
        on=on.astype(np.int32),
        load=np.zeros(loads),
        used=np.zeros(instance.room.shape),
        best=on.astype(np.int32),
        moved=np.zeros(units, np.int32),
        marked=np.zeros(units, np.bool_),
        change=np.zeros(loads),
        listed=np.zeros(loads, np.int32),
        listed_in=np.zeros(loads, np.int32),
        paid=np.zeros(1),
        tally=np.zeros(3, np.int32),
        room=no_messages(devices, len(instance.gap_s)),
    )
    np.add.at(made.used, on, instance.needs)
    weigh(instance, made)
    return made


@kernel
def weigh(instance: Instance, now: SearchState) -> None:
    """Compute the loads from scratch, which also removes accumulated rounding errors."""
    now.load[:] = 0.0
    now.paid[0] = 0.0
    devices = instance.capacity.shape[0]
    for u in range(instance.work.shape[0]):
        a = now.on[u]
        now.load[a] += unit_load(instance, u, a)
        if instance.migration_budget < np.inf:
            now.paid[0] += moving_cost(instance, u, a)
        if instance.limits_operators:
            now.load[devices + instance.gap_s.shape[0] + u] = own_load(instance, u, a)
        for i in range(instance.first_end[u], instance.first_end[u + 1]):
            b = now.on[instance.other[i]]
            if a == b or not instance.outward[i] or instance.multicast != NONE:
                continue
            sends, receives = ends_of(instance.nic, devices, a, b)
            now.load[devices + slot_of(instance, devices, sends)] += _seconds(instance, sends, i)
            if instance.nic:
                now.load[devices + receives] += _seconds(instance, receives, i)
            if instance.up.shape[0] > 0:
                for shared in uplinks_of(instance, a, b):
                    if shared >= 0:
                        now.load[devices + shared] += _seconds(instance, shared, i)
            if instance.taxing:
                now.load[a] += _overhead(instance, sends, i, a)
                now.load[b] += _overhead(instance, receives, i, b)
    for p in range(instance.home.shape[0]):
        a = now.on[instance.home[p]]
        for k in range(charge(instance, instance.copies, p, a, now.on, now.room)):
            now.load[now.room.resource[k]] += now.room.amount[k]


@bare
def drawn(
    instance: Instance, now: SearchState, state: Word, step: int, swaps: float, joins: float
) -> Move:
    """Draw a change: a swap, a move to a neighbour's device, or a move to any device.

    If migration is limited, it may also move a unit back while another one leaves. A change without
    effect, or one that violates a constraint, has b = -1.
    """
    u = _random_unit(instance, state, step)
    a, other, c = now.on[u], -1, -1
    home = _random_home(instance, state, u) if instance.migration_budget < np.inf else -1
    kind = uniform(state)
    if home >= 0 and a != home and uniform(state) < RETURNING:
        b, other, c = (
            home,
            _random_unit(instance, state, step),
            below(state, instance.capacity.shape[0]),
        )
    elif kind < swaps:
        other = _random_unit(instance, state, step)
        b, c = now.on[other], a
    elif kind < swaps + joins and instance.first_end[u + 1] > instance.first_end[u]:
        i = instance.first_end[u] + below(state, instance.first_end[u + 1] - instance.first_end[u])
        b = now.on[instance.other[i]]
    else:
        b = below(state, instance.capacity.shape[0])
    fits = a != b and may_move(instance, now, u, b, other)
    if fits and other >= 0:
        fits = other != u and now.on[other] != c and may_follow(instance, now, u, b, other, c)
    if fits and instance.migration_budget < np.inf:
        migration_cost = _cost_of(instance, now, u, b)
        if other >= 0:
            migration_cost += _cost_of(instance, now, other, c)
        fits = migration_cost <= 0.0 or now.paid[0] + migration_cost <= instance.migration_budget
    return Move(u, a, b if fits else -1, other, c)


@bare
def _random_unit(instance: Instance, state: Word, step: int) -> int:
    """Draw a unit; if there are many, from a window that advances by one unit per step."""
    units = instance.work.shape[0]
    if units <= WINDOW:
        return below(state, units)
    u: int = step % units + below(state, WINDOW)
    return u if u < units else u - units


@bare
def _random_home(instance: Instance, state: Word, u: int) -> int:
    """Return the current device of one operator of unit u, drawn at random; -1 if it has none."""
    first = instance.first_member[u]
    v = instance.member[first + below(state, instance.first_member[u + 1] - first)]
    home: int = instance.current_device[v]
    return home


@bare
def try_move(instance: Instance, now: SearchState, trial: Move) -> None:
    """Compute the load changes of a trial."""
    now.tally[0] = 0
    now.tally[1] += 1
    _shift(instance, now, trial.u, trial.b)
    if trial.other >= 0:
        now.on[trial.u] = trial.b
        _shift(instance, now, trial.other, trial.c)
        now.on[trial.u] = trial.a


@bare
def settle(instance: Instance, now: SearchState, trial: Move) -> None:
    """Apply the change that was tried."""
    for k in range(now.tally[0]):
        r = now.listed[k]
        now.load[r] += now.change[r]
    _put(instance, now, trial.u, trial.b)
    if trial.other >= 0:
        _put(instance, now, trial.other, trial.c)


@bare
def remember(now: SearchState) -> None:
    """Store the placement as the best so far."""
    for k in range(now.tally[2]):
        u = now.moved[k]
        now.best[u] = now.on[u]
        now.marked[u] = False
    now.tally[2] = 0


@bare
def _put(instance: Instance, now: SearchState, u: int, b: int) -> None:
    now.paid[0] += _cost_of(instance, now, u, b)
    for k in range(instance.room.shape[1]):
        now.used[now.on[u], k] -= instance.needs[u, k]
        now.used[b, k] += instance.needs[u, k]
    now.on[u] = b
    if not now.marked[u]:
        now.marked[u] = True
        now.moved[now.tally[2]] = u
        now.tally[2] += 1


@bare
def _cost_of(instance: Instance, now: SearchState, u: int, b: int) -> float:
    """Return the change in migration cost if unit u moves to device b; negative for a return."""
    if instance.migration_budget == np.inf:
        return 0.0
    return moving_cost(instance, u, b) - moving_cost(instance, u, now.on[u])


@bare
def _shift(instance: Instance, now: SearchState, u: int, b: int) -> None:
    """Add the effect of moving unit u to device b to the trial."""
    a = now.on[u]
    _change(now, a, -unit_load(instance, u, a))
    _change(now, b, unit_load(instance, u, b))
    if instance.limits_operators:
        own = instance.capacity.shape[0] + instance.gap_s.shape[0] + u
        _change(now, own, own_load(instance, u, b) - own_load(instance, u, a))
    if instance.multicast != NONE:
        _send_messages(instance, now, u, -1.0)
        now.on[u] = b
        _send_messages(instance, now, u, 1.0)
        now.on[u] = a
        return
    for i in range(instance.first_end[u], instance.first_end[u + 1]):
        c = now.on[instance.other[i]]
        if c != a:
            _cross(instance, now, i, a, c, -1.0)
        if c != b:
            _cross(instance, now, i, b, c, 1.0)


@bare
def _send_messages(instance: Instance, now: SearchState, u: int, sign: float) -> None:
    """Add or subtract the loads of all messages that depend on the device of unit u."""
    for i in range(instance.first_use[u], instance.first_use[u + 1]):
        p = instance.use[i]
        a = now.on[instance.home[p]]
        for k in range(charge(instance, instance.copies, p, a, now.on, now.room)):
            _change(now, now.room.resource[k], sign * now.room.amount[k])


@bare
def _cross(instance: Instance, now: SearchState, i: int, own: int, other: int, sign: float) -> None:
    """Add or subtract the load of end i's stream between its own device and the other one."""
    devices = instance.capacity.shape[0]
    x, y = (own, other) if instance.outward[i] else (other, own)
    sends, receives = ends_of(instance.nic, devices, x, y)
    slot = devices + slot_of(instance, devices, sends)
    _change(now, slot, sign * _seconds(instance, sends, i))
    if instance.nic:
        _change(now, devices + receives, sign * _seconds(instance, receives, i))
    if instance.up.shape[0] > 0:
        for shared in uplinks_of(instance, x, y):
            if shared >= 0:
                _change(now, devices + shared, sign * _seconds(instance, shared, i))
    if instance.taxing:
        _change(now, x, sign * _overhead(instance, sends, i, x))
        _change(now, y, sign * _overhead(instance, receives, i, y))


@bare
def _overhead(instance: Instance, link: int, i: int, d: int) -> float:
    """Return the load of device d by the messages of end i's stream, which pass a link of d."""
    busy = (
        instance.tuples[i] * instance.overhead_s[link]
        + instance.bits[i] * instance.overhead_s_per_bit[d]
    )
    return float(busy / instance.cores[d])


@bare
def _seconds(instance: Instance, link: int, i: int) -> float:
    seconds: float = (
        instance.tuples[i] * instance.gap_s[link]
        + instance.bits[i] * instance.seconds_per_bit[link]
    )
    return seconds


@bare
def _change(now: SearchState, r: int, amount: float) -> None:
    if now.listed_in[r] != now.tally[1]:
        now.listed_in[r] = now.tally[1]
        now.listed[now.tally[0]] = r
        now.tally[0] += 1
        now.change[r] = 0.0
    now.change[r] += amount
