"""What moving units changes: loads of devices and links, kept up to date move after move.

Devices and links are one row of *resources*: device d is resource d, link l is resource D + l.
"""

from typing import NamedTuple

import numpy as np

from sim.crossings import ends_of
from sim.flow import Floats, Ints
from sim.jit import bare, kernel
from sim.search.chance import Word, below, uniform
from sim.search.instance import Bools, Instance

HOME = 0.5  # of the changes of a unit away from home, where moves are limited, send it back
WINDOW = 8192  # units that changes are drawn from at a time: what a cache holds


class World(NamedTuple):
    """A placement of units, what it loads, the change being tried, and the best seen."""

    on: Ints  # (U,) device of each unit
    load: Floats  # (D + L,) utilisation / reference
    used: Floats  # (D,) bytes
    best: Ints  # (U,)
    moved: Ints  # (U,) units moved since the best, the first `tally[2]` count
    marked: Bools  # (U,) whether it is among them
    change: Floats  # (D + L,) what is being tried; only what is listed counts
    listed: Ints  # (D + L,) resources that the trial changes, the first `tally[0]` count
    seen: Ints  # (D + L,) the number of the trial that last listed it
    paid: Floats  # (1,) tolls of the units away from home
    tally: Ints  # (3,) listed; the number of the trial; moved


class Trial(NamedTuple):
    """Unit u goes from device a to b; unit `other`, unless it is -1, then goes to device c."""

    u: int
    a: int
    b: int
    other: int
    c: int


def world(job: Instance, on: Ints) -> World:
    """Return the world of a placement of units, (U,), which is its best so far."""
    units, devices = len(job.work), len(job.capacity)
    resources = devices + len(job.gap_s)
    made = World(
        on=on.astype(np.int32),
        load=np.zeros(resources),
        used=np.bincount(on, job.memory, devices).astype(np.float64),
        best=on.astype(np.int32),
        moved=np.zeros(units, np.int32),
        marked=np.zeros(units, np.bool_),
        change=np.zeros(resources),
        listed=np.zeros(resources, np.int32),
        seen=np.zeros(resources, np.int32),
        paid=np.array([job.toll[(job.home >= 0) & (on != job.home)].sum()]),
        tally=np.zeros(3, np.int32),
    )
    weigh(job, made)
    return made


@kernel
def weigh(job: Instance, now: World) -> None:
    """Work the loads out from nothing, which also ends the drift of adding up."""
    now.load[:] = 0.0
    devices = job.capacity.shape[0]
    for u in range(job.work.shape[0]):
        a = now.on[u]
        now.load[a] += job.work[u] / job.capacity[a]
        for i in range(job.first_end[u], job.first_end[u + 1]):
            b = now.on[job.other[i]]
            if a == b or not job.outward[i]:
                continue
            sends, receives = ends_of(job.nic, devices, a, b)
            now.load[devices + sends] += _seconds(job, sends, i)
            if job.nic:
                now.load[devices + receives] += _seconds(job, receives, i)
            if job.taxing:
                now.load[a] += job.tuples[i] * job.overhead_s[sends] / job.cores[a]
                now.load[b] += job.tuples[i] * job.overhead_s[receives] / job.cores[b]


@bare
def drawn(job: Instance, now: World, state: Word, step: int, swaps: float, joins: float) -> Trial:
    """Draw a change: a swap, a move to where a neighbour is, or a move anywhere.

    Where moves are limited it may also be that a unit goes home while another leaves. One that
    changes nothing, or that a constraint forbids, has b = -1.
    """
    u = _someone(job, state, step)
    a, other, c = now.on[u], -1, -1
    away = job.purse < np.inf and job.home[u] >= 0 and a != job.home[u]
    kind = uniform(state)
    if away and uniform(state) < HOME:
        b, other, c = job.home[u], _someone(job, state, step), below(state, job.capacity.shape[0])
    elif kind < swaps:
        other = _someone(job, state, step)
        b, c = now.on[other], a
    elif kind < swaps + joins and job.first_end[u + 1] > job.first_end[u]:
        i = job.first_end[u] + below(state, job.first_end[u + 1] - job.first_end[u])
        b = now.on[job.other[i]]
    else:
        b = below(state, job.capacity.shape[0])
    fits = a != b and _may_move(job, now, u, b, other)
    if fits and other >= 0:
        fits = other != u and now.on[other] != c and _may_follow(job, now, u, b, other, c)
    if fits and job.purse < np.inf:
        toll = _toll(job, now, u, b)
        if other >= 0:
            toll += _toll(job, now, other, c)
        fits = toll <= 0.0 or now.paid[0] + toll <= job.purse
    return Trial(u, a, b if fits else -1, other, c)


@bare
def _someone(job: Instance, state: Word, step: int) -> int:
    """Draw a unit; of many units one from a window that passes over them, one a step."""
    units = job.work.shape[0]
    if units <= WINDOW:
        return below(state, units)
    u: int = step % units + below(state, WINDOW)
    return u if u < units else u - units


@bare
def try_out(job: Instance, now: World, trial: Trial) -> None:
    """List what a change does to loads."""
    now.tally[0] = 0
    now.tally[1] += 1
    _shift(job, now, trial.u, trial.b)
    if trial.other >= 0:
        now.on[trial.u] = trial.b
        _shift(job, now, trial.other, trial.c)
        now.on[trial.u] = trial.a


@bare
def settle(job: Instance, now: World, trial: Trial) -> None:
    """Make the change that was tried out true."""
    for k in range(now.tally[0]):
        r = now.listed[k]
        now.load[r] += now.change[r]
    _put(job, now, trial.u, trial.b)
    if trial.other >= 0:
        _put(job, now, trial.other, trial.c)


@bare
def remember(now: World) -> None:
    """Take the placement as the best seen."""
    for k in range(now.tally[2]):
        u = now.moved[k]
        now.best[u] = now.on[u]
        now.marked[u] = False
    now.tally[2] = 0


@bare
def _put(job: Instance, now: World, u: int, b: int) -> None:
    now.paid[0] += _toll(job, now, u, b)
    now.used[now.on[u]] -= job.memory[u]
    now.used[b] += job.memory[u]
    now.on[u] = b
    if not now.marked[u]:
        now.marked[u] = True
        now.moved[now.tally[2]] = u
        now.tally[2] += 1


@bare
def _toll(job: Instance, now: World, u: int, b: int) -> float:
    """Return what moving unit u to device b costs; its toll is paid back on the way home."""
    home, toll = job.home[u], 0.0
    if home >= 0 and now.on[u] == home:
        toll = job.toll[u]
    if home >= 0 and b == home:
        toll -= job.toll[u]
    return toll


@bare
def _may_move(job: Instance, now: World, u: int, b: int, instead: int) -> bool:
    """Return whether unit u may go to device b; `instead` is a unit about to move, or -1."""
    if not job.allowed[job.row_of[u], b]:
        return False
    freed = job.memory[instead] if instead >= 0 and now.on[instead] == b else 0.0
    if now.used[b] - freed + job.memory[u] > job.room[b]:
        return False
    for i in range(job.first_rival[u], job.first_rival[u + 1]):
        if now.on[job.rival[i]] == b and job.rival[i] != instead:
            return False
    return True


@bare
def _may_follow(job: Instance, now: World, u: int, b: int, other: int, c: int) -> bool:
    """Return whether, once unit u is on device b, another may go to device c."""
    a = now.on[u]
    before, there = now.used[a], now.used[b]
    now.on[u], now.used[a], now.used[b] = b, before - job.memory[u], there + job.memory[u]
    fits = _may_move(job, now, other, c, -1)
    now.on[u], now.used[a], now.used[b] = a, before, there
    return fits


@bare
def _shift(job: Instance, now: World, u: int, b: int) -> None:
    """Add to the trial what moving unit u to device b changes."""
    a = now.on[u]
    _change(now, a, -job.work[u] / job.capacity[a])
    _change(now, b, job.work[u] / job.capacity[b])
    for i in range(job.first_end[u], job.first_end[u + 1]):
        c = now.on[job.other[i]]
        if c != a:
            _cross(job, now, i, a, c, -1.0)
        if c != b:
            _cross(job, now, i, b, c, 1.0)


@bare
def _cross(job: Instance, now: World, i: int, here: int, there: int, sign: float) -> None:
    """Add or take away what end i's stream costs, its unit on `here`, the other on `there`."""
    devices = job.capacity.shape[0]
    x, y = (here, there) if job.outward[i] else (there, here)
    sends, receives = ends_of(job.nic, devices, x, y)
    _change(now, devices + sends, sign * _seconds(job, sends, i))
    if job.nic:
        _change(now, devices + receives, sign * _seconds(job, receives, i))
    if job.taxing:
        _change(now, x, sign * job.tuples[i] * job.overhead_s[sends] / job.cores[x])
        _change(now, y, sign * job.tuples[i] * job.overhead_s[receives] / job.cores[y])


@bare
def _seconds(job: Instance, link: int, i: int) -> float:
    seconds: float = job.tuples[i] * job.gap_s[link] + job.bits[i] * job.seconds_per_bit[link]
    return seconds


@bare
def _change(now: World, r: int, amount: float) -> None:
    if now.seen[r] != now.tally[1]:
        now.seen[r] = now.tally[1]
        now.listed[now.tally[0]] = r
        now.tally[0] += 1
        now.change[r] = 0.0
    now.change[r] += amount
