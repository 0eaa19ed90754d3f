"""Moves of units, and their effect on the loads of devices and links.

The loads of devices, links and units share one numbering: device d has load d, link l has load D +
l, and unit u, whose operators may be unable to use all cores of a device, has load D + L + u.
"""

import numpy as np

from streamplace.sim.flow import NONE, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.links import add_load, cpu_s, link_s, load_ends
from streamplace.sim.messages import charge, no_messages
from streamplace.sim.search.instance import Instance, clash, moving_cost, own_load, unit_load
from streamplace.sim.search.rng import Word, below, uniform
from streamplace.sim.search.state import Move, SearchState

# When the budget is spent, a unit can leave only while another one returns. The share is a guess.
RETURNING = 0.5  # share of a moved unit's changes that move it back, if migration is limited
# Loads and streams of all units of a large graph would miss the cache at each change.
WINDOW = 8192  # changes are drawn from this many units at a time


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
            tuples, bits = instance.tuples[i], instance.bits[i]
            load_ends(instance, a, b, 1.0, tuples, bits, add_load, now.load)
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
        # Moves that give back a part of the cost are allowed above the budget, too.
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
    # Two thirds of the time of a list of all resources, which every other network needs.
    if instance.nic and instance.up.shape[0] == 0:
        _shift_links(instance, now, u, a, b)
        return
    for i in range(instance.first_end[u], instance.first_end[u + 1]):
        c = now.on[instance.other[i]]
        if c != a:
            _cross(instance, now, i, a, c, -1.0)
        if c != b:
            _cross(instance, now, i, b, c, 1.0)


@bare
def _shift_links(instance: Instance, now: SearchState, u: int, a: int, b: int) -> None:
    """Add the effect of unit u's streams if unit u moves from device a to b, with ``nic``.

    Only the links of a and b change, and by sums over all streams, so that the time per stream is
    that of two additions.
    """
    out_t, out_a_t, out_b_t, in_t, in_a_t, in_b_t = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    out_s, out_a_s, out_b_s, in_s, in_a_s, in_b_s = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(instance.first_end[u], instance.first_end[u + 1]):
        c, t, s = now.on[instance.other[i]], instance.tuples[i], instance.bits[i]
        if instance.outward[i]:
            out_t += t
            out_s += s
            if c == a:
                out_a_t += t
                out_a_s += s
            elif c == b:
                out_b_t += t
                out_b_s += s
        else:
            in_t += t
            in_s += s
            if c == a:
                in_a_t += t
                in_a_s += s
            elif c == b:
                in_b_t += t
                in_b_s += s
    devices = instance.capacity.shape[0]
    _load_link(instance, now, a, a, in_a_t - (out_t - out_a_t), in_a_s - (out_s - out_a_s))
    _load_link(instance, now, b, b, out_t - out_b_t - in_b_t, out_s - out_b_s - in_b_s)
    receives = devices + a, devices + b
    _load_link(instance, now, receives[0], a, out_a_t - (in_t - in_a_t), out_a_s - (in_s - in_a_s))
    _load_link(instance, now, receives[1], b, in_t - in_b_t - out_b_t, in_s - in_b_s - out_b_s)


@bare
def _load_link(
    instance: Instance, now: SearchState, link: int, d: int, tuples: float, bits: float
) -> None:
    """Add a change of what passes a link of device d to the loads of the link and the device."""
    _change(now, instance.capacity.shape[0] + link, link_s(instance, link, tuples, bits))
    if instance.taxing:
        _change(now, d, cpu_s(instance, link, d, tuples, bits) / instance.cores[d])


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
    x, y = (own, other) if instance.outward[i] else (other, own)
    tuples, bits = instance.tuples[i], instance.bits[i]
    load_ends(instance, x, y, sign, tuples, bits, _change, now)


@bare
def _change(now: SearchState, r: int, amount: float) -> None:
    if now.listed_in[r] != now.tally[1]:
        now.listed_in[r] = now.tally[1]
        now.listed[now.tally[0]] = r
        now.tally[0] += 1
        now.change[r] = 0.0
    now.change[r] += amount


@bare
def may_move(instance: Instance, now: SearchState, u: int, b: int, leaving: int) -> bool:
    """Return whether unit u may go to device b; `leaving` is a unit about to move, or -1."""
    return _obeys(instance, now, u, b, leaving) and _fits(instance, now, u, b, leaving, -1)


@bare
def may_follow(instance: Instance, now: SearchState, u: int, b: int, other: int, c: int) -> bool:
    """Return whether another unit may go to device c once unit u is on device b."""
    if not _fits(instance, now, other, c, u, u if b == c else -1):
        return False
    a = now.on[u]
    now.on[u] = b
    obeys = _obeys(instance, now, other, c, -1)
    now.on[u] = a
    return obeys


@bare
def _obeys(instance: Instance, now: SearchState, u: int, b: int, leaving: int) -> bool:
    """Return whether the mask and the rivals of unit u, except `leaving`, let it go to device b."""
    if not instance.allowed[instance.row_of[u], b]:
        return False
    for i in range(instance.first_rival[u], instance.first_rival[u + 1]):
        rival = instance.rival[i]
        if rival != leaving and clash(instance, i, b, now.on[rival]):
            return False
    return True


@bare
def _fits(
    instance: Instance, now: SearchState, u: int, b: int, leaving: int, arriving: int
) -> bool:
    """Return whether device b has room for unit u after two units have moved, -1 for none."""
    leaves_b = leaving >= 0 and now.on[leaving] == b
    for k in range(instance.room.shape[1]):
        used = now.used[b, k]
        if leaves_b:
            used -= instance.needs[leaving, k]
        if arriving >= 0:
            used += instance.needs[arriving, k]
        if used + instance.needs[u, k] > instance.room[b, k]:
            return False
    return True
