"""Simulated annealing of the probability that something is full, over draws of the costs.

A placement carries the source rate in a draw if no device, link or operator is full in it. The
share of draws in which a given one is overfull, summed over all of them, bounds the share in which
any is. Annealing minimises that sum with a ramp in place of the step from 0 to 1 (`_excess`), so
that draws that are nearly full count too. A change alters few devices and links, whose excess alone
is computed again.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.closed_form.sampled import Draws
from streamplace.sim.flow import NONE, Floats, Flow, Ints
from streamplace.sim.jit import bare, inner, kernel
from streamplace.sim.links import cpu_s, ends_of, link_s, slot_of, uplinks_of
from streamplace.sim.messages import Copies, charge
from streamplace.sim.search.anneal import Schedule
from streamplace.sim.search.instance import Instance, ends_of_units, streams_of_units
from streamplace.sim.search.moves import drawn, remember, settle
from streamplace.sim.search.rng import Word, uniform
from streamplace.sim.search.state import SearchState
from streamplace.sim.work import first_of_classes, of_usable_cores

# Slope of the excess beyond full, relative to the ramp: less overload is better, if not much.
BEYOND = 0.1


class SampledLoads(NamedTuple):
    """Loads of units and streams in S draws, by row of draws."""

    work: Floats  # (U, S) instructions/s of each unit
    thread_work: Floats  # (U, C, S) the largest operator of each unit by its number of cores
    stream: Ints  # (N,) the stream of each end
    tuples: Floats  # (E, S) tuples/s
    bits: Floats  # (E, S) bit/s
    class_work: Floats  # (U, C, S) as `work`, by class of devices; C = 0 if no operator is timed
    class_own: Floats  # (U, C, S) as `own_load`, by class of devices; C = 0 if no operator is timed
    shared_tuples: Floats  # (S, N) tuples/s of the streams that share messages; see `Copies`
    shared_bits: Floats  # (S, N) bit/s of them


def sampled_loads(flow: Flow, unit_of: Ints, instance: Instance, draws: Draws) -> SampledLoads:
    """Return the loads of an instance's units and streams in S draws of the costs."""
    units, count = len(instance.work), len(draws.work)
    work = np.zeros((units, count))
    np.add.at(work, unit_of, draws.work.T)
    thread_of = np.searchsorted(instance.threads, flow.operator_cores)
    thread_work = np.zeros((units, len(instance.threads), count))
    if instance.limits_operators:
        np.maximum.at(thread_work, (unit_of, thread_of), draws.work.T)
    _, _, stream, _ = ends_of_units(flow, unit_of)
    tuples = np.ascontiguousarray(draws.tuples.T)
    bits = tuples * draws.bits.T
    by_class = _by_class(flow, unit_of, instance, draws)
    shared = streams_of_units(flow, unit_of)
    columns = (np.ascontiguousarray(column[shared].T) for column in (tuples, bits))
    return SampledLoads(work, thread_work, stream, tuples, bits, *by_class, *columns)


def _by_class(flow: Flow, unit_of: Ints, instance: Instance, draws: Draws) -> tuple[Floats, Floats]:
    """Return `class_work` and `class_own` of `SampledLoads`."""
    units, classes = instance.class_work.shape
    work, own = np.zeros((2, units, classes, len(draws.work)))
    timed = np.flatnonzero(flow.timed >= 0)
    for c, d in enumerate(first_of_classes(flow)[:classes]):
        of_operators = draws.work.copy()
        times = draws.timed_instructions[:, flow.timed[timed], c]
        with np.errstate(invalid="ignore"):  # 0 tuples where the operator cannot run
            tabled = draws.operator_tuples[:, timed] * times
        of_operators[:, timed] = np.where(np.isfinite(tabled), tabled, of_operators[:, timed])
        np.add.at(work[:, c], unit_of, of_operators.T)
        cores, usable = flow.cores[d], flow.operator_cores
        speed = np.where(usable < cores, flow.capacity[d] * usable / cores, np.inf)
        np.maximum.at(own[:, c], unit_of, of_operators.T / speed[:, None])
    return work, own


class SampledState(NamedTuple):
    """Loads of R resources in S draws, numbered as in `streamplace.sim.search.moves`."""

    load: Floats  # (R, S) utilisation
    excess: Floats  # (R,) mean excess of each resource
    change: Floats  # (R, S) load change of the trial; valid for listed resources only
    after: Floats  # (R,) mean excess after the trial; valid for listed resources only
    listed: Ints  # (R,) resources that the trial changes; the first `tally[0]` are valid
    listed_in: NDArray[np.int64]  # (R,) number of the trial that last listed the resource
    tally: NDArray[np.int64]  # (2,) number of listed resources; number of the trial


def sampled_state(instance: Instance, loads: SampledLoads) -> SampledState:
    """Return a state for `anneal_samples` to fill."""
    units, devices = len(instance.work), len(instance.capacity)
    resources = devices + len(instance.gap_s) + (units if instance.limits_operators else 0)
    count = loads.work.shape[1]
    return SampledState(
        load=np.zeros((resources, count)),
        excess=np.zeros(resources),
        change=np.zeros((resources, count)),
        after=np.zeros(resources),
        listed=np.zeros(resources, np.int32),
        listed_in=np.zeros(resources, np.int64),
        tally=np.zeros(2, np.int64),
    )


@kernel
def anneal_samples(
    instance: Instance,
    loads: SampledLoads,
    now: SearchState,
    sampled: SampledState,
    state: Word,
    schedule: Schedule,
    least: float,
    full: float,
) -> float:
    """Anneal a search state in place; its `best` is the placement with the least excess.

    Parameters
    ----------
    least, full
        Utilisations from which a resource has excess, and at which it counts as full.

    Returns
    -------
    float
        The excess of the best placement, summed over resources.
    """
    _weigh(instance, loads, now, sampled)
    for r in range(sampled.load.shape[0]):
        sampled.excess[r] = _excess(sampled.load[r], least, full)
    total: float = sampled.excess.sum()
    best = total
    remember(now)
    temperature = schedule.hot
    cooling = (schedule.cold / schedule.hot) ** (1.0 / max(1.0, np.float64(schedule.steps)))
    for step in range(schedule.steps):
        if best <= 0.0:
            break
        temperature *= cooling
        trial = drawn(instance, now, state, step, schedule.swaps, schedule.joins)
        if trial.b < 0:
            continue
        sampled.tally[0] = 0
        sampled.tally[1] += 1
        _shift(instance, loads, now, sampled, trial.u, trial.b)
        if trial.other >= 0:
            now.on[trial.u] = trial.b
            _shift(instance, loads, now, sampled, trial.other, trial.c)
            now.on[trial.u] = trial.a
        after = total
        for k in range(sampled.tally[0]):
            r = sampled.listed[k]
            for s in range(sampled.change.shape[1]):
                sampled.change[r, s] += sampled.load[r, s]
            sampled.after[r] = _excess(sampled.change[r], least, full)
            after += sampled.after[r] - sampled.excess[r]
        # The constant lets changes without effect pass where the total is 0 but for rounding.
        if after > total * np.exp(-temperature * np.log(1.0 - uniform(state))) + 1e-15:
            continue
        for k in range(sampled.tally[0]):
            r = sampled.listed[k]
            sampled.load[r] = sampled.change[r]
            sampled.excess[r] = sampled.after[r]
        settle(instance, now, trial)
        total = max(after, 0.0)
        # Less is rounding of sums.
        if total < best * (1.0 - 1e-9):
            best = total
            remember(now)
    return best


@bare
def _excess(load: Floats, least: float, full: float) -> float:
    """Return the mean over draws of a ramp: 0 up to `least`, 1 at `full`, then flatter."""
    total = 0.0
    slope: float = 1.0 / (full - least)
    for s in range(load.shape[0]):
        over = max(load[s] - least, 0.0) * slope
        total += min(over, 1.0 + BEYOND * (over - 1.0))
    mean: float = total / load.shape[0]
    return mean


@inner
def _weigh(
    instance: Instance, loads: SampledLoads, now: SearchState, sampled: SampledState
) -> None:
    """Compute the loads of a placement from scratch."""
    sampled.tally[0] = 0
    sampled.tally[1] += 1
    for r in range(sampled.load.shape[0]):
        _list(sampled, r)
    for u in range(instance.work.shape[0]):
        a = now.on[u]
        _add_unit(instance, loads, sampled, u, a, 1.0)
        for i in range(instance.first_end[u], instance.first_end[u + 1]):
            b = now.on[instance.other[i]]
            if a != b and instance.outward[i] and instance.multicast == NONE:
                _cross(instance, loads, sampled, i, a, b, 1.0)
    for p in range(instance.home.shape[0]):
        _add_messages(instance, loads, now, sampled, p, 1.0)
    sampled.load[:] = sampled.change


@bare
def _shift(
    instance: Instance,
    loads: SampledLoads,
    now: SearchState,
    sampled: SampledState,
    u: int,
    b: int,
) -> None:
    """Add the effect of moving unit u to device b to the trial."""
    a = now.on[u]
    _add_unit(instance, loads, sampled, u, a, -1.0)
    _add_unit(instance, loads, sampled, u, b, 1.0)
    if instance.multicast != NONE:
        for i in range(instance.first_use[u], instance.first_use[u + 1]):
            _add_messages(instance, loads, now, sampled, instance.use[i], -1.0)
            now.on[u] = b
            _add_messages(instance, loads, now, sampled, instance.use[i], 1.0)
            now.on[u] = a
        return
    for i in range(instance.first_end[u], instance.first_end[u + 1]):
        c = now.on[instance.other[i]]
        if c != a:
            _cross(instance, loads, sampled, i, a, c, -1.0)
        if c != b:
            _cross(instance, loads, sampled, i, b, c, 1.0)


@bare
def _cross(
    instance: Instance,
    loads: SampledLoads,
    sampled: SampledState,
    i: int,
    own: int,
    other: int,
    sign: float,
) -> None:
    """Add or subtract the load of end i's stream between its own device and the other one."""
    devices, e = instance.capacity.shape[0], loads.stream[i]
    x, y = (own, other) if instance.outward[i] else (other, own)
    sends, receives = ends_of(instance.nic, devices, x, y)
    resource = devices + slot_of(instance, devices, sends)
    _add_stream(instance, loads, sampled, e, sends, resource, sign)
    if instance.nic:
        _add_stream(instance, loads, sampled, e, receives, devices + receives, sign)
    if instance.up.shape[0] > 0:
        for shared in uplinks_of(instance, x, y):
            if shared >= 0:
                _add_stream(instance, loads, sampled, e, shared, devices + shared, sign)
    if instance.taxing:
        _add_cpu(instance, loads, sampled, e, sends, x, sign)
        _add_cpu(instance, loads, sampled, e, receives, y, sign)


@bare
def _add_cpu(
    instance: Instance,
    loads: SampledLoads,
    sampled: SampledState,
    e: int,
    link: int,
    d: int,
    sign: float,
) -> None:
    """Add the load of device d by stream e, which passes a link of d, times a sign."""
    cores = instance.cores[d]
    _add(sampled, d, loads.tuples[e], sign * cpu_s(instance, link, d, 1.0, 0.0) / cores)
    _add(sampled, d, loads.bits[e], sign * cpu_s(instance, link, d, 0.0, 1.0) / cores)


@bare
def _add_messages(
    instance: Instance,
    loads: SampledLoads,
    now: SearchState,
    sampled: SampledState,
    p: int,
    sign: float,
) -> None:
    """Add the loads of producer p's messages in all draws, times a sign."""
    a, shared = now.on[instance.home[p]], instance.copies
    for s in range(sampled.change.shape[1]):
        copies = Copies(
            shared.first, shared.stream, shared.to, loads.shared_tuples[s], loads.shared_bits[s]
        )
        for k in range(charge(instance, copies, p, a, now.on, now.room)):
            r = now.room.resource[k]
            _list(sampled, r)
            sampled.change[r, s] += sign * now.room.amount[k]


@bare
def _add_stream(
    instance: Instance,
    loads: SampledLoads,
    sampled: SampledState,
    e: int,
    link: int,
    resource: int,
    sign: float,
) -> None:
    """Add the load of stream e on a link, times a sign, to a resource."""
    per_tuple = link_s(instance, link, 1.0, 0.0)
    if per_tuple > 0.0:
        _add(sampled, resource, loads.tuples[e], sign * per_tuple)
    _add(sampled, resource, loads.bits[e], sign * link_s(instance, link, 0.0, 1.0))


@bare
def _add_unit(
    instance: Instance, loads: SampledLoads, sampled: SampledState, u: int, d: int, sign: float
) -> None:
    """Add the loads of unit u's CPU work on device d, times a sign."""
    if loads.class_work.shape[1] > 0:
        work = loads.class_work[u, instance.class_of[d]]
        _add(sampled, d, work, sign / instance.capacity[d])
    else:
        _add(sampled, d, loads.work[u], sign / instance.capacity[d])
    if instance.limits_operators:
        _add_own(instance, loads, sampled, u, d, sign)


@bare
def _add_own(
    instance: Instance, loads: SampledLoads, sampled: SampledState, u: int, d: int, sign: float
) -> None:
    """Add the load of unit u's operators on the cores of device d that they can use."""
    r = instance.capacity.shape[0] + instance.gap_s.shape[0] + u
    if loads.class_own.shape[1] > 0:
        _add(sampled, r, loads.class_own[u, instance.class_of[d]], sign)
        return
    _list(sampled, r)
    cores, capacity = instance.cores[d], instance.capacity[d]
    for s in range(loads.work.shape[1]):
        largest = 0.0
        for c in range(instance.threads.shape[0]):
            work = loads.thread_work[u, c, s]
            load = of_usable_cores(work, instance.threads[c], cores, capacity)
            largest = max(largest, load)
        sampled.change[r, s] += sign * largest


@bare
def _add(sampled: SampledState, r: int, row: Floats, factor: float) -> None:
    """Add a row of draws times a factor to the load of a resource."""
    _list(sampled, r)
    for s in range(row.shape[0]):
        sampled.change[r, s] += factor * row[s]


@bare
def _list(sampled: SampledState, r: int) -> None:
    """List a resource among those that the trial changes."""
    if sampled.listed_in[r] != sampled.tally[1]:
        sampled.listed_in[r] = sampled.tally[1]
        sampled.listed[sampled.tally[0]] = r
        sampled.tally[0] += 1
        for s in range(sampled.change.shape[1]):
            sampled.change[r, s] = 0.0
